"""The fork server: it loads what its parent would load, and nothing that forking could break."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from physim.dataset import processes

ROOT = Path(processes.__file__).resolve().parents[2]

SCRIPT = """
import sys
import physim
print(physim.batch(6, seed=1, workers=2).counts == physim.batch(6, seed=1, workers=1).counts)
"""

SPAWNED = """
from physim.dataset import processes
processes.FORKS = False
"""

FORKED = """
import os
import physim
counts = physim.batch(6, seed=1, workers=2).counts
child = os.fork()
if child == 0:
    os._exit(0 if physim.batch(6, seed=1, workers=2).counts == counts else 1)
print(os.waitpid(child, 0)[1])
"""

PRELOADED = """
import importlib, os, sys, threading
from pathlib import Path
from physim.dataset.processes import PRELOAD
for name in PRELOAD:
    importlib.import_module(name)
print(sorted({"numba", "scipy", "pybullet", "trimesh", "pyarrow"} & {*sys.modules}))
print(threading.active_count())
names = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]
print(sum("jemalloc" not in name for name in names))  # Arrow's allocator may have one
import scipy.spatial
"""


INTERRUPTED = """
import os, signal, sys, threading, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from fake_rolls import FakePlan
from physim.dataset.run import run_batch

Path("slow_to_load.py").write_text("import time; time.sleep(1.0)")
sys.path.insert(0, os.getcwd())
def stop(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGTERM, stop)
for wait_s in {moments}:
    threading.Timer(wait_s, os.kill, (os.getpid(), signal.{signal})).start()
FakePlan.modules = ("slow_to_load", "physim.dataset.workers")
try:
    run_batch(FakePlan(n=10**6, wait_s=0.001), workers=2)
except KeyboardInterrupt:
    print("interrupted")
"""

SLOW_PLAN = """
import os, time
from pathlib import Path
from fake_rolls import FakePlan
class SlowPlan(FakePlan):
    def open(self):
        Path(f"rolling-{os.getpid()}").touch()
        return super().open()
"""

TWICE = """
import os, signal, sys, threading, time
from pathlib import Path
sys.path[:0] = [sys.argv[1], os.getcwd()]
from physim.dataset import executors
from physim.dataset.run import run_batch
from slow_plan import SlowPlan
closing = threading.Event()
shutdown = executors._Processes.shutdown
def seen(*arguments, **options):
    closing.set()
    shutdown(*arguments, **options)
executors._Processes.shutdown = seen
def interrupt():
    while len([*Path().glob("rolling-*")]) < 2:
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)
    closing.wait()
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
    run_batch(SlowPlan(n=10**6, wait_s=600.0), workers=2)
except KeyboardInterrupt:
    print("interrupted", closing.is_set())
"""

TERMINATED = """
import sys, time
from types import ModuleType
from physim.dataset.workers import start_worker
start_worker()
sys.modules["physim.physics.fast.pair"] = ModuleType("half loaded")
print("ready", file=sys.stderr, flush=True)
while True:
    try:
        time.sleep(600.0)
    except Exception:
        pass  # as a task's error is kept, and the next task begun
"""

FOLDERS = """
import physim
physim.batch(60, seed=1, toss="hand", workers=2)
"""

THREADS = """
import os, sys, threading
from physim.dataset import processes
main, before = sys.modules["__main__"], dict(os.environ)
def swap():
    for _ in range(2000):
        with processes.another_main(), processes._same_path():
            pass
threads = [threading.Thread(target=swap) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sys.modules["__main__"] is main, dict(os.environ) == before)
"""


def run(code: str, folder: Path, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, str(script_in(folder.parent, code)), *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **environment},
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def script_in(folder: Path, code: str) -> Path:
    script = folder / "script.py"
    script.write_text(code)
    return script


def test_workers_take_no_module_from_the_current_folder(tmp_path: Path) -> None:
    here = tmp_path / "here"
    (here / "physim").mkdir(parents=True)
    for name in ("physim/__init__.py", "numba.py", "numpy.py", "socket.py"):
        (here / name).write_text("from pathlib import Path\nPath('taken').write_text(__name__)\n")
    assert run(SCRIPT, here) == "True\n"
    assert not (here / "taken").exists(), (here / "taken").read_text()


@pytest.mark.skipif(not processes.FORKS, reason="no fork server here")
def test_the_server_loads_the_engine_but_no_threads_and_no_scipy(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    loaded, threads, others = run(PRELOADED, tmp_path / "here").splitlines()
    assert "pybullet" in loaded and "scipy" not in loaded and "trimesh" not in loaded
    assert threads == others == "1"  # `run` asks OpenBLAS for none


def test_a_forked_child_of_the_caller_has_workers_too(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    assert run(FORKED, tmp_path / "here") == "0\n"


def test_without_a_server_workers_are_spawned(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    assert run(SPAWNED + SCRIPT, tmp_path / "here") == "True\n"


def test_the_environment_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    with processes._same_path():
        assert os.environ["PYTHONSAFEPATH"] == "1"
        assert os.environ["PYTHONPATH"] == os.pathsep.join(sys.path)
    assert "PYTHONSAFEPATH" not in os.environ
    assert os.environ["PYTHONPATH"] == "/somewhere"


@pytest.mark.parametrize("signal", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("moments", [(0.3,), (0.6,), (2.5,)])
def test_an_interrupt_while_workers_start_is_quiet(
    tmp_path: Path, signal: str, moments: tuple[float, ...]
) -> None:
    """A worker that comes after its executor has gone tells of missing locks."""
    (tmp_path / "here").mkdir()
    tests = str(Path(__file__).parent)
    code = INTERRUPTED.format(tests=tests, moments=moments, signal=signal)
    assert run(code, tmp_path / "here") == "interrupted\n"


def test_a_second_interrupt_ends_workers_that_are_slow_to_end(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "slow_plan.py").write_text(SLOW_PLAN)
    assert run(TWICE, tmp_path / "here", str(Path(__file__).parent)) == "interrupted True\n"


def test_a_worker_that_is_told_to_end_while_it_loads_the_engine_does(tmp_path: Path) -> None:
    """It loaded what was missing in order to end, and was told a second time meanwhile."""
    worker = subprocess.Popen(
        [sys.executable, str(script_in(tmp_path, TERMINATED))],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert worker.stderr is not None and worker.stderr.readline() == "ready\n"
    worker.terminate()
    assert worker.wait(30) == 1
    assert worker.stderr.read() == ""


def test_workers_leave_no_files(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    run(FOLDERS, tmp_path / "here", TMPDIR=str(tmp_path / "here"))
    assert not list((tmp_path / "here").iterdir())


def test_two_threads_leave_main_module_and_environment_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    assert run(THREADS, tmp_path / "here") == "True True\n"

"""The fork server: it loads what its parent would load, and nothing that forking could break."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from physim.batch import processes

ROOT = Path(processes.__file__).resolve().parents[2]

SCRIPT = """
import sys
import physim
assert physim.batch(6, seed=1, workers=2).counts == physim.batch(6, seed=1, workers=1).counts
"""

SPAWNED = """
from physim.batch import processes
processes.FORKS = False
"""

FORKED = """
import os
import physim
counts = physim.batch(6, seed=1, workers=2).counts
child = os.fork()
if child == 0:
    os._exit(0 if physim.batch(6, seed=1, workers=2).counts == counts else 1)
assert os.waitpid(child, 0)[1] == 0
"""

PRELOADED = """
import importlib, os, sys, threading
from pathlib import Path
from physim.batch.processes import PRELOAD
for name in PRELOAD:
    importlib.import_module(name)
print(sorted({"numba", "scipy", "pybullet", "trimesh", "pyarrow"} & {*sys.modules}))
print(threading.active_count())
names = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]
print(sum("jemalloc" not in name for name in names))  # Arrow's allocator may have one
import scipy.spatial
"""


def run(code: str, folder: Path) -> str:
    return subprocess.run(
        [sys.executable, str(script_in(folder.parent, code))],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def script_in(folder: Path, code: str) -> Path:
    script = folder / "script.py"
    script.write_text(code)
    return script


def test_workers_take_no_module_from_the_current_folder(tmp_path: Path) -> None:
    here = tmp_path / "here"
    (here / "physim").mkdir(parents=True)
    for name in ("physim/__init__.py", "numba.py", "numpy.py", "socket.py"):
        (here / name).write_text("from pathlib import Path\nPath('taken').write_text(__name__)\n")
    run(SCRIPT, here)
    assert not (here / "taken").exists(), (here / "taken").read_text()


@pytest.mark.skipif(not processes.FORKS, reason="no fork server here")
def test_the_server_loads_the_engine_but_no_threads_and_no_scipy(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    loaded, threads, others = run(PRELOADED, tmp_path / "here").splitlines()
    assert "pybullet" in loaded and "scipy" not in loaded and "trimesh" not in loaded
    assert threads == others == "1"  # `run` asks OpenBLAS for none


def test_a_forked_child_of_the_caller_has_workers_too(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    run(FORKED, tmp_path / "here")


def test_without_a_server_workers_are_spawned(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    run(SPAWNED + SCRIPT, tmp_path / "here")


def test_the_environment_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    with processes._same_path():
        assert os.environ["PYTHONSAFEPATH"] == "1"
        assert os.environ["PYTHONPATH"] == os.pathsep.join(sys.path)
    assert "PYTHONSAFEPATH" not in os.environ
    assert os.environ["PYTHONPATH"] == "/somewhere"

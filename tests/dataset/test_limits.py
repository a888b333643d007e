"""Workers under a system's limits: fewer, none, or one message; never a hang."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, NoReturn

import pytest
from fake_rolls import FakePlan

from physim.dataset import run, workers
from physim.dataset.run import run_batch
from physim.dataset.workers import LocalWorkers
from physim.errors import WorkerError

IN_CHILDREN = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
sys.path.insert(0, {tests!r})
from fake_rolls import FakePlan
from physim.dataset.run import run_batch
from physim.errors import WorkerError
def rolls(workers):
    try:
        return run_batch(FakePlan(n=6), workers=workers).counts
    except WorkerError as error:
        return str(error)
if __name__ == "__main__":
    counts = run_batch(FakePlan(n=6), workers=1).counts
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(1) as pool:
        print("workers=1" in pool.apply(rolls, (2,)), pool.apply(rolls, (1,)) == counts)
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        print(pool.submit(rolls, 2).result() == counts)
"""


def script(code: str, folder: Path, *arguments: str, **variables: str) -> tuple[int, str, str]:
    """A program that runs in a process of its own: code, stdout and stderr."""
    path = folder / "program.py"
    path.write_text(code)
    done = subprocess.run(
        [sys.executable, str(path), *arguments],
        env={**os.environ, "PYTHONPATH": str(Path(workers.__file__).parents[2]), **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_batch_inside_a_worker_of_somebody_else(tmp_path: Path, method: str) -> None:
    """One that may have no children is told how to make the rolls itself."""
    code = IN_CHILDREN.format(tests=str(Path(__file__).parent))
    assert script(code, tmp_path, method) == (0, "True True\nTrue\n", "")


@pytest.fixture
def few_files() -> Iterator[None]:
    """As few open files as leave no room for 8 workers."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free + 40, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("few_files")
def test_too_few_open_files_for_so_many_workers_is_told_before_any_starts() -> None:
    with pytest.raises(WorkerError, match=r"8 worker processes.*open files.*`ulimit -n`.*fewer"):
        LocalWorkers(8)
    assert workers.possible(2) == 2


def test_too_few_threads_is_told_and_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    before, start, started = threading.active_count(), threading.Thread.start, []

    def refuse(thread: threading.Thread) -> None:
        started.append(thread)
        if len(started) > 1:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(WorkerError, match=r"`ulimit -u`.*`ulimit -v`.*fewer workers"):
        run_batch(FakePlan(n=6), workers=8)
    assert threading.active_count() == before


class NoSemaphores(BaseContext):
    def Lock(self) -> NoReturn:
        raise OSError(38, "Function not implemented")


def test_without_shared_memory_one_is_told_what_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "context", NoSemaphores)
    with pytest.raises(WorkerError, match=r"Function not implemented.*workers=1"):
        run_batch(FakePlan(n=6), workers=4)
    assert run_batch(FakePlan(n=6), workers=1).n == 6


def test_in_a_folder_that_is_gone_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(WorkerError, match=r"No such file.*workers=1"):
        run_batch(FakePlan(n=6), workers=4)
    assert run_batch(FakePlan(n=6), workers=1).n == 6


@pytest.mark.parametrize("started", [0, 1, 2])
def test_workers_that_cannot_be_started_are_told(
    monkeypatch: pytest.MonkeyPatch, started: int
) -> None:
    left = [started]

    def limited(start: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def popen(process: object) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise BlockingIOError(11, "Resource temporarily unavailable")
            return start(process)

        return popen

    kind = workers.context().Process  # type: ignore[attr-defined]
    monkeypatch.setattr(kind, "_Popen", staticmethod(limited(kind._Popen)))
    with pytest.raises(WorkerError, match=r"cannot be started \(Resource.*`ulimit -u`"):
        run_batch(FakePlan(n=6), workers=3)


def test_a_pool_that_has_lost_its_thread_is_no_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under `ulimit -u` it may fail to start the thread that feeds the workers."""

    manager = "concurrent.futures.process._ExecutorManagerThread.run"
    monkeypatch.setattr(manager, lambda thread: None)
    monkeypatch.setattr(run, "_LOOK_S", 0.1)
    with pytest.raises(WorkerError, match=r"`ulimit -u`.*fewer workers"):
        run_batch(FakePlan(n=6), workers=2)


def test_a_pool_that_breaks_while_a_task_is_handed_out_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    submit, left = ProcessPoolExecutor.submit, [1]

    def broken(pool: ProcessPoolExecutor, *task: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            raise OSError("handle is closed")
        return submit(pool, *task)

    monkeypatch.setattr(ProcessPoolExecutor, "submit", broken)
    for number in (1, 3):  # before the first task, and with it
        left[0] = number
        assert run_batch(FakePlan(n=6), workers=2).n == 6


LONG = """
import multiprocessing, os, sys, tempfile
sys.path.insert(0, {tests!r})
from fake_rolls import FakePlan
from physim.dataset.run import run_batch
counts = run_batch(FakePlan(n=6), workers=1).counts
print(run_batch(FakePlan(n=6), workers=2).counts == counts, len(tempfile.gettempdir()) > 90)
"""


def test_a_folder_of_temporary_files_whose_name_is_too_long_for_a_socket(tmp_path: Path) -> None:
    long = tmp_path / ("x" * 95)
    long.mkdir()
    code = LONG.format(tests=str(Path(__file__).parent))
    assert script(code, tmp_path, TMPDIR=str(long)) == (0, "True True\n", "")

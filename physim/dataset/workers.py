"""Workers of one machine: this process, or processes that start fast and end with it.

To load the libraries and the compiled loops takes a second of a core, in every process that does
it. So one does: Python's fork server, which does nothing but load and fork, starts first and loads
while its parent reads the models. Without it, processes are spawned and load for themselves.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from multiprocessing import (
    current_process,
    forkserver,
    get_context,
    parent_process,
    resource_tracker,
    util,
)
from multiprocessing.connection import wait
from multiprocessing.context import BaseContext
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from physim.dataset.plan import Job, Roller
from physim.errors import WorkerError
from physim.files import refusal, remove_scratch, told

# The server must find just the modules that this process finds. It looks into the current folder
# first, unless the environment says otherwise (Python 3.11); a caller's `-E` hides that from it.
FORKS = sys.platform == "linux" and sys.version_info >= (3, 11) and not sys.flags.ignore_environment
_PROCESS = os.getpid()
_FILES, _FILES_A_WORKER = 24, 3  # that a pool opens
_TASK_S = 0.5  # long against handing it out, short against a Ctrl-C
_LIMITS = (
    "raise the limits of processes (`ulimit -u`) and of memory (`ulimit -v`), or ask for fewer "
    "workers"
)
_start_lock = threading.Lock()

T = TypeVar("T")


class WorkerState:
    """The simulator of the job that was asked for last; threads wait for each other."""

    def __init__(self) -> None:
        self._open: tuple[Job, Roller] | None = None
        self._held = ExitStack()
        self._lock = threading.RLock()

    @contextmanager
    def roller(self, job: Job) -> Iterator[Roller]:
        """Opens the simulator of a job if need be."""
        with self._lock:
            if self._open is None or self._open[0] != job:
                self.close()
                self._open = job, job.open(self._held)
            yield self._open[1]

    def close(self) -> None:
        """Closes the simulator, if one is open."""
        with self._lock:
            self._open = None
            self._held.close()


state = WorkerState()  # of this process


class Workers:
    """Where tasks run: in this process; other kinds override what differs.

    Attributes:
        prefetch: tasks a worker that are handed out at a time: one at work, the others waiting.
        remote: whether they may be of other machines, so that their bits must be compared.
    """

    prefetch = 1
    remote = False

    def count(self) -> int:
        """How many there are now; at least 1."""
        return 1

    def task_s(self) -> float:
        """How long a task should take [s]."""
        return _TASK_S

    def submit(self, make: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Hands out a task."""
        future: Future[Any] = Future()
        try:
            future.set_result(make(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def result(self, future: Future[Any]) -> Any:
        """What a finished task came to; raises a `BrokenExecutor` if it is to be made again."""
        return future.result()

    def check(self) -> None:
        """Called while nothing comes back; raises a WorkerError if nothing ever will."""

    def close(self) -> None:
        """Ends them and drops the tasks that wait; another task starts them again."""
        state.close()


class LocalWorkers(Workers):
    """So many processes of this machine, which load `modules` at once; or this process alone."""

    def __init__(self, workers: int, modules: tuple[str, ...] = ()) -> None:
        self._count = possible(workers)
        self._pool: WorkerPool | None = None
        if self._count > 1:
            self.prefetch = 2
            begin(modules)

    def count(self) -> int:
        return self._count

    def submit(self, make: Callable[..., Any], *arguments: Any) -> Future[Any]:
        if self._count == 1:
            return super().submit(make, *arguments)
        self._pool = self._pool or WorkerPool(self._count)
        return self._pool.submit(make, *arguments)

    def check(self) -> None:
        """Finds out whether a pool, which tells of processes that end, runs at all."""
        manager = getattr(self._pool, "_executor_manager_thread", None)
        if self._pool is not None and manager is not None and not manager.is_alive():
            self._pool.kill()
            raise WorkerError(f"the pool of worker processes has failed; {_LIMITS}")

    def close(self) -> None:
        """Ends them after their present tasks, or at once where this is interrupted too."""
        pool, self._pool = self._pool, None
        if pool is not None:
            try:
                pool.shutdown(wait=True, cancel_futures=True)
            except BaseException:  # a second Ctrl-C; Python would wait for them at its end
                pool.kill()
                raise
        super().close()


class WorkerPool(ProcessPoolExecutor):
    """Worker processes that start fast, stay quiet at a Ctrl-C and end with their parent.

    There are at least two, and each calls `prepare` with `arguments` once.
    """

    def __init__(
        self, workers: int, prepare: Callable[..., None] | None = None, *arguments: Any
    ) -> None:
        self._wanted = workers
        super().__init__(workers, context(), _start_worker, (prepare, *arguments))

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Hands out a task; raises a WorkerError where no process can be started."""
        hand_out = partial(super().submit, fn, *args, **kwargs)
        try:
            complete = len(self._processes or ()) == self._wanted
            return hand_out() if complete else _undisturbed(hand_out)
        except OSError as error:
            if error.errno is None:  # its pipes were closed meanwhile, as a worker died
                raise BrokenExecutor(str(error)) from error
            raise WorkerError(refusal(error, "worker processes cannot be started")) from error

    def kill(self) -> None:
        """Ends them at once, at whatever they are."""
        for process in list((self._processes or {}).values()):
            process.terminate()


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def possible(workers: int) -> int:
    """So many workers; a WorkerError where this process can have none, or not so many.

    Refused half-way, Python's own pool would leave a traceback of its server, or hang.
    """
    remedy = "or do all in this process, with workers=1"
    with ExitStack() as held, told(WorkerError, f"no {workers} worker processes here", remedy):
        if workers > 1:
            if current_process().daemon:
                raise OSError("one of multiprocessing.Pool has no processes of its own")
            Path.cwd()  # they start in it
            context().Lock()  # needs /dev/shm
            for _ in range(_FILES + _FILES_A_WORKER * workers):
                held.callback(os.close, os.open(os.devnull, os.O_RDONLY))
    return workers


def begin(modules: tuple[str, ...]) -> None:
    """Starts the fork server, if there is to be one, to load these modules; returns at once."""
    if FORKS:
        forkserver.set_forkserver_preload([*modules, "concurrent.futures.process"])
        context()


def context() -> BaseContext:
    """Makes processes: forked by a server, or spawned where there can be none.

    A forked process has none: it would take its parent's for its own. Nor has one whose TMPDIR is
    too long for a socket.
    """
    if FORKS and os.getpid() == _PROCESS:
        with suppress(OSError):
            _undisturbed(forkserver.ensure_running)
            return get_context("forkserver")
    return get_context("spawn")


def _undisturbed(start: Callable[[], T]) -> T:
    """Starts processes in a thread: no Ctrl-C breaks in half-way, and they inherit it blocked."""

    def started() -> T:
        with another_main():
            resource_tracker.ensure_running()  # started later, it would unblock the signal
            if hasattr(signal, "pthread_sigmask"):
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            return start()

    try:
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(started).result()
    except BrokenExecutor:
        raise
    except RuntimeError as error:
        raise WorkerError(f"worker processes cannot be started ({error}); {_LIMITS}") from error


@contextmanager
def another_main() -> Iterator[None]:
    """Meanwhile the main module is empty, and a Python that starts looks for modules as this one.

    A child would import the main module, which no script survives without `if __name__ == ...`.
    """
    folders = [folder or os.curdir for folder in sys.path]
    ours = {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(map(os.path.abspath, folders))}
    with _start_lock:
        main, before = sys.modules["__main__"], {name: os.environ.get(name) for name in ours}
        sys.modules["__main__"] = ModuleType("__main__")
        os.environ.update(ours)
        try:
            yield
        finally:
            sys.modules["__main__"] = main
            for name, value in before.items():
                del os.environ[name]
                if value is not None:
                    os.environ[name] = value


def _start_worker(prepare: Callable[..., None] | None, *arguments: Any) -> None:
    """Prepares a worker process.

    Ctrl-C is the parent's to handle; nothing that libraries print may reach its stdout; a parent
    that was killed must not leave workers behind, nor a worker its files.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: _leave())
    util.Finalize(None, state.close, exitpriority=0)  # a forked process runs no `atexit`
    os.dup2(2, 1)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    if prepare is not None:
        prepare(*arguments)


def _leave_with_parent() -> None:
    if (parent := parent_process()) is not None:
        wait([parent.sentinel])
        _leave()


def _leave() -> None:
    """Ends this process at once, also when asked again meanwhile; loads nothing for it."""
    try:
        remove_scratch()
    finally:
        os._exit(1)

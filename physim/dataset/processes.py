"""Worker processes that start fast: forked by a server that has loaded everything already.

To load the libraries and the compiled loops takes a second of a core, in every process that does
it. So one does: Python's fork server, which does nothing but load and fork. It is started before
anything else, and loads while its parent reads the models. Forking is safe there, unlike in the
parent: no code of Python's runs in threads and no engine is open, and the threads that libraries
keep for themselves (OpenBLAS, the allocator of Arrow) are made to be forked. It ends with its
parent.

Where there is no such server, processes are started afresh (`spawn`) and load for themselves.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import active_children, current_process, resource_tracker
from multiprocessing.context import BaseContext, SpawnContext, SpawnProcess
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from physim.errors import WorkerError
from physim.files import told

# The server must find just the modules that this process finds. It looks into the current folder
# first, unless the environment says otherwise (Python 3.11); a caller's `-E` hides that from it.
FORKS = sys.platform == "linux" and sys.version_info >= (3, 11) and not sys.flags.ignore_environment

_PROCESS = os.getpid()

PRELOAD = ("physim.dataset.preload", "physim.dataset.workers", "physim.dataset.rows")
"""What workers need for real rolls, the slowest first."""

# What a pool opens and starts, threads and processes counted alike.
_FILES, _FILES_A_WORKER = 24, 3
_THREADS, _THREADS_A_WORKER = 4, 3

# Two threads with a batch each: the later one must not take the other's stand-in for the original.
_main_lock, _path_lock = threading.Lock(), threading.Lock()


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def begin(modules: tuple[str, ...]) -> None:
    """Starts the fork server, if there is to be one; returns at once.

    Args:
        modules: what it loads. A server that runs already keeps what it has.
    """
    if _forks():
        from multiprocessing import forkserver

        forkserver.set_forkserver_preload([*modules, "concurrent.futures.process"])
        # Where it is refused, such as for a TMPDIR too long for a socket, workers are spawned.
        with suppress(OSError), _same_path(), _no_interrupt():
            forkserver.ensure_running()


def possible(workers: int) -> int:
    """So many workers; 1, this process, with a warning where it may have no others.

    Raises:
        WorkerError: the limits of the system leave no room for so many.
    """
    if workers == 1:
        return 1
    why = ""
    if current_process().daemon:
        why = "a daemonic process, such as one of multiprocessing.Pool, may have none"
    elif not hasattr(signal, "pthread_sigmask"):
        why = "this system has no masks of signals; Linux and macOS have"
    elif not _current_folder():
        why = "the current folder is gone"
    else:
        _make_room(workers)
        why = "no semaphore can be made; is there a /dev/shm that can be written to?"
        # It starts the tracker of such things.
        with suppress(OSError, ImportError), _same_path(), _no_interrupt():
            context().Lock()
            why = ""
    if why:
        warnings.warn(
            f"no worker processes here ({why}); all is done in this one, as with workers=1",
            stacklevel=2,
        )
    return 1 if why else workers


def _make_room(workers: int) -> None:
    """Takes as many files and threads as a pool will need, and gives them back.

    Refused half-way, Python's own pool would leave a traceback of its server, or hang.
    """
    what, ended = f"no room for {workers} workers", threading.Event()
    with ExitStack() as held, told(WorkerError, what):
        for _ in range(_FILES + _FILES_A_WORKER * workers):
            held.callback(os.close, os.open(os.devnull, os.O_RDONLY))
    threads: list[threading.Thread] = []
    try:
        for _ in range(_THREADS + _THREADS_A_WORKER * workers):
            thread = threading.Thread(target=ended.wait, daemon=True)
            thread.start()
            threads.append(thread)
    except RuntimeError:
        raise WorkerError(
            f"{what} (no further process or thread can be started); raise the limit of them "
            "(`ulimit -u`) or of memory (`ulimit -v`), or ask for fewer workers"
        ) from None
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def context() -> BaseContext:
    """Makes the processes of an executor."""
    return _ForkContext() if _forks() else _SpawnContext()


def _forks() -> bool:
    """Whether this process may have a server: a forked one takes its parent's for its own."""
    return FORKS and os.getpid() == _PROCESS


def end_all() -> None:
    """Ends this process's workers, at whatever they are."""
    for process in active_children():
        if isinstance(process, _OURS):
            process.terminate()


class _Spawned(SpawnProcess):
    """A process that does not run the user's script again.

    Both kinds import the main module in every child, which a script without
    `if __name__ == "__main__"` does not survive, and one from stdin never. Workers need nothing
    from it.
    """

    def start(self) -> None:
        with another_main(), _no_interrupt():
            super().start()


class _SpawnContext(SpawnContext):
    Process = _Spawned


if FORKS:
    from multiprocessing.context import ForkServerContext, ForkServerProcess

    class _Forked(ForkServerProcess):
        """As `_Spawned`, from the fork server."""

        def start(self) -> None:
            with another_main(), _same_path(), _no_interrupt():  # it may have to start again
                super().start()

        @staticmethod
        def _Popen(process_obj: Any) -> Any:
            with suppress(OSError, EOFError):  # its socket is gone, or it never was
                return ForkServerProcess._Popen(process_obj)
            return SpawnProcess._Popen(process_obj)

    class _ForkContext(ForkServerContext):
        Process = _Forked

    _OURS: tuple[type, ...] = (_Spawned, _Forked)
else:
    _OURS = (_Spawned,)


@contextmanager
def another_main() -> Iterator[None]:
    """Meanwhile the main module is an empty one."""
    with _main_lock:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


@contextmanager
def interrupted_after() -> Iterator[None]:
    """Ctrl-C and SIGTERM are answered when this ends: one half-way would lose a child's record.

    A child that its executor does not know is not waited for, and finds its locks gone. Handlers
    run in the main thread, so nothing is to do in others; a mask would not do here, since any
    other thread, such as one of a library, takes the signal in place of this one.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    before = {int(number): signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    answered = {number: handler for number, handler in before.items() if callable(handler)}
    try:
        for number in answered:
            signal.signal(number, lambda *signal_and_frame: came.append(signal_and_frame))
        yield
    finally:
        for number, handler in answered.items():
            signal.signal(number, handler)
    for number, frame in came[:1]:
        answered[number](number, frame)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Children start with Ctrl-C blocked."""
    resource_tracker.ensure_running()  # started later, it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _current_folder() -> str:
    """Empty where it was removed meanwhile."""
    with suppress(FileNotFoundError):
        return str(Path.cwd())
    return ""


@contextmanager
def _same_path() -> Iterator[None]:
    """A Python that is started meanwhile looks for modules where this one does."""
    here = _current_folder()
    folders = [folder or here for folder in sys.path if folder or here]
    ours = {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(folders)}
    with _path_lock:
        before = {name: os.environ.get(name) for name in ours}
        os.environ.update(ours)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value

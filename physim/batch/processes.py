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
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.context import BaseContext, SpawnContext, SpawnProcess
from pathlib import Path
from types import ModuleType

# The server must find just the modules that this process finds. It looks into the current folder
# first, unless the environment says otherwise (Python 3.11); a caller's `-E` hides that from it.
FORKS = sys.platform == "linux" and sys.version_info >= (3, 11) and not sys.flags.ignore_environment

_PROCESS = os.getpid()

PRELOAD = ("physim.batch.preload", "physim.batch.worker", "physim.batch.table")
"""What workers need for real rolls, the slowest first."""


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
        with _same_path(), _no_interrupt():
            forkserver.ensure_running()


def context() -> BaseContext:
    """Makes the processes of an executor."""
    return _ForkContext() if _forks() else _SpawnContext()


def _forks() -> bool:
    """Whether this process may have a server: a forked one takes its parent's for its own."""
    return FORKS and os.getpid() == _PROCESS


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

    class _ForkContext(ForkServerContext):
        Process = _Forked


@contextmanager
def another_main() -> Iterator[None]:
    """Meanwhile the main module is an empty one."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Children start with Ctrl-C blocked; here it is delivered afterwards."""
    resource_tracker.ensure_running()  # started later, it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _same_path() -> Iterator[None]:
    """A Python that is started meanwhile looks for modules where this one does."""
    folders = [folder or str(Path.cwd()) for folder in sys.path]
    ours = {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(folders)}
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

"""Where tasks run: in this process, or in worker processes started afresh (`spawn`)."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Any

from physim.batch.worker import close_bench, start_worker


class InProcess(Executor):
    """One worker: this process. A task is done when `submit` returns."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        del wait, cancel_futures  # nothing is ever under way
        close_bench()


class _Worker(SpawnProcess):
    """A process that does not run the user's script again.

    `spawn` imports the main module in every child, which a script without
    `if __name__ == "__main__"` does not survive, and one from stdin never. Workers need nothing
    from it.
    """

    def start(self) -> None:
        with _another_main(), _no_interrupt():
            super().start()


class _Context(SpawnContext):
    Process = _Worker


def open_executor(workers: int) -> Executor:
    """An executor with that many workers."""
    if workers == 1:
        return InProcess()
    return ProcessPoolExecutor(workers, mp_context=_Context(), initializer=start_worker)


@contextmanager
def _another_main() -> Iterator[None]:
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

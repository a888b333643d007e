"""Where tasks run on one machine: in this process, or in processes of their own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import suppress
from typing import Any, Protocol

from physim.batch.kit import Kit
from physim.batch.processes import begin, context, end_all, interrupted_after, possible
from physim.batch.worker import close_bench, import_early, start_worker
from physim.errors import WorkerError
from physim.files import refusal

_TASK_S = 0.5  # long against handing it out, short against a Ctrl-C


class Workers(Protocol):
    """Workers behind the interface of `concurrent.futures`.

    Attributes:
        ahead: tasks a worker that are handed out at a time: one at work, the others waiting.
        elsewhere: whether they may be of other machines, so that their bits must be compared.
    """

    ahead: int
    elsewhere: bool

    def count(self) -> int:
        """How many there are now; at least 1."""
        ...

    def task_s(self) -> float:
        """How long a task should take [s]."""
        ...

    def executor(self) -> Executor:
        """Takes the tasks; another one after `renew`."""
        ...

    def send(self, kit: Kit) -> Any:
        """What stands for the kit in the arguments of a task."""
        ...

    def renew(self) -> None:
        """Replaces an executor that broke."""
        ...

    def check(self) -> None:
        """Called while nothing comes back.

        Raises:
            WorkerError: nothing ever will.
        """
        ...

    def error(self, error: BaseException) -> BaseException:
        """What a failed task is to be told as."""
        ...

    def close(self) -> None:
        """Ends them; tasks that wait are dropped."""
        ...


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


class _Processes(ProcessPoolExecutor):
    """Worker processes; those that are started by a task are known before an interrupt comes."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        try:
            with interrupted_after():
                return super().submit(fn, *args, **kwargs)
        except OSError as error:
            if error.errno is None:  # its pipes were closed meanwhile, as a worker died
                raise BrokenExecutor(str(error)) from error
            raise WorkerError(refusal(error, "worker processes cannot be started")) from error


class LocalWorkers:
    """Processes of this machine, or this process alone.

    Args:
        workers: how many.
        early: modules that they load at once, while this process is still reading models.

    Raises:
        WorkerError: the system has no room for so many.
    """

    elsewhere = False

    def __init__(self, workers: int, early: tuple[str, ...] = ()) -> None:
        workers = possible(workers)
        self.ahead = 1 if workers == 1 else 2
        self._workers = workers
        if workers > 1:
            begin(early)
        self._executor = self._open()
        if workers > 1:
            try:
                with suppress(BrokenExecutor):  # seen again, and mended, with the first task
                    for _ in range(workers):
                        self._executor.submit(import_early, early)
            except BaseException:  # such as Ctrl-C: nobody else can close them yet
                self.close()
                raise

    def count(self) -> int:
        return self._workers

    def task_s(self) -> float:
        return _TASK_S

    def executor(self) -> Executor:
        return self._executor

    def send(self, kit: Kit) -> Kit:
        return kit

    def renew(self) -> None:
        self.close()
        self._executor = self._open()

    def check(self) -> None:
        """A process that ends breaks the executor, which tells by itself, as long as it runs."""
        manager = getattr(self._executor, "_executor_manager_thread", None)
        if manager is not None and not manager.is_alive():
            end_all()
            raise WorkerError(
                "the pool of worker processes has failed; raise the limits of processes "
                "(`ulimit -u`) and of memory (`ulimit -v`), or ask for fewer workers"
            )

    def error(self, error: BaseException) -> BaseException:
        return error

    def close(self) -> None:
        try:
            self._executor.shutdown(wait=True, cancel_futures=True)
        except BaseException:  # a second Ctrl-C; Python would wait for them at its end
            end_all()
            raise

    def _open(self) -> Executor:
        if self._workers == 1:
            return InProcess()
        return _Processes(self._workers, mp_context=context(), initializer=start_worker)

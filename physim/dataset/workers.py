"""Where tasks run on one machine: in this process, or in processes of their own.

What runs in a worker: rolls of one kit on one simulator that stays open.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from multiprocessing import connection, parent_process, util
from typing import Any, Generic, NoReturn, Protocol, TypeVar

from physim.dataset.job import Kit, Sample, sample_of
from physim.dataset.plan import Roller
from physim.dataset.processes import begin, context, end_all, interrupted_after, possible
from physim.dataset.rows import counts_of, row_of
from physim.errors import WorkerError
from physim.files import refusal
from physim.statistics.counts import Counts

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


Content = TypeVar("Content")
_COUNTED_AT_ONCE = 1000  # rows; bounds the memory of a long task


@dataclass(frozen=True)
class Done(Generic[Content]):
    """A finished task.

    Attributes:
        content: its rows as an Arrow stream, or their counts.
        seconds: what rolling took.
    """

    content: Content
    seconds: float


class Bench:
    """The simulator of the kit that was asked for last; threads wait for each other."""

    def __init__(self) -> None:
        self._key: str | None = None
        self._roller: Roller | None = None
        self._open = ExitStack()
        self._lock = threading.Lock()

    def rows(self, kit: Kit, task: range) -> Done[bytes]:
        """The rows of these indices as an Arrow stream."""
        from physim.dataset.rows import encode

        with self._lock:
            roller = self._roller_of(kit)
            began_s = time.perf_counter()
            rows = [row_of(roller.roll(kit.seed, index)) for index in task]
            seconds = time.perf_counter() - began_s
        return Done(encode(rows), seconds)

    def counts(self, kit: Kit, task: range) -> Done[Counts]:
        """What these indices add up to."""
        counts = Counts()
        with self._lock:
            roller = self._roller_of(kit)
            began_s = time.perf_counter()
            for first in range(task.start, task.stop, _COUNTED_AT_ONCE):
                block = range(first, min(first + _COUNTED_AT_ONCE, task.stop))
                counts += counts_of([row_of(roller.roll(kit.seed, index)) for index in block])
            return Done(counts, time.perf_counter() - began_s)

    def sample(self, kit: Kit) -> Sample:
        """Roll 0."""
        with self._lock:
            return sample_of(kit, self._roller_of(kit))

    def close(self) -> None:
        """Closes the simulator, if one is open."""
        with self._lock:
            self._close()

    def _roller_of(self, kit: Kit) -> Roller:
        key = f"{kit.key} {kit.check_row} {kit.bits} {kit.versions}"
        if self._roller is None or self._key != key:
            self._close()
            self._roller = self._open.enter_context(kit.open())
            kit.check_bits(self._roller)
            self._key = key
        return self._roller

    def _close(self) -> None:
        self._roller = self._key = None
        self._open.close()


_bench = Bench()  # one a process


def make_rows(kit: Kit, task: range) -> Done[bytes]:
    """As `Bench.rows`."""
    return _bench.rows(kit, task)


def make_counts(kit: Kit, task: range) -> Done[Counts]:
    """As `Bench.counts`."""
    return _bench.counts(kit, task)


def make_sample(kit: Kit) -> Sample:
    """As `Bench.sample`."""
    return _bench.sample(kit)


def close_bench() -> None:
    """Closes this process's simulator, if one is open."""
    _bench.close()


def start_worker() -> None:
    """Prepares a worker process.

    Ctrl-C is the parent's to handle; nothing that libraries print may reach its stdout; a parent
    that was killed must not leave workers behind, nor a worker its files.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: _leave())
    util.Finalize(None, close_bench, exitpriority=0)  # a forked process runs no `atexit`
    os.dup2(2, 1)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def import_early(modules: tuple[str, ...]) -> None:
    """Loads what rolls will need, while the parent is still reading the models."""
    from importlib import import_module

    for module in modules:
        import_module(module)


def _leave_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        _leave()


def _leave() -> NoReturn:
    """Ends this process at once, also when asked again meanwhile.

    Nothing is loaded for it: that may be under way already, and to fail in it would be to stay.
    """
    try:
        if (engine := sys.modules.get("physim.physics.fast.pair")) is not None:
            engine.remove_files()
    finally:
        os._exit(1)

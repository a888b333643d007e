"""Workers of a Dask cluster: the only file that imports `dask` and `distributed`.

The scheduler hands a task on where its worker is lost; workers may come and go. A worker holds
one simulator and makes one roll at a time, so it is started with `--nthreads 1`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from physim.dataset.job import Kit, unpacked
from physim.dataset.processes import another_main
from physim.errors import ConfigError, PhysimError, WorkerError, optional, shown_name

if TYPE_CHECKING:
    from distributed import Client

_LEAST_TASK_S = 2.0
_TASKS_A_SECOND = 50  # of all workers: a task costs the scheduler 5 ms (docs/scale.md)
_CONNECT_S = 5.0  # to the scheduler
_ANSWER_S = 20.0  # of a busy scheduler
_NO_WORKER_S = 60.0  # clusters that grow with their tasks need a while
_COUNT_S = 1.0  # between two counts of the workers
_LOGGERS = ("distributed", "distributed.client", "distributed.scheduler", "distributed.nanny")
_SILENT = logging.CRITICAL + 1
_KEPT = "finished parts are kept: run the same command again to go on"


@contextmanager
def open_cluster(address: str | None, workers: int) -> Iterator[ClusterWorkers]:
    """Connects to a scheduler, or starts one on this machine.

    Args:
        address: of the scheduler, such as `tcp://host:8786`; None for a cluster of one's own.
        workers: processes of that cluster of one's own.

    Raises:
        ConfigError: Dask is not installed, or no scheduler answers there.
    """
    distributed = optional("distributed", "dask", "rolling on a Dask cluster")
    with ExitStack() as held:
        held.enter_context(_quiet())
        if address is None:
            with another_main():  # its processes must not run the user's script again
                address = held.enter_context(
                    distributed.LocalCluster(
                        n_workers=workers,
                        threads_per_worker=1,
                        dashboard_address="127.0.0.1:0",
                        silence_logs=_SILENT,
                    )
                ).scheduler_address
        else:
            _refuse_silent(address)
        client = held.enter_context(
            distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
        )
        yield ClusterWorkers(client)


def _refuse_silent(address: str) -> None:
    """Refuses an address at which no scheduler answers.

    Asked before a `Client` is made: one that cannot connect takes long to give up and then prints.
    """
    with ThreadPoolExecutor(1) as thread:  # a notebook has a loop in this one already
        try:
            kind = thread.submit(asyncio.run, _kind_of(address)).result()
            reason = f"it is a {kind}" if kind != "Scheduler" else ""
        except Exception as error:  # whatever a stranger at that port may answer with
            reason = _short(error)
    if reason:
        raise ConfigError(
            f"{shown_name(address)}: no Dask scheduler answers there ({reason}); start one with "
            "`dask scheduler`, or give the address that it prints, such as tcp://host:8786"
        )


async def _kind_of(address: str) -> str:
    """What answers at an address: `Scheduler` or something else."""
    from distributed.core import rpc

    async def ask() -> str:
        async with rpc(address, timeout=_CONNECT_S) as there:
            return str((await there.identity())["type"])

    return await asyncio.wait_for(ask(), _CONNECT_S)


class ClusterWorkers:
    """The workers of one scheduler, however many there are at the moment."""

    ahead = 2
    elsewhere = True

    def __init__(self, client: Client) -> None:
        self._client = client
        self._executor: Executor = client.get_executor(pure=False)
        self._count, self._counted_s = 1, -_COUNT_S
        self._seen_s = time.monotonic()  # when there was a worker last

    def count(self) -> int:
        now = time.monotonic()
        if now - self._counted_s >= _COUNT_S:
            there = len(self._answer(self._client.scheduler.ncores))
            if there:
                self._seen_s = now
            self._count, self._counted_s = max(1, there), now
        return self._count

    def task_s(self) -> float:
        return max(_LEAST_TASK_S, self.count() / _TASKS_A_SECOND)

    def executor(self) -> Executor:
        return self._executor

    def send(self, kit: Kit) -> Any:
        """The kit as a task of its own: it travels once a worker, not once a task."""
        return self._client.submit(unpacked, kit, pure=False)

    def renew(self) -> None:
        """The scheduler replaces what is lost."""

    def check(self) -> None:
        self._counted_s = -_COUNT_S
        self.count()
        if time.monotonic() - self._seen_s > _NO_WORKER_S:
            raise WorkerError(
                f"the Dask scheduler has had no worker for {_NO_WORKER_S:.0f} s; start some with "
                f"`dask worker {self._client.scheduler.address} --nthreads 1`; {_KEPT}"
            )

    def error(self, error: BaseException) -> BaseException:
        from distributed import KilledWorker

        if isinstance(error, CancelledError):
            return _lost()
        if isinstance(error, KilledWorker):
            return WorkerError(
                f"workers at the same rolls died {error.allowed_failures + 1} times (killed, or "
                f"out of memory?); {_KEPT}"
            )
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, PhysimError):
                return cause
            if isinstance(cause, ImportError):
                return WorkerError(
                    f"the Dask scheduler or a worker cannot import what it needs ({_short(cause)});"
                    f" install physim there too, in the same version; {_KEPT}"
                )
            cause = cause.__cause__
        if isinstance(error, RuntimeError) and "deserialization" in str(error):
            return WorkerError(
                "the Dask scheduler cannot read what it is sent: is physim installed there too, "
                f"in the same version? {_KEPT}"
            )
        return error

    def close(self) -> None:
        """Drops the tasks that wait; the workers go on to serve others."""
        if self._client.status == "running":
            self._executor.shutdown(wait=False)

    def _answer(self, ask: Any) -> Any:
        """What the scheduler answers."""
        try:
            if self._client.status == "running":
                return self._client.sync(ask, callback_timeout=_ANSWER_S)
        except (OSError, TimeoutError, asyncio.TimeoutError) as error:  # two kinds in Python 3.10
            raise _lost() from error
        raise _lost()


def _lost() -> WorkerError:
    return WorkerError(f"the connection to the Dask scheduler was lost; {_KEPT}")


def _short(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return (text or type(error).__name__)[:120]


@contextmanager
def _quiet() -> Iterator[None]:
    """Meanwhile Dask logs nothing: what matters comes as an exception."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(_SILENT)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)

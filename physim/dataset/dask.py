"""Workers of a Dask cluster: the only file that imports `dask` and `distributed`.

The scheduler hands a task on where its worker is lost; workers may come and go. A worker holds
one simulator and makes one roll at a time, so it is started with `--nthreads 1`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

from physim.dataset.workers import Workers
from physim.errors import ConfigError, PhysimError, WorkerError, optional, shown_name

_LEAST_TASK_S = 2.0
_TASKS_A_SECOND = 50  # of all workers: a task costs the scheduler 5 ms (docs/scale.md)
_CONNECT_S = 5.0  # to the scheduler
_ANSWER_S = 20.0  # of a busy scheduler
_NO_WORKER_S = 60.0  # clusters that grow with their tasks need a while
_COUNT_S = 1.0  # between two counts of the workers
_LOGGERS = ("distributed", "distributed.client", "distributed.scheduler", "distributed.nanny")
_KEPT = "finished parts are kept: run the same command again to go on"


class ClusterWorkers(Workers):
    """The workers of the scheduler at an address, however many there are at the moment.

    Raises:
        ConfigError: Dask is not installed, or no scheduler answers there.
    """

    prefetch = 2
    remote = True

    def __init__(self, address: str) -> None:
        distributed = optional("distributed", "dask", "rolling on a Dask cluster")
        with ExitStack() as held:
            for name in _LOGGERS:  # what matters comes as an exception
                logger = logging.getLogger(name)
                held.callback(logger.setLevel, logger.level)
                logger.setLevel(logging.CRITICAL + 1)
            _check_scheduler(address)
            self._client = held.enter_context(
                distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
            )
            self._held = held.pop_all()
        self._executor: Executor = self._client.get_executor(pure=False)
        self._count, self._counted_s = 1, -_COUNT_S
        self._seen_s = time.monotonic()  # when there was a worker last

    def count(self) -> int:
        if time.monotonic() - self._counted_s >= _COUNT_S:
            self.check()
        return self._count

    def task_s(self) -> float:
        return max(_LEAST_TASK_S, self.count() / _TASKS_A_SECOND)

    def submit(self, make: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self._executor.submit(make, *arguments)

    def result(self, future: Future[Any]) -> Any:
        """What a task came to; what it failed by is told as what it means here."""
        from distributed import KilledWorker

        try:
            return future.result()
        except CancelledError as error:
            raise _lost() from error
        except KilledWorker as error:
            raise WorkerError(
                f"workers at the same rolls died {error.allowed_failures + 1} times (killed, or "
                f"out of memory?); {_KEPT}"
            ) from error
        except Exception as error:
            cause: BaseException | None = error
            while cause is not None and not isinstance(cause, PhysimError):
                cause = cause.__cause__
            raise cause or WorkerError(
                f"a task failed on the Dask cluster ({_short(error)}); is physim installed for the "
                f"scheduler and all workers, in the same version? {_KEPT}"
            ) from error

    def check(self) -> None:
        """Asks the scheduler how many workers it has."""
        now = time.monotonic()
        try:
            if self._client.status != "running":
                raise _lost()
            there = self._client.sync(self._client.scheduler.ncores, callback_timeout=_ANSWER_S)
        except (OSError, TimeoutError, asyncio.TimeoutError) as error:  # two kinds in Python 3.10
            raise _lost() from error
        self._count, self._counted_s = max(1, len(there)), now
        if there:
            self._seen_s = now
        elif now - self._seen_s > _NO_WORKER_S:
            raise WorkerError(
                f"the Dask scheduler has had no worker for {_NO_WORKER_S:.0f} s; start some with "
                f"`dask worker {self._client.scheduler.address} --nthreads 1`; {_KEPT}"
            )

    def close(self) -> None:
        """Drops the tasks that wait; the workers go on to serve others."""
        with self._held:
            if self._client.status == "running":
                self._executor.shutdown(wait=False)


def _check_scheduler(address: str) -> None:
    """Refuses an address at which no scheduler answers.

    Asked before a `Client` is made: one that cannot connect leaves tracebacks on stderr.
    """
    from distributed.core import rpc

    async def ask() -> str:
        async with rpc(address, timeout=_CONNECT_S) as there:
            return str((await asyncio.wait_for(there.identity(), _CONNECT_S))["type"])

    try:
        with ThreadPoolExecutor(1) as thread:  # a notebook has a loop in this one already
            kind = thread.submit(lambda: asyncio.run(ask())).result()
        reason = f"it is a {kind}" if kind != "Scheduler" else ""
    except Exception as error:  # whatever a stranger at that port may answer with
        reason = _short(error)
    if reason:
        raise ConfigError(
            f"{shown_name(address)}: no Dask scheduler answers there ({reason}); start one with "
            "`dask scheduler`, or give the address that it prints, such as tcp://host:8786"
        )


def _lost() -> WorkerError:
    return WorkerError(f"the connection to the Dask scheduler was lost; {_KEPT}")


def _short(error: BaseException) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:120]

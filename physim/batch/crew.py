"""Shares tasks out among workers, and hands out again what one took with it when it died."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator
from concurrent.futures import BrokenExecutor, Future
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from physim.batch.executors import Workers
from physim.batch.kit import Kit, Sample
from physim.batch.worker import make_sample
from physim.errors import WorkerError

MAX_DEATHS = 3  # a task; what kills its worker every time must not do so for ever
_LOOK_S = 2.0  # between two looks at workers from whom nothing comes

Task = TypeVar("Task")


class Crew:
    """Workers at work on one kit."""

    def __init__(self, workers: Workers, kit: Kit) -> None:
        self._workers = workers
        self._kit = kit

    def sample(self) -> Sample:
        """Roll 0, by which one sees whether two machines come to the same bits."""
        once = iter([()])
        for _, made in self.results(make_sample, lambda: next(once, None)):
            sample: Sample = made
            return sample
        raise RuntimeError("a task came back without a result")

    def results(
        self, make: Callable[..., Any], take: Callable[[], tuple[Any, ...] | None]
    ) -> Generator[tuple[tuple[Any, ...], Any], None, None]:
        """Each task with what it came to, in the order in which they get done.

        Args:
            make: called in a worker with the kit and, if there is one, the first item of a task.
            take: gives the next task; None after the last one.

        Raises:
            WorkerError: a task's worker died more than `MAX_DEATHS` times, or no worker is left.
        """
        kit = self._workers.send(self._kit)
        again: deque[tuple[Any, ...]] = deque()
        at_work: dict[Future[Any], tuple[Any, ...]] = {}
        ready: SimpleQueue[Future[Any]] = SimpleQueue()
        deaths: Counter[tuple[Any, ...]] = Counter()
        over = False
        while True:
            try:
                while len(at_work) < self._workers.ahead * self._workers.count():
                    task = again[0] if again else None if over else take()
                    if task is None:
                        over = True
                        break
                    if not again:
                        again.append(task)
                    future = self._workers.executor().submit(make, kit, *task[:1])
                    at_work[future] = again.popleft()
                    future.add_done_callback(ready.put)
                if not at_work:
                    return
                future = ready.get(timeout=_LOOK_S)
                if future not in at_work:  # of an executor that broke
                    continue
                result = _result(future, self._workers)
                done = at_work.pop(future)
                del deaths[done]
                yield done, result
            except Empty:
                self._workers.check()
            except BrokenExecutor as error:
                deaths.update(at_work.values())
                again.extend(at_work.values())
                at_work.clear()
                if deaths and max(deaths.values()) > MAX_DEATHS:
                    raise WorkerError(
                        f"workers at the same rolls died {MAX_DEATHS + 1} times (killed, or out of "
                        "memory?); finished parts are kept: run the same again, perhaps with fewer "
                        "workers"
                    ) from error
                self._workers.renew()
                kit = self._workers.send(self._kit)


def _result(future: Future[Any], workers: Workers) -> Any:
    try:
        return future.result()
    except BrokenExecutor:
        raise
    except BaseException as error:
        told = workers.error(error)
        if told is error:
            raise
        raise told from error

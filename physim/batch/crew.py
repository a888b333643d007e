"""Shares tasks out among workers, and hands out again what one took with it when it died."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator
from concurrent.futures import BrokenExecutor, Future
from queue import Empty, SimpleQueue
from typing import Any

from physim.batch.executors import Workers
from physim.batch.kit import Kit, Sample
from physim.batch.worker import make_sample
from physim.errors import WorkerError

MAX_DEATHS = 3  # a task; what kills its worker every time must not do so for ever
_HAND_OUT = 2  # tasks for each result that waits to be looked at: more workers get busy, soon
_LOOK_S = 2.0  # between two looks at workers from whom nothing comes


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
        work = _Work(self._workers, make, take)
        kit = self._workers.send(self._kit)
        while True:
            try:
                work.hand_out(kit)
                if not work.under_way:
                    return
                future = work.ready.get(timeout=_LOOK_S)
                if future not in work.under_way:  # of an executor that broke
                    continue
                result = _result(future, self._workers)
                yield work.done(future), result
            except Empty:
                self._workers.check()
            except BrokenExecutor as error:
                work.lost(error)
                self._workers.renew()
                kit = self._workers.send(self._kit)


class _Work:
    """The tasks that are under way, and those that were and must be handed out again."""

    def __init__(
        self,
        workers: Workers,
        make: Callable[..., Any],
        take: Callable[[], tuple[Any, ...] | None],
    ) -> None:
        self._workers, self._make, self._take = workers, make, take
        self._again: deque[tuple[Any, ...]] = deque()
        self._deaths: Counter[tuple[Any, ...]] = Counter()
        self._over = False
        self.under_way: dict[Future[Any], tuple[Any, ...]] = {}
        self.ready: SimpleQueue[Future[Any]] = SimpleQueue()

    def hand_out(self, kit: Any) -> None:
        """Keeps every worker busy, but looks at results as soon as there are some."""
        handed = 0
        while len(self.under_way) < self._workers.ahead * self._workers.count() and (
            handed < _HAND_OUT or self.ready.empty()
        ):
            if not self._again:
                task = None if self._over else self._take()
                if task is None:
                    self._over = True
                    return
                self._again.append(task)
            future = self._workers.executor().submit(self._make, kit, *self._again[0][:1])
            self.under_way[future] = self._again.popleft()
            future.add_done_callback(self.ready.put)
            handed += 1

    def done(self, future: Future[Any]) -> tuple[Any, ...]:
        """Takes a task off the list."""
        task = self.under_way.pop(future)
        del self._deaths[task]
        return task

    def lost(self, error: BrokenExecutor) -> None:
        """All that was under way went with its workers, and any of it may have killed them."""
        self._deaths.update(self.under_way.values())
        self._again.extend(self.under_way.values())
        self.under_way.clear()
        if self._deaths and max(self._deaths.values()) > MAX_DEATHS:
            raise WorkerError(
                f"workers at the same rolls died {MAX_DEATHS + 1} times (killed, or out of "
                "memory?); finished parts are kept: run the same again, perhaps with fewer workers"
            ) from error


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

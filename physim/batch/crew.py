"""Workers that share tasks out among them and are replaced if one of them dies."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from types import TracebackType

from physim.batch.executors import open_executor
from physim.batch.plan import BatchPlan
from physim.batch.rows import Row
from physim.batch.worker import work
from physim.errors import WorkerError

MAX_RESTARTS = 3  # a batch; what kills its worker every time must not do so for ever
_TASKS_A_WORKER = 2  # one at work and one in the queue


class Crew:
    """The workers of one plan. Use it with `with`."""

    def __init__(self, plan: BatchPlan, workers: int) -> None:
        self._plan = plan
        self._workers = workers
        self._restarts = 0
        self._executor: Executor | None = None

    def __enter__(self) -> Crew:
        self._executor = open_executor(self._workers)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None

    def first_roll(self) -> Row:
        """Roll 0, by which one sees whether two machines come to the same bits."""
        for _, rows in self.results([range(1)]):
            return rows[0]
        raise RuntimeError("a task came back without a result")

    def results(self, tasks: Iterable[range]) -> Generator[tuple[range, list[Row]], None, None]:
        """Each task with its rows, in the order in which they get done.

        Raises:
            WorkerError: workers died more often than `MAX_RESTARTS` times.
        """
        coming = iter(tasks)
        again: deque[range] = deque()
        at_work: dict[Future[list[Row]], range] = {}
        while True:
            try:
                self._hand_out(again, coming, at_work)
                if not at_work:
                    return
                for future in wait(at_work, return_when=FIRST_COMPLETED).done:
                    rows = future.result()
                    yield at_work.pop(future), rows
            except BrokenExecutor as error:
                again.extend(at_work.values())
                at_work.clear()
                self._restart(error)

    def _hand_out(
        self, again: deque[range], coming: Iterator[range], at_work: dict[Future[list[Row]], range]
    ) -> None:
        if self._executor is None:
            raise RuntimeError("a Crew is opened by `with Crew(plan, workers) as crew:`")
        while len(at_work) < _TASKS_A_WORKER * self._workers:
            if not again:
                task = next(coming, None)
                if task is None:
                    return
                again.append(task)
            future = self._executor.submit(work, self._plan, again[0])
            at_work[future] = again.popleft()

    def _restart(self, error: BrokenExecutor) -> None:
        if self._restarts == MAX_RESTARTS:
            raise WorkerError(
                f"worker processes died {MAX_RESTARTS + 1} times (killed, or out of memory?); "
                "finished parts are kept: run the same again, perhaps with fewer workers"
            ) from error
        self._restarts += 1
        self.__exit__(None, None, None)
        self.__enter__()

"""A batch from plan to folder: what is missing is handed out, whole chunks are kept.

Chunks are what is kept as one file, tasks what is handed to a worker: a piece of a chunk.

Shares tasks out among workers, and hands out again what one took with it when it died.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import BrokenExecutor, Future
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from physim import config, errors
from physim.dataset.counts_only import Tally
from physim.dataset.folder import Store, open_store, refuse_foreign
from physim.dataset.job import BITS, Kit, Sample, these_versions
from physim.dataset.manifest import Json, only_writer
from physim.dataset.plan import BatchPlan, default_chunk_size
from physim.dataset.processes import cores
from physim.dataset.workers import LocalWorkers, Workers, make_counts, make_rows, make_sample
from physim.errors import ConfigError, WorkerError
from physim.statistics.counts import Counts

if TYPE_CHECKING:
    import pyarrow as pa

MAX_WORKERS = 1024
LOCAL = "local"

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class BatchResult:
    """What a batch came to.

    Attributes:
        n: rolls asked for, all there now.
        new_rolls: those made by this run; the others were there before.
        out: the dataset folder; None if only the counts were kept, in memory.
    """

    n: int
    new_rolls: int
    out: Path | None
    tally: Tally | None = None

    @cached_property
    def counts(self) -> Counts:
        """What all `n` rolls add up to; read from the folder."""
        from physim.dataset.folder import read_counts

        if self.tally is not None:
            return self.tally.counts
        return read_counts(self.out) if self.out is not None else Counts()


def run_batch(
    plan: BatchPlan,
    out: Path | str | None = None,
    *,
    workers: int | None = None,
    dask: str | None = None,
    counts_only: bool = False,
    mixed_platforms: bool = False,
    progress: Progress | None = None,
) -> BatchResult:
    """Makes the rolls of a plan that are not there yet.

    Args:
        plan: what to roll.
        out: the dataset folder, made if need be; None keeps counts in memory alone.
        workers: processes; None for one a core. The result does not depend on it.
        dask: address of a Dask scheduler whose workers make the rolls, such as
            `tcp://host:8786`, or `local` for a cluster of its own, of `workers` processes.
        counts_only: keeps `counts.json` in the folder in place of the rolls.
        mixed_platforms: goes on also where rolls come out with other bits than those that the
            folder holds; its manifest then tells of both machines.
        progress: called with the rolls done and all rolls, first of all once.

    Raises:
        ConfigError, ModelError: a plan that cannot be used, or no Dask scheduler there.
        DatasetError: the folder holds something else or cannot be written to. Chunks that were
            finished before are kept, likewise on KeyboardInterrupt.
        WorkerError: workers died repeatedly, run other versions or come to other bits.
    """
    dask = config.optional_text("dask", dask)
    if dask not in (None, LOCAL) and workers is not None:
        raise ConfigError(
            "workers does not go with a Dask scheduler, which has its own; leave it out"
        )
    count = _checked(workers)
    out = None if out is None else config.path("out", out)
    if progress is not None and not callable(progress):
        raise ConfigError(
            f"progress must be a function of two numbers or None, found {errors.shown(progress)}"
        )
    if out is not None:
        refuse_foreign(out)
    with ExitStack() as held:
        if out is not None:
            held.enter_context(only_writer(out))
        crew: Workers
        if dask is None:
            crew = LocalWorkers(min(count, plan.n), plan.modules)
        else:
            from physim.dataset.dask import open_cluster

            crew = held.enter_context(open_cluster(None if dask == LOCAL else dask, count))
        held.enter_context(closing(crew))
        return run_on(
            crew,
            plan,
            out,
            counts_only=counts_only,
            mixed_platforms=mixed_platforms,
            progress=progress,
        )


def run_on(
    workers: Workers,
    plan: BatchPlan,
    out: Path | None,
    *,
    counts_only: bool = False,
    mixed_platforms: bool = False,
    progress: Progress | None = None,
) -> BatchResult:
    """As `run_batch`, on these workers; `only_writer` must hold the folder."""
    configuration = plan.configuration()
    versions = these_versions() if workers.elsewhere else None
    kit = Kit.of(plan, versions)
    counts_only = counts_only or out is None
    sample = cache(Crew(workers, kit).sample)
    with ExitStack() as held:
        store = _store(plan, configuration, out, counts_only, mixed_platforms, sample)
        held.enter_context(closing(store))
        before = done = store.done
        if progress:
            progress(done, plan.n)
        if workers.elsewhere and done < plan.n:
            kit = replace(kit, check_row=sample().row, bits=sample().platform[BITS])
        tasks = Tasks(store.missing(), plan.n - done)
        rows = None if counts_only else Assembly()
        results = Crew(workers, kit).results(
            make_counts if rows is None else make_rows,
            lambda: tasks.take(workers.count(), workers.task_s()),
        )
        held.enter_context(closing(results))
        for (task, chunk), made in results:
            tasks.took(len(task), made.seconds)
            if rows is None:
                store.add(task, made.content)
            else:
                from physim.dataset.rows import decode

                if (table := rows.put(task, chunk, decode(made.content))) is not None:
                    store.add(chunk, table)
            done += len(task)
            if progress:
                progress(done, plan.n)
    return BatchResult(plan.n, plan.n - before, out, store if isinstance(store, Tally) else None)


def _store(
    plan: BatchPlan,
    configuration: Json,
    out: Path | None,
    counts_only: bool,
    mixed_platforms: bool,
    sample: Callable[[], Sample],
) -> Store:
    if out is None:
        return Tally(plan.n, plan.chunk_size or default_chunk_size(plan.n, counts_only))
    return open_store(plan, configuration, out, counts_only, sample, mixed=mixed_platforms)


def _checked(workers: int | None) -> int:
    if workers is None:
        return min(MAX_WORKERS, cores())
    return config.whole("workers", workers, 1, MAX_WORKERS)


_SHARE = 4  # tasks a worker that the rest is cut into, at least, so that all end together
_MOST_ROLLS = 1_000_000  # a task, however fast the rolls


class Tasks:
    """Cuts chunks into tasks that take a while each, whatever a roll takes.

    The first ones are single rolls: something is seen at once, and how long a roll takes.
    """

    def __init__(self, chunks: Iterable[range], rolls: int) -> None:
        self._chunks = iter(chunks)
        self._chunk = self._rest = range(0)
        self._left = rolls
        self._rolled, self._seconds = 0, 0.0

    def take(self, workers: int, task_s: float) -> tuple[range, range] | None:
        """The next task, of about so many seconds, and its chunk; None after the last one."""
        if not self._rest:
            following = next(self._chunks, None)
            if following is None:
                return None
            self._chunk = self._rest = following
        first = self._rest.start
        task = range(first, min(first + self._size(workers, task_s), self._rest.stop))
        self._rest = range(task.stop, self._rest.stop)
        self._left -= len(task)
        return task, self._chunk

    def took(self, rolls: int, seconds: float) -> None:
        """Learns how long rolls take."""
        self._rolled += rolls
        self._seconds += seconds

    def _size(self, workers: int, task_s: float) -> int:
        if not self._rolled:
            return 1
        in_time = _MOST_ROLLS
        if self._seconds > 0:
            in_time = min(in_time, int(task_s * self._rolled / self._seconds))
        return max(1, min(in_time, -(-self._left // (_SHARE * workers))))


class Assembly:
    """Puts the rows of tasks together again, until a chunk is whole.

    So a file is always a whole chunk, however many workers share it.
    """

    def __init__(self) -> None:
        self._waiting: dict[range, dict[int, pa.Table]] = {}
        self._missing: dict[range, int] = {}

    def put(self, task: range, chunk: range, rows: pa.Table) -> pa.Table | None:
        """Takes a task's rows; returns all rows of the chunk if it is whole with them."""
        waiting = self._waiting.setdefault(chunk, {})
        waiting[task.start] = rows
        self._missing[chunk] = self._missing.get(chunk, len(chunk)) - len(task)
        if self._missing[chunk]:
            return None
        del self._waiting[chunk], self._missing[chunk]
        import pyarrow as pa

        return pa.concat_tables([waiting[first] for first in sorted(waiting)])


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

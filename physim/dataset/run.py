"""A batch from plan to folder: what is missing is handed out, whole chunks are kept.

Chunks are what is kept as one file, tasks what is handed to a worker: a piece of a chunk.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from physim import config
from physim.config import MAX_WORKERS
from physim.dataset.manifest import (
    COUNTS,
    NAME,
    ROLLS,
    CountStore,
    Manifest,
    only_writer,
    read_manifest,
    refuse_foreign,
)
from physim.dataset.plan import BatchPlan, Job, Json, default_chunk_size, these_versions
from physim.dataset.rows import make_counts, make_rows, make_sample
from physim.dataset.workers import LocalWorkers, Workers, cores
from physim.errors import ConfigError, DatasetError, WorkerError, shown
from physim.statistics.counts import Counts

if TYPE_CHECKING:
    from physim.dataset.parquet import PartStore

MAX_DEATHS = 3  # a task; what kills its worker every time must not do so for ever
_HAND_OUT = 2  # tasks for each result that waits to be looked at: more workers get busy, soon
_LOOK_S = 2.0  # between two looks at workers from whom nothing comes
_SHARE = 4  # tasks a worker that the rest is cut into, at least, so that all end together
_MOST_ROLLS = 1_000_000  # a task, however fast the rolls

Progress = Callable[[int, int], None]
Task = tuple[Any, ...]


@dataclass(frozen=True)
class BatchResult:
    """What a batch came to: `n` rolls are there now, `new_rolls` of them made by this run.

    Without the folder `out` only the counts were kept, in memory.
    """

    n: int
    new_rolls: int
    out: Path | None
    counted: Counts | None = None

    @cached_property
    def counts(self) -> Counts:
        """What all `n` rolls add up to; read from the folder."""
        from physim.dataset.parquet import read_counts

        return read_counts(self.out or "") if self.counted is None else self.counted


def run_batch(
    plan: BatchPlan,
    out: Path | str | None = None,
    *,
    workers: int | Workers | None = None,
    dask: str | None = None,
    counts_only: bool = False,
    mixed_platforms: bool = False,
    progress: Progress | None = None,
) -> BatchResult:
    """Makes the rolls of a plan that are not there yet; the options are those of `physim.batch`.

    `workers` may also be workers of another kind, which are closed in the end.

    Raises:
        ConfigError, ModelError: a plan that cannot be used, or no Dask scheduler there.
        DatasetError: the folder holds something else or cannot be written to. Chunks that were
            finished before are kept, also on KeyboardInterrupt.
        WorkerError: workers died repeatedly, run other versions or come to other bits.
    """
    if progress is not None and not callable(progress):
        raise ConfigError(
            f"progress must be a function of two numbers or None, found {shown(progress)}"
        )
    out = None if out is None else config.path("out", out)
    kind = COUNTS if counts_only or out is None else ROLLS
    with ExitStack() as held:
        pool = workers
        if not isinstance(pool, Workers):
            pool = _open_workers(plan, pool, config.optional_text("dask", dask))
        held.enter_context(closing(pool))
        if out is not None:
            refuse_foreign(out)
            held.enter_context(only_writer(out))
        job = Job.of(plan, these_versions() if pool.remote else None)
        sample = cache(lambda: next(run_tasks(pool, job, make_sample, iter([()])))[1])
        store = _open_store(plan, kind, out, sample, mixed=mixed_platforms)
        held.enter_context(closing(store))
        before = store.done
        if pool.remote and before < plan.n:
            job = replace(job, sample=sample())
        _make_missing(plan.n, store, pool, job, progress or (lambda *_: None))
    counted = store.counts if isinstance(store, CountStore) else None
    return BatchResult(plan.n, plan.n - before, out, counted)


def _open_workers(plan: BatchPlan, workers: int | None, dask: str | None) -> Workers:
    if dask is None:
        workers = min(cores(), MAX_WORKERS) if workers is None else workers
        workers = config.whole("workers", workers, 1, MAX_WORKERS)
        return LocalWorkers(min(workers, plan.n), plan.modules)
    if workers is not None:
        raise ConfigError(
            "workers does not go with a Dask scheduler, which has its own; leave it out"
        )
    from physim.dataset.dask import ClusterWorkers

    return ClusterWorkers(dask)


def _open_store(
    plan: BatchPlan, kind: str, folder: Path | None, sample: Callable[[], Json], *, mixed: bool
) -> CountStore | PartStore:
    """Begins, resumes or extends the dataset of a plan; without a folder, counts in memory.

    A folder keeps the chunk size that it began with. Before rolls are added, the bits of `sample`,
    roll 0, are compared with those that it holds, unless they may be `mixed`.
    """
    if folder is None:
        return CountStore(plan.n, plan.chunk_size or default_chunk_size(plan.n, counts_only=True))
    configuration = plan.configuration()
    there = read_manifest(folder) if (folder / NAME).exists() else None
    if there is None:
        manifest = Manifest.of(plan, configuration, kind, sample())
        manifest.write(folder)
    else:
        there.check_configuration(configuration, kind, folder)
        if plan.n < there.n:
            raise DatasetError(f"{folder}: holds {there.n} rolls; ask for {there.n} or more")
        manifest = replace(there, n=plan.n)
    store: CountStore | PartStore
    if kind == COUNTS:
        store = CountStore(manifest.n, manifest.chunk_size, folder, manifest.configuration_sha256)
    else:
        from physim.dataset.parquet import PartStore

        store = PartStore(folder, manifest)
    if there is not None and store.done < plan.n:
        manifest = manifest.joined(sample(), folder, mixed=mixed)
    if there not in (None, manifest):
        manifest.write(folder)
    return store


def _make_missing(
    n: int, store: CountStore | PartStore, workers: Workers, job: Job, progress: Progress
) -> None:
    done = store.done
    progress(done, n)
    cutter = TaskCutter(workers)
    make = make_counts if isinstance(store, CountStore) else make_rows
    results = run_tasks(workers, job, make, cutter.tasks(store.missing(), n - done))
    with closing(results):
        for (task, chunk), made in results:
            cutter.took(len(task), made.seconds)
            store.add(task, chunk, made.content)
            done += len(task)
            progress(done, n)


class TaskCutter:
    """Cuts chunks into tasks that take the workers a while each, whatever a roll takes.

    The first ones are single rolls: something is seen at once, and how long a roll takes.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._rolled, self._seconds = 0, 0.0

    def tasks(self, chunks: Iterable[range], rolls: int) -> Iterator[tuple[range, range]]:
        """Tasks of all `rolls`, each with its chunk; each is cut when it is asked for."""
        for chunk in chunks:
            first = chunk.start
            while first < chunk.stop:
                size = self._size(rolls) if self._rolled else 1
                task = range(first, min(first + size, chunk.stop))
                yield task, chunk
                first, rolls = task.stop, rolls - len(task)

    def took(self, rolls: int, seconds: float) -> None:
        """Learns how long rolls take."""
        self._rolled += rolls
        self._seconds += seconds

    def _size(self, left: int) -> int:
        in_time = self._workers.task_s() * self._rolled / max(self._seconds, 1e-9)
        share = math.ceil(left / (_SHARE * self._workers.count()))
        return max(1, min(int(in_time), share, _MOST_ROLLS))


def run_tasks(
    workers: Workers, job: Job, make: Callable[..., Any], tasks: Iterator[Task]
) -> Generator[tuple[Task, Any], None, None]:
    """Shares tasks out among workers, and again those that one took when it died.

    Args:
        workers: who makes them.
        job: of all the tasks.
        make: called in a worker with the job and, if there is one, the first item of a task.
        tasks: are asked for one by one, as workers become free.

    Returns:
        Each task with what it came to, in the order in which they get done.
    """
    again: deque[Task] = deque()
    deaths: Counter[Task] = Counter()
    under_way: dict[Future[Any], Task] = {}
    ready: SimpleQueue[Future[Any]] = SimpleQueue()
    while True:
        try:
            handed = 0  # every worker is kept busy, but results are looked at soon
            while len(under_way) < workers.prefetch * workers.count() and (
                handed < _HAND_OUT or ready.empty()
            ):
                again.extend([] if again else islice(tasks, 1))
                if not again:
                    break
                future = workers.submit(make, job, *again[0][:1])
                under_way[future] = again.popleft()
                future.add_done_callback(ready.put)
                handed += 1
            if not under_way:
                return
            future = ready.get(timeout=_LOOK_S)
            if future in under_way:  # not of an executor that broke
                result = workers.result(future)
                yield under_way.pop(future), result
        except Empty:
            workers.check()
        except BrokenExecutor as error:
            # All that was under way went with its workers, and any of it may have killed them.
            deaths.update(under_way.values())
            again.extend(under_way.values())
            under_way.clear()
            if max(deaths.values(), default=0) > MAX_DEATHS:
                raise WorkerError(
                    f"workers at the same rolls died {MAX_DEATHS + 1} times (killed, or out of "
                    "memory?); finished parts are kept: run the same again, perhaps with fewer "
                    "workers"
                ) from error
            workers.close()  # the next task starts others

"""A batch from plan to folder: what is missing is handed out, whole chunks are kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from physim import arguments
from physim.batch.chunks import Assembly, Tasks
from physim.batch.crew import Crew
from physim.batch.executors import LocalWorkers, Workers
from physim.batch.files import only_writer
from physim.batch.kit import Kit, Sample
from physim.batch.manifest import Json
from physim.batch.plan import BatchPlan, default_chunk_size
from physim.batch.platforms import BITS, these_versions
from physim.batch.processes import cores
from physim.batch.store import Store, open_store, refuse_foreign
from physim.batch.tally import Tally
from physim.batch.worker import make_counts, make_rows
from physim.errors import ConfigError
from physim.statistics.counts import Counts

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
        from physim.batch.read import read_counts

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
    dask = arguments.optional_text("dask", dask)
    if dask not in (None, LOCAL) and workers is not None:
        raise ConfigError(
            "workers does not go with a Dask scheduler, which has its own; leave it out"
        )
    count = _checked(workers)
    out = None if out is None else arguments.path("out", out)
    if progress is not None and not callable(progress):
        raise ConfigError(
            f"progress must be a function of two numbers or None, found {arguments.shown(progress)}"
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
            from physim.batch.cluster import open_cluster

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
                from physim.batch.table import decode

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
    return arguments.whole("workers", workers, 1, MAX_WORKERS)

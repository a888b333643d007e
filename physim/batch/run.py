"""A batch from plan to folder: what is missing is handed out, whole chunks are kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from physim import arguments
from physim.batch.chunks import Assembly
from physim.batch.crew import Crew
from physim.batch.files import only_writer
from physim.batch.manifest import Json
from physim.batch.plan import DEFAULT_CHUNK_SIZE, BatchPlan
from physim.batch.store import Store, open_store, refuse_foreign
from physim.batch.tally import Tally
from physim.errors import ConfigError
from physim.statistics.counts import Counts

MAX_WORKERS = 1024
_TASK_ROLLS = 20  # half a second of work: long against handing it out, short against a Ctrl-C
_TASKS_A_WORKER = 4  # at least, where there are few rolls

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
    counts_only: bool = False,
    progress: Progress | None = None,
) -> BatchResult:
    """Makes the rolls of a plan that are not there yet.

    Args:
        plan: what to roll.
        out: the dataset folder, made if need be; None keeps counts in memory alone.
        workers: processes; None for one a core. The result does not depend on it.
        counts_only: keeps `counts.json` in the folder in place of the rolls.
        progress: called with the rolls done and all rolls, first of all once.

    Raises:
        ConfigError, ModelError: a plan that cannot be used.
        DatasetError: the folder holds something else or cannot be written to. Chunks that were
            finished before are kept, likewise on KeyboardInterrupt.
        WorkerError: worker processes died repeatedly.
    """
    workers = _checked(workers)
    out = None if out is None else arguments.path("out", out)
    if progress is not None and not callable(progress):
        raise ConfigError(
            f"progress must be a function of two numbers or None, found {arguments.shown(progress)}"
        )
    configuration = plan.configuration()
    with ExitStack() as held:
        if out is not None:
            refuse_foreign(out)
            held.enter_context(only_writer(out))
        crew = held.enter_context(Crew(plan, workers))
        store = _store(plan, configuration, out, counts_only, crew)
        before = done = store.done
        if progress:
            progress(done, plan.n)
        task_rolls = -(-(plan.n - done) // (_TASKS_A_WORKER * workers))
        assembly = Assembly(store.missing(), max(1, min(_TASK_ROLLS, task_rolls)))
        results = held.enter_context(closing(crew.results(assembly.tasks())))
        for task, rows in results:
            if finished := assembly.put(task, rows):
                store.add(*finished)
            done += len(rows)
            if progress:
                progress(done, plan.n)
    tally = store if isinstance(store, Tally) else None
    return BatchResult(plan.n, plan.n - before, out, tally)


def _store(
    plan: BatchPlan, configuration: Json, out: Path | None, counts_only: bool, crew: Crew
) -> Store:
    if out is None:
        return Tally(plan.n, plan.chunk_size or DEFAULT_CHUNK_SIZE)
    return open_store(plan, configuration, out, counts_only, crew.first_roll)


def _checked(workers: int | None) -> int:
    if workers is None:
        return _cores()
    return arguments.whole("workers", workers, 1, MAX_WORKERS)


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return min(MAX_WORKERS, len(os.sched_getaffinity(0)))
    return min(MAX_WORKERS, os.cpu_count() or 1)

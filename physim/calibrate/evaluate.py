"""Many candidates at once on all cores; what comes out does not depend on how many there are."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from types import TracebackType
from typing import TypeVar

from physim.calibrate.priors import Values, setup
from physim.calibrate.sample import Sample, heights_mm, sample_of
from physim.calibrate.screening import Screening
from physim.dataset.job import Kit
from physim.dataset.plan import SetupSource
from physim.dataset.processes import PRELOAD
from physim.dataset.rows import decode
from physim.dataset.run import Crew
from physim.dataset.workers import LocalWorkers, make_rows
from physim.errors import PhysimError
from physim.simulator import Setup, SimulationContext

NO_PIG = 10.0  # severity: worse than any pig's
PIECE = 50  # rolls a task: about a second
Progress = Callable[[int, int], None]
Task = TypeVar("Task")
Made = TypeVar("Made")
_COUNTED = ("index", "outcome", "black_pose", "pink_pose")


@dataclass(frozen=True)
class Block:
    """Rolls that candidates make.

    Attributes:
        seed: of the rolls.
        first: index of the first one.
        rolls: how many a candidate; even, so that both heights come up equally often.
        apart: whether each candidate makes rolls of its own, one candidate's after the other's;
            otherwise all make the same ones: common random numbers.
    """

    seed: int
    first: int
    rolls: int
    apart: bool = False

    def of(self, candidate: int) -> range:
        """Indices of a candidate's rolls."""
        first = self.first + (candidate * self.rolls if self.apart else 0)
        return range(first, first + self.rolls)


@dataclass(frozen=True)
class Trial:
    """What came of one candidate.

    Attributes:
        sample: its rolls; empty if it was refused.
        problem: why it was refused; empty if it was not.
        severity: how far from being rolled, to rank those that were refused.
    """

    sample: Sample
    problem: str = ""
    severity: float = 0.0


@dataclass(frozen=True)
class _Candidate:
    """A task: builds the setup of these values."""

    number: int
    values: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class _Piece:
    """A task: some rolls of a candidate."""

    number: int
    kit: Kit
    rolls: range


@dataclass(frozen=True)
class _Built:
    """A candidate's setup, as a pickled `SetupSource`, and its quasi-static rests."""

    content: bytes
    screening: Screening


class Evaluator:
    """Workers that build and roll candidates. Use it with `with`.

    Args:
        base: the setup that candidates change.
        workers: processes.
    """

    def __init__(self, base: Setup, workers: int) -> None:
        self._base, self._count = base, workers
        self._workers: LocalWorkers | None = None
        self._kit: Kit | None = None

    def __enter__(self) -> Evaluator:
        self._workers = LocalWorkers(self._count, PRELOAD)
        prepared = SimulationContext.of(self._base.pigs, self._base.table)
        self._kit = _kit(pickle.dumps(SetupSource(self._base, prepared), protocol=5), 0)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._workers is not None:
            self._workers.close()
            self._workers = None

    def screen(self, candidates: Sequence[Values]) -> list[Screening | str]:
        """The quasi-static rests of each, or why it is no pig."""
        built = self._build(candidates)
        return [one if isinstance(one, str) else one.screening for one in built]

    def roll(
        self, candidates: Sequence[Values], block: Block, progress: Progress | None = None
    ) -> list[Trial]:
        """Rolls of each candidate.

        Args:
            candidates: values of the parameters.
            block: which rolls.
            progress: called with the rolls made and those to make.

        Raises:
            WorkerError: worker processes died repeatedly.
        """
        built, trials = self._build(candidates), [Trial(Sample()) for _ in candidates]
        pieces: list[_Piece] = []
        for number, one in enumerate(built):
            if isinstance(one, str):
                trials[number] = Trial(Sample(), one, NO_PIG)
            elif one.screening.problem:
                trials[number] = Trial(Sample(), one.screening.problem, one.screening.severity)
            else:
                pieces += _pieces(number, _kit(one.content, block.seed), block.of(number))
        done, total = 0, sum(len(piece.rolls) for piece in pieces)
        heights = heights_mm(self._base.toss)
        if progress:
            progress(done, total)
        for piece, made in self._results(_roll, pieces):
            trial = trials[piece.number]
            if isinstance(made, str):
                trials[piece.number] = Trial(Sample(), made, NO_PIG)
            elif not trial.problem:
                trials[piece.number] = Trial(trial.sample + _counts(made, heights))
            done += len(piece.rolls)
            if progress:
                progress(done, total)
        return trials

    def _build(self, candidates: Sequence[Values]) -> list[_Built | str]:
        tasks = [_Candidate(i, tuple(values.items())) for i, values in enumerate(candidates)]
        made: dict[int, _Built | str] = {}
        for task, built in self._results(_build, tasks):
            made[task.number] = built
        return [made[number] for number in range(len(candidates))]

    def _results(
        self, make: Callable[[Kit, Task], Made], tasks: Sequence[Task]
    ) -> Iterator[tuple[Task, Made]]:
        """Each task with what a worker made of it, in the order in which they get done."""
        if self._workers is None or self._kit is None:
            raise RuntimeError("an Evaluator is opened by `with Evaluator(...) as evaluator:`")
        waiting = iter(tasks)

        def take() -> tuple[Task] | None:
            following = next(waiting, None)
            return None if following is None else (following,)

        with closing(Crew(self._workers, self._kit).results(make, take)) as results:
            for task, result in results:
                yield task[0], result


def _build(base: Kit, candidate: _Candidate) -> _Built | str:
    """In a worker: the setup of a candidate, or why there is none."""
    source: SetupSource = pickle.loads(base.content)
    try:
        changed = setup(source.setup, dict(candidate.values))
        prepared = SimulationContext.of(changed.pigs, changed.table)
    except PhysimError as error:
        return str(error)
    content = pickle.dumps(SetupSource(changed, prepared), protocol=5)
    base_rests = Screening.of(source.prepared.rests)
    return _Built(content, Screening.of(prepared.rests, base_rests))


def _roll(base: Kit, piece: _Piece) -> bytes | str:
    """In a worker: some rolls of a candidate, or why there are none."""
    del base
    try:
        return make_rows(piece.kit, piece.rolls).content
    except PhysimError as error:  # such as states that are not numbers
        return str(error)


def _kit(content: bytes, seed: int) -> Kit:
    return Kit(hashlib.sha256(content + str(seed).encode()).hexdigest(), seed, content)


def _pieces(number: int, kit: Kit, rolls: range) -> Iterator[_Piece]:
    for first in range(rolls.start, rolls.stop, PIECE):
        yield _Piece(number, kit, range(first, min(first + PIECE, rolls.stop)))


def _counts(rows: bytes, heights: tuple[int, ...]) -> Sample:
    table = decode(rows)
    columns = [table.column(name).to_pylist() for name in _COUNTED]
    return sample_of(zip(*columns, strict=True), heights)

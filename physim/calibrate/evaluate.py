"""Many candidates at once on all cores; what comes out does not depend on how many there are.

Before any roll, each candidate is screened: where can its pigs lie at all, and how often if they
were laid down without speed? These quasi-static rests take a fraction of a second. A pig that
cannot lie in each of the six poses, or that often lies as no rule says, is refused unrolled.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

from physim.calibrate.priors import Values, setup
from physim.calibrate.target import ROLLS, HeightCounts, Progress, heights_mm, sample_of
from physim.dataset.plan import PRELOAD, Job, SetupSource
from physim.dataset.rows import decode, make_rows
from physim.dataset.run import run_tasks
from physim.dataset.workers import LocalWorkers
from physim.errors import PhysimError
from physim.simulator import RestTable, Setup, SimulationContext, Simulator
from physim.statistics.counts import NAMED_POSES
from physim.types import Pose

# Share of other rests in a pig that is rolled. A rest of some percent without speed is one that
# almost no pig finds in motion, and the objective counts those that do: this only spares rolls of
# pigs that could not be the toy.
MOST_OTHER = 0.05
# Rest probabilities without dynamics predict frequencies to 3 or 4 points at best (Baktash et al.
# 2025), as well as a sample of so many pigs would: sqrt(.3 x .7 / 170) = .035.
WORTH_PIGS = 170
NO_PIG = 10.0  # severity: worse than any pig's
PIECE = 50  # rolls a task: about a second
_LEAST_SHARE = 1e-4  # a pose that is there, however unlikely
_COUNTED = ("index", "outcome", "black_pose", "pink_pose")

Change = Callable[[Setup, Values], Setup]
Task = TypeVar("Task")
Made = TypeVar("Made")


@dataclass(frozen=True)
class RestScreening:
    """The quasi-static rests of a candidate.

    Attributes:
        shares: probability of each pose after a fall without speed, the mean of the two pigs.
        missing: named poses in which one of the pigs cannot lie.
        most_other: probability of rests that no rule names above which it is no pig.
        no_pig: why there are no rests at all; empty if there are.
    """

    shares: Mapping[Pose, float]
    missing: tuple[Pose, ...]
    most_other: float = MOST_OTHER
    no_pig: str = ""

    @classmethod
    def of(cls, tables: Iterable[RestTable], base: RestScreening | None = None) -> RestScreening:
        """Screens pigs by their rests.

        Args:
            tables: of each pig.
            base: of the pigs that candidates change; no more is asked of a candidate.
        """
        tables = tuple(tables)
        shares = dict.fromkeys(Pose, 0.0)
        for table in tables:
            for named in table.rests:
                shares[named.pose] += named.rest.probability / len(tables)
        lies = [{named.pose for named in table.rests} for table in tables]
        missing = tuple(pose for pose in NAMED_POSES if not all(pose in one for one in lies))
        if base is None:
            return cls(shares, missing)
        lost = tuple(pose for pose in missing if pose not in base.missing)
        return cls(shares, lost, max(MOST_OTHER, 2.0 * base.shares[Pose.OTHER]))

    @property
    def problem(self) -> str:
        """Why the candidate is not rolled; empty if it is."""
        if self.no_pig:
            return self.no_pig
        if self.missing:
            return "it cannot lie as " + ", ".join(pose.value for pose in self.missing)
        if self.shares[Pose.OTHER] > self.most_other:
            return f"it lies as no rule says with probability {self.shares[Pose.OTHER]:.3f}"
        return ""

    @property
    def severity(self) -> float:
        """How far from being rolled, to rank those that are not: 0 to 7, or `NO_PIG`."""
        return NO_PIG if self.no_pig else len(self.missing) + self.shares[Pose.OTHER]

    def deviance(self, real: HeightCounts) -> float:
        """The deviance from real rolls, as if `WORTH_PIGS` of those had been seen."""
        poses = real.poses()
        pigs = sum(poses[pose] for pose in NAMED_POSES)
        shares = {pose: max(self.shares[pose], _LEAST_SHARE) for pose in NAMED_POSES}
        total = sum(shares.values())
        terms = (
            poses[pose] * math.log(poses[pose] / pigs * total / share)
            for pose, share in shares.items()
            if poses[pose]
        )
        return 2.0 * WORTH_PIGS / pigs * sum(terms)


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

    sample: HeightCounts
    problem: str = ""
    severity: float = 0.0


_Candidate = tuple[int, tuple[tuple[str, float], ...]]  # number and values
_Piece = tuple[int, Job, range]  # number of the candidate, and some of its rolls


class Evaluator:
    """Workers that build, screen and roll candidates. Use it with `with`.

    Args:
        base: the setup that candidates change.
        workers: processes.
        change: makes a candidate's setup of the base and its values.
    """

    def __init__(self, base: Setup, workers: int, change: Change = setup) -> None:
        self._base, self._count, self._change = base, workers, change

    def __enter__(self) -> Evaluator:
        self._workers = LocalWorkers(self._count, PRELOAD)
        screening = RestScreening.of(SimulationContext.of(self._base.pigs, self._base.table).rests)
        self._kit = Job(0, pickle.dumps((self._base, screening, self._change), protocol=5))
        return self

    def __exit__(self, *_: object) -> None:
        self._workers.close()

    def screen(self, candidates: Sequence[Values]) -> list[RestScreening]:
        """The quasi-static rests of each candidate."""
        return [screening for _, screening in self._build(candidates)]

    def roll(
        self, candidates: Sequence[Values], block: Block, progress: Progress | None = None
    ) -> list[Trial]:
        """Makes the block's rolls of each candidate that may be rolled."""
        trials: list[Trial] = []
        pieces: list[_Piece] = []
        for number, (content, screening) in enumerate(self._build(candidates)):
            trials.append(Trial(HeightCounts(), screening.problem, screening.severity))
            if not screening.problem:
                kit, rolls = Job(block.seed, content), block.of(number)
                pieces += [
                    (number, kit, rolls[first : first + PIECE])
                    for first in range(0, len(rolls), PIECE)
                ]
        done, total = 0, sum(len(rolls) for _, _, rolls in pieces)
        heights = heights_mm(self._base.toss)
        if progress:
            progress(done, total, ROLLS)
        for (number, _, rolls), made in self._results(_roll, pieces):
            trial = trials[number]
            if isinstance(made, str):
                trials[number] = Trial(HeightCounts(), made, NO_PIG)
            elif not trial.problem:
                table = decode(made)
                columns = [table.column(name).to_pylist() for name in _COUNTED]
                sample = trial.sample + sample_of(zip(*columns, strict=True), heights)
                trials[number] = Trial(sample)
            done += len(rolls)
            if progress:
                progress(done, total, ROLLS)
        return trials

    def _build(self, candidates: Sequence[Values]) -> list[tuple[bytes, RestScreening]]:
        tasks = [(number, tuple(values.items())) for number, values in enumerate(candidates)]
        made = {number: built for (number, _), built in self._results(_build, tasks)}
        return [made[number] for number in range(len(candidates))]

    def _results(
        self, make: Callable[[Job, Task], Made], tasks: Sequence[Task]
    ) -> Iterator[tuple[Task, Made]]:
        """Each task with what a worker made of it, in the order in which they get done."""
        waiting = ((task,) for task in tasks)
        with closing(run_tasks(self._workers, self._kit, make, waiting)) as results:
            for task, result in results:
                yield task[0], result


def _build(base: Job, candidate: _Candidate) -> tuple[bytes, RestScreening]:
    """In a worker: a candidate's pickled `SetupSource`, and its screening."""
    before: tuple[Setup, RestScreening, Change] = pickle.loads(base.content)
    old, screening, change = before
    try:
        changed = change(old, dict(candidate[1]))
        prepared = SimulationContext.of(changed.pigs, changed.table)
    except PhysimError as error:
        return b"", RestScreening({}, (), no_pig=str(error))
    content = pickle.dumps(SetupSource(changed, prepared), protocol=5)
    return content, RestScreening.of(prepared.rests, screening)


def _roll(base: Job, piece: _Piece) -> bytes | str:
    """In a worker: some rolls of a candidate, or why there are none."""
    del base
    try:
        return make_rows(*piece[1:]).content
    except PhysimError as error:  # such as states that are not numbers
        return str(error)


def simulate(setup: Setup, seed: int, first: int, count: int) -> HeightCounts:
    """Counts the rolls first to first + count - 1 of a seed, made in this process."""
    with Simulator(setup) as simulator:
        rolls = simulator.rolls(seed, range(first, first + count))
        rows = ((roll.index, roll.outcome, *(pig.pose for pig in roll.pigs)) for roll in rolls)
        return sample_of(rows, heights_mm(setup.toss))  # type: ignore[arg-type]

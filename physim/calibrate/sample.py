"""What a fit sees of rolls: how often each pig came to each pose, a height of release at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from physim.errors import DatasetError
from physim.simulator import Setup, Simulator
from physim.tosses.release import TossModel, Trapdoor
from physim.types import PIG_NAMES, Outcome, Pose, Roll

Json = dict[str, Any]
Counted = tuple[int, str, str, str]
ROLLS, TOUCHING = "rolls", "touching"
_OF_OUTCOMES = {
    Outcome.OINKER: (TOUCHING,),
    Outcome.PIGGYBACK: (TOUCHING, "piggyback"),
    Outcome.UNSETTLED: ("unsettled",),
    Outcome.AMBIGUOUS: ("ambiguous",),
    Outcome.OFF_TABLE: ("off_table",),
}
FATES = (ROLLS, TOUCHING, "piggyback", "unsettled", "ambiguous", "off_table")
"""What is counted a roll: all of them, and those without two named poses by why. A piggyback is
touching too."""


_MOST = 10**12  # rolls: no fit counts that far


@dataclass(frozen=True)
class Sample:
    """Counts of rolls; `a + b` counts the rolls of both, and `Sample()` is zero.

    Attributes:
        pigs: pigs by (height of release [mm], pig's name, pose), of rolls that came to rest
            untouched and on the table; only what came up has an entry.
        fates: rolls by (height, one of `FATES`); likewise.
    """

    pigs: Mapping[tuple[int, str, Pose], int] = field(default_factory=dict)
    fates: Mapping[tuple[int, str], int] = field(default_factory=dict)

    def __add__(self, other: Sample) -> Sample:
        if not isinstance(other, Sample):
            return NotImplemented
        return Sample(
            dict(Counter(self.pigs) + Counter(other.pigs)),
            dict(Counter(self.fates) + Counter(other.fates)),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sample):
            return NotImplemented
        return Counter(self.pigs) == Counter(other.pigs) and (
            Counter(self.fates) == Counter(other.fates)
        )

    __hash__ = None  # type: ignore[assignment]  # its mappings have none

    @property
    def heights_mm(self) -> tuple[int, ...]:
        """The heights that came up."""
        return tuple(sorted({height for height, _ in self.fates}))

    @property
    def rolls(self) -> int:
        """All of them."""
        return self.fate(ROLLS)

    def fate(self, name: str, height_mm: int | None = None) -> int:
        """Rolls of that fate, at one height or at all."""
        return sum(
            count
            for (height, fate), count in self.fates.items()
            if fate == name and height_mm in (None, height)
        )

    def poses(self, height_mm: int | None = None, pig: str | None = None) -> dict[Pose, int]:
        """Pigs by pose, `other` included, at one height or at all, of one pig or of both."""
        counts = dict.fromkeys(Pose, 0)
        for (height, name, pose), count in self.pigs.items():
            if height_mm in (None, height) and pig in (None, name):
                counts[pose] += count
        return counts

    def to_json(self) -> Json:
        """As plain values: a mapping a height, in it the fates and `black` and `pink`."""
        return {
            str(height): {
                **{fate: self.fate(fate, height) for fate in FATES},
                **{
                    pig: {pose.value: n for pose, n in self.poses(height, pig).items()}
                    for pig in PIG_NAMES
                },
            }
            for height in self.heights_mm
        }

    @classmethod
    def from_json(cls, data: Json) -> Sample:
        """What `to_json` gave.

        Raises:
            DatasetError: anything else.
        """
        try:
            sample = cls(
                {
                    (int(height), pig, Pose(pose)): _count(count)
                    for height, counts in data.items()
                    for pig in PIG_NAMES
                    for pose, count in counts[pig].items()
                    if count
                },
                {
                    (int(height), fate): _count(counts[fate])
                    for height, counts in data.items()
                    for fate in FATES
                    if counts[fate]
                },
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DatasetError(f"no counts of rolls: {error}") from error
        sample._check()
        return sample

    def _check(self) -> None:
        for height in self.heights_mm:
            rolls = self.fate(ROLLS, height)
            beside = sum(
                self.fate(fate, height)
                for fate in FATES
                if fate not in (ROLLS, "piggyback")  # a piggyback is touching too
            )
            pigs = [sum(self.poses(height, pig).values()) for pig in PIG_NAMES]
            if max(beside, *pigs) > rolls:
                raise DatasetError(f"no counts of rolls: more from {height} mm than there are")


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
        raise ValueError(f"a count of {value}")
    return value


def sample_of(rows: Iterable[Counted], heights: tuple[int, ...]) -> Sample:
    """Counts rolls.

    Args:
        rows: index, outcome and the two pigs' poses of each.
        heights: of release, as `heights_mm` gives them.
    """
    pigs: Counter[tuple[int, str, Pose]] = Counter()
    fates: Counter[tuple[int, str]] = Counter()
    for index, outcome, *poses in rows:
        height = heights[index % len(heights)]
        fates[height, ROLLS] += 1
        without_pose = _OF_OUTCOMES.get(Outcome(outcome), ())
        fates.update((height, fate) for fate in without_pose)
        if not without_pose or outcome == Outcome.AMBIGUOUS:
            pigs.update(
                (height, pig, Pose(pose)) for pig, pose in zip(PIG_NAMES, poses, strict=True)
            )
    return Sample(dict(pigs), dict(fates))


def counted(roll: Roll) -> Counted:
    """What counts of a roll."""
    black, pink = roll.pigs
    return roll.index, roll.outcome, black.pose, pink.pose


def heights_mm(toss: TossModel) -> tuple[int, ...]:
    """The heights of release, that of index 0 first [mm]."""
    metres = toss.heights_m if isinstance(toss, Trapdoor) else (getattr(toss, "height_m", 0.0),)
    return tuple(round(1000 * height) for height in metres)


def simulate(setup: Setup, seed: int, first: int, count: int) -> Sample:
    """The rolls first to first + count - 1 of a seed, in this process."""
    with Simulator(setup) as simulator:
        rolls = simulator.rolls(seed, range(first, first + count))
        return sample_of(map(counted, rolls), heights_mm(setup.toss))

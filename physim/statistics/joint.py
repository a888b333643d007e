"""Rolls by the poses of both pigs in order: what tells pigs, heights and blocks apart.

Real and simulated rolls have the same form, so one check serves both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physim.statistics.counts import (
    NAMED_POSES,
    PAIR_CELLS,
    POSES,
    TOUCHING,
    codes_of,
    counted_rolls,
    pair_name,
)
from physim.statistics.tables import PairRow
from physim.types import PIG_NAMES, Outcome, Pose, Status

Counted = NDArray[np.int64]
_M_PER_INCH = 0.0254
_NAMED = len(NAMED_POSES)  # `other` is the last of the poses


def _no_pairs() -> Counted:
    return np.zeros((len(POSES), len(POSES)), dtype=np.int64)


@dataclass(frozen=True)
class Joint:
    """Counts of rolls; `a + b` counts the rolls of both, and `Joint()` is zero.

    Attributes:
        rolls: all of them.
        poses: (7, 7) rolls by the black pig's pose and the pink one's, in the order of `Pose`;
            only rolls that are ok and in which the pigs do not touch.
        touching: rolls in which they do, piggybacks included.
        piggyback, off_table, unsettled, ambiguous: rolls of that outcome; 0 in real tables.
    """

    rolls: int = 0
    poses: Counted = field(default_factory=_no_pairs)
    touching: int = 0
    piggyback: int = 0
    off_table: int = 0
    unsettled: int = 0
    ambiguous: int = 0

    def __add__(self, other: Joint) -> Joint:
        if not isinstance(other, Joint):
            return NotImplemented
        names = [item.name for item in fields(self)]
        return Joint(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def pig(self, name: str) -> Counted:
        """(6,) the named poses of `black` or `pink`."""
        counts: Counted = self.poses.sum(axis=1 - PIG_NAMES.index(name))[:_NAMED]
        return counts

    @property
    def pigs(self) -> Counted:
        """(6,) the named poses of both pigs."""
        return sum((self.pig(name) for name in PIG_NAMES), np.zeros(_NAMED, dtype=np.int64))

    @property
    def other(self) -> int:
        """Pigs that lie as no rule says, of those that are counted."""
        return 2 * int(self.poses.sum()) - int(self.pigs.sum())

    @property
    def pairs(self) -> Counted:
        """(22,) rolls in the order of `PAIR_CELLS`: unordered named pairs, and touching."""
        cells = dict.fromkeys(PAIR_CELLS, 0)
        for (i, one), (j, two) in product(enumerate(NAMED_POSES), repeat=2):
            cells[pair_name(one, two)] += int(self.poses[i, j])
        cells[TOUCHING] = self.touching
        return np.array(list(cells.values()), dtype=np.int64)

    @classmethod
    def from_columns(
        cls,
        *,
        status: ArrayLike,
        outcome: ArrayLike,
        touching: ArrayLike,
        black_pose: ArrayLike,
        pink_pose: ArrayLike,
    ) -> Joint:
        """Counts columns, each of shape (n,); see `Counts.from_columns`.

        Raises:
            DatasetError: an unknown name.
        """
        outcomes = codes_of(outcome, Outcome)
        counted = counted_rolls(
            codes_of(status, Status), outcomes, np.asarray(touching, dtype=bool)
        )
        poses = _no_pairs()
        black, pink = codes_of(black_pose, Pose)[counted], codes_of(pink_pose, Pose)[counted]
        np.add.at(poses, (black, pink), 1)
        by_outcome = dict(
            zip(Outcome, np.bincount(outcomes, minlength=len(Outcome)).tolist(), strict=True)
        )
        return cls(
            rolls=len(outcomes),
            poses=poses,
            touching=by_outcome[Outcome.OINKER] + by_outcome[Outcome.PIGGYBACK],
            piggyback=by_outcome[Outcome.PIGGYBACK],
            off_table=by_outcome[Outcome.OFF_TABLE],
            unsettled=by_outcome[Outcome.UNSETTLED],
            ambiguous=by_outcome[Outcome.AMBIGUOUS],
        )


def real_by_height(rows: Iterable[PairRow]) -> dict[float, Joint]:
    """The rows of a table of pairs, by the height of release [m], the lowest first."""
    joints: dict[float, Joint] = {}
    for row in sorted(rows, key=lambda row: row.height_in):
        poses, touching = _no_pairs(), 0
        if row.black is None or row.pink is None:
            touching = row.rolls
        else:
            poses[POSES.index(row.black), POSES.index(row.pink)] = row.rolls
        height_m = row.height_in * _M_PER_INCH
        one = Joint(rolls=row.rolls, poses=poses, touching=touching)
        joints[height_m] = joints.get(height_m, Joint()) + one
    return joints


def total(joints: Mapping[float, Joint]) -> Joint:
    """All heights together."""
    return sum(joints.values(), Joint())

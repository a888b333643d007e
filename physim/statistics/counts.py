"""How often what came up: one value that many rolls add up to.

A pig counts in `poses`, `rests` and `pairs` if its roll is ok and the pigs do
not touch: touching pigs hold each other up. `outcomes`, `scores` and `statuses`
count all rolls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physim.errors import DatasetError
from physim.statistics.columns import Codes, codes_of, counted_rolls, floats_of
from physim.statistics.pairs import PAIRS, POSES
from physim.statistics.rows import column_blocks
from physim.values import PIG_NAMES, Outcome, Pose, Roll, Status

Key = TypeVar("Key", bound=Hashable)
Member = TypeVar("Member", bound=Enum)


def _zeros(keys: Iterable[Key]) -> Any:
    return field(default_factory=lambda: dict.fromkeys(keys, 0))


@dataclass(frozen=True)
class Counts:
    """Counts of rolls; `a + b` counts the rolls of both, and `Counts()` is zero.

    Attributes:
        rolls: all of them.
        poses: pigs by pose, `other` included; every pose has an entry.
        rests: pigs by (pig's name, index of the model's stable rest); only what
            came up has an entry. A pig without a rest index is in `poses` only.
        outcomes: rolls by outcome; every outcome has an entry.
        scores: rolls by points; None is a roll without points. Only what came up.
        statuses: rolls by status; every status has an entry.
        pairs: rolls by unordered pair of poses, in the order of `Pose`; every
            pair has an entry, those with `other` too.
    """

    rolls: int = 0
    poses: Mapping[Pose, int] = _zeros(POSES)
    rests: Mapping[tuple[str, int], int] = field(default_factory=dict)
    outcomes: Mapping[Outcome, int] = _zeros(Outcome)
    scores: Mapping[int | None, int] = field(default_factory=dict)
    statuses: Mapping[Status, int] = _zeros(Status)
    pairs: Mapping[tuple[Pose, Pose], int] = _zeros(PAIRS)

    @property
    def pigs(self) -> int:
        """Pigs counted in `poses`."""
        return sum(self.poses.values())

    @property
    def touching(self) -> int:
        """Rolls that are an oinker or a piggyback."""
        return self.outcomes[Outcome.OINKER] + self.outcomes[Outcome.PIGGYBACK]

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        names = [item.name for item in fields(self) if item.name != "rolls"]
        sums = {name: _add(getattr(self, name), getattr(other, name)) for name in names}
        return Counts(rolls=self.rolls + other.rolls, **sums)

    @classmethod
    def from_rows(cls, rows: Iterable[Roll | Mapping[str, Any]]) -> Counts:
        """Counts rolls, each a `Roll` or a mapping with the names of the JSON lines.

        Raises:
            DatasetError: a mapping without a field, or with a value of no known name.
        """
        return sum((cls.from_columns(**columns) for columns in column_blocks(rows)), cls())

    @classmethod
    def from_columns(
        cls,
        *,
        status: ArrayLike,
        outcome: ArrayLike,
        score: ArrayLike | Sequence[int | None],
        touching: ArrayLike,
        black_pose: ArrayLike,
        pink_pose: ArrayLike,
        black_rest: ArrayLike | Sequence[int | None],
        pink_rest: ArrayLike | Sequence[int | None],
    ) -> Counts:
        """Counts columns, each of shape (n,), one entry a roll.

        Args:
            status: names, or integers that index `tuple(Status)`.
            outcome: likewise of `Outcome`.
            score: points; None or NaN where there are none.
            touching: true for a piggyback too.
            black_pose: likewise of `Pose`.
            pink_pose: likewise of `Pose`.
            black_rest: index of the stable rest; None, NaN or negative for none.
            pink_rest: likewise.

        Returns:
            The counts.

        Raises:
            DatasetError: columns of unequal length, an unknown name, no number.
        """
        statuses, outcomes = codes_of(status, Status), codes_of(outcome, Outcome)
        pigs = [codes_of(black_pose, Pose), codes_of(pink_pose, Pose)]
        numbers = [floats_of(column) for column in (score, black_rest, pink_rest)]
        touches = np.asarray(touching, dtype=bool)
        columns = (statuses, outcomes, *pigs, *numbers, touches)
        if len({column.shape for column in columns}) != 1 or statuses.ndim != 1:
            raise DatasetError("columns of a dataset differ in length; is a part damaged?")
        counted = counted_rolls(statuses, outcomes, touches)
        black, pink = (pig[counted] for pig in pigs)
        points = numbers[0]
        scores: dict[int | None, int] = {}
        scores.update(_tally(points[~np.isnan(points)]).items())
        if unscored := int(np.isnan(points).sum()):
            scores[None] = unscored
        return cls(
            rolls=len(statuses),
            poses=_by_member(np.concatenate([black, pink]), Pose),
            rests={
                (name, index): count
                for name, rests in zip(PIG_NAMES, numbers[1:], strict=True)
                for index, count in _tally(rests[counted & (rests >= 0)]).items()
            },
            outcomes=_by_member(outcomes, Outcome),
            scores=scores,
            statuses=_by_member(statuses, Status),
            pairs=_by_pair(black, pink),
        )


def _add(one: Mapping[Key, int], two: Mapping[Key, int]) -> dict[Key, int]:
    total = Counter(one)
    total.update(two)
    return dict(total)


def _by_member(codes: Codes, kind: type[Member]) -> dict[Member, int]:
    members = tuple(kind)
    counts = np.bincount(codes, minlength=len(members)).tolist()
    return dict(zip(members, counts, strict=True))


def _by_pair(black: Codes, pink: Codes) -> dict[tuple[Pose, Pose], int]:
    size = len(POSES)
    cells = np.minimum(black, pink) * size + np.maximum(black, pink)
    counts = np.bincount(cells, minlength=size * size).tolist()
    return {(a, b): counts[POSES.index(a) * size + POSES.index(b)] for a, b in PAIRS}


def _tally(values: NDArray[np.float64]) -> dict[int, int]:
    found, counts = np.unique(values, return_counts=True)
    return {int(value): int(count) for value, count in zip(found, counts, strict=True)}

"""Counts of rolls: one value that many rolls add up to.

A pig counts in `joint`, `poses`, `pairs` and `rests` if its roll is ok and the pigs do not touch:
touching pigs hold each other up. `outcomes`, `scores` and `statuses` count all rolls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from itertools import combinations_with_replacement, islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physim.errors import DatasetError
from physim.types import PIG_NAMES, Outcome, Pose, Roll, Status

POSES = tuple(Pose)
NAMED_POSES = tuple(pose for pose in Pose if pose is not Pose.OTHER)
PAIRS = tuple(combinations_with_replacement(POSES, 2))  # 28 unordered pairs
NAMED_PAIRS = tuple(combinations_with_replacement(NAMED_POSES, 2))  # 21
TOUCHING = "touching"  # the cell of an oinker or a piggyback
_OF_ROLL, _OF_PIG = ("status", "outcome", "score", "touching"), ("pose", "rest")
COUNTED = (*_OF_ROLL, *(f"{pig}_{name}" for pig in PIG_NAMES for name in _OF_PIG))
"""The columns that `Counts.from_columns` takes."""
_BLOCK_ROLLS = 50_000  # bounds the memory; the counts do not depend on it

Key = TypeVar("Key")
Codes = NDArray[np.intp]


def unordered(first: Pose, second: Pose) -> tuple[Pose, Pose]:
    """The pair as `PAIRS` has it."""
    return (first, second) if POSES.index(first) <= POSES.index(second) else (second, first)


def pair_name(first: Pose, second: Pose) -> str:
    """The cell's name, equal in either order: "trotter+razorback"."""
    return "+".join(pose.value for pose in unordered(first, second))


POSE_CELLS: tuple[str, ...] = tuple(pose.value for pose in NAMED_POSES)
PAIR_CELLS: tuple[str, ...] = (*(pair_name(*pair) for pair in NAMED_PAIRS), TOUCHING)


def _zeros(keys: Iterable[Key]) -> Any:
    return field(default_factory=lambda: dict.fromkeys(keys, 0))


@dataclass(frozen=True)
class Counts:
    """Counts of rolls; `a + b` counts the rolls of both, and `Counts()` is zero.

    Attributes:
        rolls: all of them.
        joint: rolls by the black pig's pose and the pink one's; only what came up has an entry.
        rests: pigs by (pig's name, index of the model's stable rest); only what
            came up. A pig without a rest index is in `poses` only.
        outcomes: rolls by outcome; every outcome has an entry.
        scores: rolls by points; None is a roll without points. Only what came up.
        statuses: rolls by status; every status has an entry.
    """

    rolls: int = 0
    joint: Mapping[tuple[Pose, Pose], int] = field(default_factory=dict)
    rests: Mapping[tuple[str, int], int] = field(default_factory=dict)
    outcomes: Mapping[Outcome, int] = _zeros(Outcome)
    scores: Mapping[int | None, int] = field(default_factory=dict)
    statuses: Mapping[Status, int] = _zeros(Status)

    @property
    def poses(self) -> dict[Pose, int]:
        """Pigs by pose, `other` included; every pose has an entry."""
        return _sum(*map(self.poses_of, PIG_NAMES))

    def poses_of(self, pig: str) -> dict[Pose, int]:
        """The poses of `black` or `pink` alone."""
        counts, which = dict.fromkeys(POSES, 0), PIG_NAMES.index(pig)
        for pair, count in self.joint.items():
            counts[pair[which]] += count
        return counts

    @property
    def pairs(self) -> dict[tuple[Pose, Pose], int]:
        """Rolls by unordered pair of poses; each of `PAIRS` has an entry."""
        counts = dict.fromkeys(PAIRS, 0)
        for pair, count in self.joint.items():
            counts[unordered(*pair)] += count
        return counts

    @property
    def pigs(self) -> int:
        """Pigs counted in `poses`."""
        return 2 * sum(self.joint.values())

    @property
    def touching(self) -> int:
        """Rolls that are an oinker or a piggyback."""
        return self.outcomes[Outcome.OINKER] + self.outcomes[Outcome.PIGGYBACK]

    def pose_cells(self, pig: str | None = None) -> dict[str, int]:
        """Pigs by the cells of a table of poses (`POSE_CELLS`); of both pigs or of one."""
        poses = self.poses if pig is None else self.poses_of(pig)
        return {pose.value: poses[pose] for pose in NAMED_POSES}

    def pair_cells(self) -> dict[str, int]:
        """Rolls by the cells of a table of pairs (`PAIR_CELLS`)."""
        pairs = self.pairs
        return {**{pair_name(*pair): pairs[pair] for pair in NAMED_PAIRS}, TOUCHING: self.touching}

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        names = [item.name for item in fields(self) if item.name != "rolls"]
        sums = {name: _sum(getattr(self, name), getattr(other, name)) for name in names}
        return Counts(rolls=self.rolls + other.rolls, **sums)

    @classmethod
    def from_rows(cls, rows: Iterable[Roll | Mapping[str, Any]]) -> Counts:
        """Counts rolls, each a `Roll` or a mapping with the names of the JSON lines.

        Raises:
            DatasetError: a mapping without a field, or with a value of no known name.
        """
        counts, flat = cls(), map(_flat, rows)
        while block := list(islice(flat, _BLOCK_ROLLS)):
            counts += cls.from_columns(**dict(zip(COUNTED, zip(*block, strict=True), strict=True)))
        return counts

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

        Status, outcome and poses are names, or integers that index the `tuple` of their kind. A
        score or rest that is missing is None or NaN, a rest also below 0. A piggyback touches too.

        Raises:
            DatasetError: columns of unequal length, an unknown name, no number.
        """
        statuses, outcomes = codes_of(status, Status), codes_of(outcome, Outcome)
        black, pink = codes_of(black_pose, Pose), codes_of(pink_pose, Pose)
        points, *rests = (_floats_of(column) for column in (score, black_rest, pink_rest))
        touches = np.asarray(touching, dtype=bool)
        columns = (statuses, outcomes, black, pink, points, *rests, touches)
        if len({column.shape for column in columns}) != 1 or statuses.ndim != 1:
            raise DatasetError("columns of a dataset differ in length; is a part damaged?")
        counted = counted_rolls(statuses, outcomes, touches)
        pairs = _tally(black[counted] * len(POSES) + pink[counted])
        scores = _tally(points[~np.isnan(points)])
        if unscored := int(np.isnan(points).sum()):
            scores[None] = unscored
        return cls(
            rolls=len(statuses),
            joint={
                (POSES[code // len(POSES)], POSES[code % len(POSES)]): count
                for code, count in pairs.items()
            },
            rests={
                (name, index): count
                for name, column in zip(PIG_NAMES, rests, strict=True)
                for index, count in _tally(column[counted & (column >= 0)]).items()
            },
            outcomes=_by_member(outcomes, Outcome),
            scores=scores,
            statuses=_by_member(statuses, Status),
        )


def total(by_height: Mapping[float, Counts]) -> Counts:
    """The counts of all heights together."""
    return sum(by_height.values(), Counts())


def counted_rolls(
    statuses: Codes, outcomes: Codes, touches: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """(n,) whether a roll's pigs count: it is ok and they do not hold each other up."""
    ok = statuses == tuple(Status).index(Status.OK)
    apart = ~touches & (outcomes != tuple(Outcome).index(Outcome.PIGGYBACK))
    return np.asarray(ok & apart, dtype=bool)


def codes_of(column: ArrayLike, kind: type[Enum]) -> Codes:
    """Positions in `tuple(kind)` of names, or of such positions.

    Raises:
        DatasetError: an unknown name or a position out of range.
    """
    values = np.asarray(column)
    if values.dtype.kind in "iu":
        if values.size and not 0 <= values.min() <= values.max() < len(kind):
            raise DatasetError(f"a {kind.__name__} code outside 0 to {len(kind) - 1}")
        return values.astype(np.intp)
    codes: dict[object, int] = {member.value: code for code, member in enumerate(kind)}
    try:
        found = map(codes.__getitem__, values.ravel().tolist())
        return np.fromiter(found, np.intp, values.size).reshape(values.shape)
    except KeyError as error:
        raise DatasetError(f"unknown {kind.__name__} {error} in the rolls") from None


def _floats_of(column: ArrayLike | Sequence[int | None]) -> NDArray[np.float64]:
    try:
        return np.asarray(column, dtype=float)  # None becomes NaN
    except (TypeError, ValueError):
        raise DatasetError("a score or a rest in the rolls is no number") from None


def _sum(one: Mapping[Key, int], two: Mapping[Key, int]) -> dict[Key, int]:
    counts = Counter(one)
    counts.update(two)
    return dict(counts)


def _by_member(codes: Codes, kind: type[Enum]) -> dict[Any, int]:
    return dict(zip(kind, np.bincount(codes, minlength=len(kind)).tolist(), strict=True))


def _tally(values: NDArray[Any]) -> dict[Any, int]:
    found, counts = np.unique(values, return_counts=True)
    return dict(zip(map(int, found), counts.tolist(), strict=True))


def _flat(row: Roll | Mapping[str, Any]) -> list[Any]:
    """What is counted of a roll, in the order of `COUNTED`."""
    pigs = {_field(pig, "name"): pig for pig in _field(row, "pigs")}
    if set(pigs) != set(PIG_NAMES):
        raise DatasetError(f"a roll needs the pigs {' and '.join(PIG_NAMES)}")
    of_pigs = [_field(pigs[pig], name) for pig in PIG_NAMES for name in _OF_PIG]
    return [*(_field(row, name) for name in _OF_ROLL), *of_pigs]


def _field(row: object, name: str) -> Any:
    if isinstance(row, Mapping):
        if name not in row:
            raise DatasetError(f"a roll without the field `{name}`")
        value = row[name]
    else:
        value = getattr(row, name)
    return getattr(value, "value", value)  # an enum's name as it stands in JSON

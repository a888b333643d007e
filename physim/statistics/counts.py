"""How often what came up: one value that many rolls add up to.

A pig counts in `poses`, `rests` and `pairs` if its roll is ok and the pigs do
not touch: touching pigs hold each other up. `outcomes`, `scores` and `statuses`
count all rolls.

Unordered pairs of poses: the cells of a table of two-pig rolls.

Columns of a dataset, in whatever form they come, as plain arrays.

Rolls that come one by one, as columns: `Roll` values or rows of `physim roll --json`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
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
PAIRS = tuple(combinations_with_replacement(POSES, 2))  # 28, in the order of `Pose`
NAMED_PAIRS = tuple(combinations_with_replacement(NAMED_POSES, 2))  # 21
TOUCHING = "touching"  # the cell of an oinker or a piggyback


def pair_name(first: Pose, second: Pose) -> str:
    """The cell's name, the same in either order: "trotter+razorback"."""
    low, high = sorted((first, second), key=POSES.index)
    return f"{low.value}+{high.value}"


POSE_CELLS: tuple[str, ...] = tuple(pose.value for pose in NAMED_POSES)
PAIR_CELLS: tuple[str, ...] = (*(pair_name(*pair) for pair in NAMED_PAIRS), TOUCHING)


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


Codes = NDArray[np.intp]


def codes_of(column: ArrayLike, kind: type[Enum]) -> Codes:
    """Positions in `tuple(kind)` of names, or of such positions.

    Raises:
        DatasetError: an unknown name or a position out of range.
    """
    members = tuple(kind)
    values = np.asarray(column)
    if values.dtype.kind in "iu":
        if values.size and not 0 <= values.min() <= values.max() < len(members):
            raise DatasetError(f"a {kind.__name__} code outside 0 to {len(members) - 1}")
        return values.astype(np.intp)
    codes: dict[object, int] = {member.value: code for code, member in enumerate(members)}
    try:
        found = map(codes.__getitem__, values.ravel().tolist())
        return np.fromiter(found, np.intp, values.size).reshape(values.shape)
    except KeyError as error:
        raise DatasetError(f"unknown {kind.__name__} {error} in the rolls") from None


def floats_of(column: ArrayLike | Sequence[int | None]) -> NDArray[np.float64]:
    """Numbers, NaN for None.

    Raises:
        DatasetError: an entry that is neither.
    """
    try:
        return np.asarray(column, dtype=float)  # None becomes NaN
    except (TypeError, ValueError):
        raise DatasetError("a score or a rest in the rolls is no number") from None


def counted_rolls(
    statuses: Codes, outcomes: Codes, touches: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """(n,) whether a roll's pigs count: it is ok and they do not hold each other up."""
    ok = statuses == tuple(Status).index(Status.OK)
    counted: NDArray[np.bool_] = (
        ok & ~touches & (outcomes != tuple(Outcome).index(Outcome.PIGGYBACK))
    )
    return counted


_BLOCK_ROLLS = 50_000  # bounds the memory; the counts do not depend on it
_ROLL_FIELDS = ("status", "outcome", "score", "touching")
_PIG_FIELDS = ("pose", "rest")


def column_blocks(rows: Iterable[Roll | Mapping[str, Any]]) -> Iterator[dict[str, list[Any]]]:
    """The columns that `Counts.from_columns` takes, some thousand rolls at a time.

    Raises:
        DatasetError: a mapping without a field, or a roll without its two pigs.
    """
    iterator = iter(rows)
    while block := list(islice(iterator, _BLOCK_ROLLS)):
        yield _columns(block)


def _columns(rows: list[Roll | Mapping[str, Any]]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in _ROLL_FIELDS}
    columns.update({f"{pig}_{name}": [] for pig in PIG_NAMES for name in _PIG_FIELDS})
    for row in rows:
        for name in _ROLL_FIELDS:
            columns[name].append(_field(row, name))
        pigs = {_field(pig, "name"): pig for pig in _field(row, "pigs")}
        if set(pigs) != set(PIG_NAMES):
            raise DatasetError(f"a roll needs the pigs {' and '.join(PIG_NAMES)}")
        for pig in PIG_NAMES:
            for name in _PIG_FIELDS:
                columns[f"{pig}_{name}"].append(_field(pigs[pig], name))
    return columns


def _field(row: object, name: str) -> Any:
    if isinstance(row, Mapping):
        if name not in row:
            raise DatasetError(f"a roll without the field `{name}`")
        value = row[name]
    else:
        value = getattr(row, name)
    return getattr(value, "value", value)  # an enum's name as it stands in JSON

"""Columns of a dataset, in whatever form they come, as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physim.errors import DatasetError
from physim.values import Outcome, Status

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

"""Counts of samples and of the real rolls, a kind of table at a time, as regressions take them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from physim.calibrate.objective import Objective, Table
from physim.calibrate.sample import Sample
from physim.values import ExactValue, FloatArray

_BARELY = 1e-3  # pigs a sample in a cell that no sample has any in

Point = tuple[FloatArray, Sample]


@dataclass(frozen=True, eq=False)
class Kind(ExactValue):
    """Counts of one kind; the cell with the most simulated pigs comes first.

    Attributes:
        simulated: (n, d) points, (n,) heights as `surface.features` has them, (n, k) counts.
        heights: (m,) of the real counts, likewise.
        real: (m, k) counts.
    """

    simulated: tuple[FloatArray, FloatArray, FloatArray]
    heights: FloatArray
    real: NDArray[np.int64]


def kinds(points: Sequence[Point], objective: Objective) -> Iterator[Kind]:
    """The kinds of tables that are compared.

    Args:
        points: (d,) parameters on any scale, and the rolls there.
        objective: with the real rolls.
    """
    real = list(objective.tables(objective.target.sample))
    simulated = [list(objective.tables(sample)) for _, sample in points]
    x = np.array([point for point, _ in points])
    for kind in dict.fromkeys(table.kind for table in real):
        yield _of_kind(
            [table for table in real if table.kind == kind],
            [[table for table in tables if table.kind == kind] for tables in simulated],
            x,
        )


def _of_kind(real: Sequence[Table], simulated: Sequence[Sequence[Table]], x: FloatArray) -> Kind:
    mm = np.array([table.height_mm for table in real], dtype=float)
    heights = (mm - mm.mean()) / max(np.ptp(mm), 1.0)
    counts = np.array([table.counts for tables in simulated for table in tables], dtype=float)
    target = np.array([table.counts for table in real])
    there = (counts.sum(axis=0) > 0) | (target.sum(axis=0) > 0)
    counts, target = counts[:, there], target[:, there]
    counts[:, counts.sum(axis=0) == 0] = _BARELY
    first = np.argsort(-counts.sum(axis=0), kind="stable")  # the log-odds are against the first
    counts, target = counts[:, first], target[:, first]
    some = counts.sum(axis=1) > 0
    return Kind(
        (
            np.repeat(x, len(real), axis=0)[some],
            np.tile(heights, len(x))[some],
            counts[some],
        ),
        heights,
        target,
    )

"""How far a sample is from a reference table, and whether chance explains it.

Assumes independent draws: rolls for a table of pairs; for a table of poses also
the two pigs of a roll, whose independence the real rolls do not contradict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency

from physim.statistics.counts import Counts
from physim.statistics.pairs import NAMED_PAIRS, NAMED_POSES, PAIRS, TOUCHING, pair_name
from physim.statistics.tables import ReferenceTable, pool_poses
from physim.statistics.two import Difference, differences
from physim.values import Pose

CHI2, MONTE_CARLO = "chi2", "monte_carlo"
MONTE_CARLO_DRAWS = 9_999  # p in steps of 1e-4
LEAST_MONTE_CARLO_P = 1 / (MONTE_CARLO_DRAWS + 1)


@dataclass(frozen=True)
class GTest:
    """A likelihood-ratio test of two samples for one distribution.

    Attributes:
        g: the statistic, 2 sum O ln(O / E).
        df: degrees of freedom: cells that came up in either sample, less one.
        p: probability of a `g` as large or larger under one distribution.
        method: where `p` comes from, "chi2" or "monte_carlo".
        smallest_expected: the smallest expected count; below about 5 the
            chi-square distribution is no longer a good approximation.
    """

    g: float
    df: int
    p: float
    method: str
    smallest_expected: float


@dataclass(frozen=True)
class Comparison:
    """A sample beside a reference table.

    Attributes:
        table: the table.
        observed: the sample's counts in the table's cells and order.
        left_out: pigs (or rolls) of the sample in no cell, because of `other`.
        tv: total variation distance, 0 to 1; None for an empty sample.
        test: None for an empty sample.
        poses: differences of the named poses of single pigs; none for an empty sample.
        pairs: differences of a pair table's cells; none for a table of poses.
        pigs: in named poses, of the sample and of the table: what shares of `poses` are of.
        rolls: in the cells of `pairs`, likewise.
    """

    table: ReferenceTable
    observed: Mapping[str, int]
    left_out: int
    tv: float | None
    test: GTest | None
    poses: tuple[Difference, ...] = ()
    pairs: tuple[Difference, ...] = ()
    pigs: tuple[int, int] = (0, 0)
    rolls: tuple[int, int] = (0, 0)


def compare(
    counts: Counts, table: ReferenceTable, *, rng: np.random.Generator | None = None
) -> Comparison:
    """Puts counts beside a reference table; see `g_test` for `rng`.

    A table knows no `other`, so shares are of what lies as the rules name it, on both sides.
    """
    if table.cell == "pose":
        cells = {pose.value: counts.poses[pose] for pose in NAMED_POSES}
        left_out = counts.poses[Pose.OTHER]
    else:
        cells = {pair_name(*pair): counts.pairs[pair] for pair in NAMED_PAIRS}
        cells[TOUCHING] = counts.touching
        left_out = sum(counts.pairs[pair] for pair in PAIRS if Pose.OTHER in pair)
    observed = {cell: cells[cell] for cell in table.counts}
    if not sum(observed.values()):
        return Comparison(table, observed, left_out, None, None)
    one, two = list(observed.values()), list(table.counts.values())
    pooled = {pose.value: count for pose, count in pool_poses(table).items()}
    poses = {name: counts.poses[Pose(name)] for name in pooled}
    pigs = sum(poses.values()), sum(pooled.values())
    rolls = (0, 0) if table.cell == "pose" else (sum(one), table.sample_size)
    return Comparison(
        table,
        observed,
        left_out,
        total_variation(one, two),
        g_test(one, two, rng=rng),
        differences(poses, pigs[0], pooled, pigs[1]),
        differences(observed, rolls[0], table.counts, rolls[1]),
        pigs,
        rolls,
    )


def total_variation(one: Sequence[int], two: Sequence[int]) -> float:
    """Half the sum of the differences of the frequencies, 0 (equal) to 1 (disjoint).

    Args:
        one: (k,) counts, at least one above 0.
        two: (k,) counts of the other sample.

    Returns:
        The distance. Chance alone keeps it above 0, more so in small samples.
    """
    first, second = np.asarray(one, dtype=float), np.asarray(two, dtype=float)
    return float(np.abs(first / first.sum() - second / second.sum()).sum() / 2)


def g_test(
    one: Sequence[int],
    two: Sequence[int],
    *,
    rng: np.random.Generator | None = None,
    draws: int = MONTE_CARLO_DRAWS,
) -> GTest:
    """Tests two samples for one distribution, without continuity correction.

    Cells that came up in neither sample are dropped.

    Args:
        one: (k,) counts, at least one above 0.
        two: (k,) counts of the other sample.
        rng: for small expected counts: draws tables with the same margins and
            takes p from them, (1 + as large) / (1 + draws). Without it p comes
            from the chi-square distribution.
        draws: how many tables.

    Returns:
        The test.

    References:
        A. Agresti, Categorical Data Analysis, 2002, 3.2.1 (G^2) and 3.5 (same margins).
    """
    return homogeneity([one, two], rng=rng, draws=draws)


def homogeneity(
    samples: Sequence[Sequence[int]],
    *,
    rng: np.random.Generator | None = None,
    draws: int = MONTE_CARLO_DRAWS,
) -> GTest:
    """As `g_test`, for any number of samples.

    Args:
        samples: (n, k) counts, n >= 2, at least one above 0 in each row.
        rng: as for `g_test`.
        draws: as for `g_test`.
    """
    table = np.asarray(samples, dtype=np.int64)
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] == 1:
        return GTest(0.0, 0, 1.0, CHI2, float(table.min()))
    g, p, df, expected = chi2_contingency(table, correction=False, lambda_="log-likelihood")
    method = CHI2
    if rng is not None:
        p, method = _monte_carlo_p(table, expected, float(g), rng, draws), MONTE_CARLO
    return GTest(float(g), int(df), float(p), method, float(expected.min()))


def _monte_carlo_p(
    table: NDArray[np.int64],
    expected: NDArray[np.float64],
    g: float,
    rng: np.random.Generator,
    draws: int,
) -> float:
    left = np.tile(table.sum(axis=0), (draws, 1))  # of each column, for the rows still to draw
    rows = []
    for size in table[:-1].sum(axis=1).tolist():
        rows.append(_draw_row(left, size, rng))
        left = left - rows[-1]
    drawn = np.stack([*rows, left], axis=1)
    # O ln(O / E) tends to 0 with O.
    terms = drawn * np.log(np.where(drawn > 0, drawn, 1.0) / np.where(drawn > 0, expected, 1.0))
    as_large = 2 * terms.sum(axis=(1, 2)) >= g - 1e-9 * max(1.0, g)  # equal but for rounding
    return float((1 + as_large.sum()) / (1 + draws))


def _draw_row(left: NDArray[np.int64], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(draws, k) tables' next rows of that size, from what each has left of every column."""
    if (left == left[0]).all():
        return rng.multivariate_hypergeometric(left[0], size, size=len(left))
    return np.array([rng.multivariate_hypergeometric(columns, size) for columns in left])

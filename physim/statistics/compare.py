"""How far a sample is from a reference table, and whether chance explains it.

Assumes independent draws: rolls for a table of pairs; for a table of poses also
the two pigs of a roll, whose independence the real rolls do not contradict.

Two samples side by side: what differs, by how much, and more than by chance.

A sample is set beside another dataset or beside a table; both are computed and shown here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, chi2_contingency, fisher_exact

from physim.statistics.counts import NAMED_PAIRS, NAMED_POSES, PAIRS, TOUCHING, Counts, pair_name
from physim.statistics.tables import ReferenceTable, pool_poses
from physim.statistics.tests import CONFIDENCE, Interval
from physim.types import Pose

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


MATTERS_P = 0.05
_SIDES = (Pose.SIDE_DOT_UP, Pose.SIDE_DOT_DOWN, Pose.OTHER)  # no points of their own


@dataclass(frozen=True)
class Difference:
    """One pose, or pair of poses, in two samples.

    Attributes:
        name: of the pose or pair.
        one: frequency in the first sample.
        two: in the second.
        interval: 95 % of `one - two`.
        p: of Fisher's exact test, adjusted by Holm's method for all of one call of
            `differences`: poses for the poses, pairs for the pairs.
    """

    name: str
    one: float
    two: float
    interval: Interval
    p: float

    @property
    def matters(self) -> bool:
        """Whether chance hardly explains it."""
        return self.p < MATTERS_P


def differences(
    one: Mapping[str, int], one_size: int, two: Mapping[str, int], two_size: int
) -> tuple[Difference, ...]:
    """The differences of two samples.

    Args:
        one: counts of the first sample by name.
        one_size: its pigs or rolls, at least the sum of `one`.
        two: counts of the second by the same names.
        two_size: likewise.

    Returns:
        A difference a name, in the order of `one`; none where a sample is empty.

    References:
        R. G. Newcombe, Statistics in Medicine 17, 1998, method 10 (the intervals).
        S. Holm, Scandinavian Journal of Statistics 6, 1979 (the adjustment).
    """
    if not one_size or not two_size:
        return ()
    counts = [(one[name], two[name]) for name in one]
    tests = [float(fisher_exact([[a, one_size - a], [b, two_size - b]])[1]) for a, b in counts]
    return tuple(
        Difference(name, a / one_size, b / two_size, newcombe(a, one_size, b, two_size), p)
        for name, (a, b), p in zip(one, counts, holm(tests), strict=True)
    )


def side_by_side(one: Counts, two: Counts) -> tuple[Difference, ...]:
    """Every pose's difference, `other` included; none where a sample has no pigs."""
    first, second = ({pose.value: each.poses[pose] for pose in Pose} for each in (one, two))
    return differences(first, one.pigs, second, two.pigs)


def holm(p: Sequence[float]) -> list[float]:
    """p-values adjusted so that all together err with the stated rate."""
    adjusted = [0.0] * len(p)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        largest = max(largest, min(1.0, (len(p) - rank) * p[index]))
        adjusted[index] = largest
    return adjusted


def newcombe(a: int, m: int, b: int, n: int) -> Interval:
    """The 95 % interval of a/m - b/n."""
    first, second = _wilson(a, m), _wilson(b, n)
    one, two = a / m, b / n
    return Interval(
        one - two - math.hypot(one - first.low, second.high - two),
        one - two + math.hypot(first.high - one, two - second.low),
    )


def _wilson(count: int, size: int) -> Interval:
    ends = binomtest(count, size).proportion_ci(CONFIDENCE, method="wilson")
    return Interval(float(ends.low), float(ends.high))


def deserved_points(frequency: float) -> int | None:
    """The points that a pose deserves by how rare it is; None for one that never came up.

    Five points a step of a factor of four, as in the rules: with the real frequencies it gives
    their own points, 5 for razorback and trotter, 10 for the snouter, 15 for the jowler.
    """
    if frequency <= 0:
        return None
    return 5 * max(1, round(math.log(1 / frequency, 4) - 2 / 3))


def differences_to_json(found: Sequence[Difference]) -> dict[str, Any]:
    """By name."""
    return {
        it.name: {
            "frequencies": [it.one, it.two],
            "difference": it.one - it.two,
            "low": it.interval.low,
            "high": it.interval.high,
            "p": it.p,
            "matters": it.matters,
        }
        for it in found
    }


def difference_lines(kind: str, found: Sequence[Difference]) -> Iterator[str]:
    """A table in percent and percentage points, 80 columns at most, and what p means.

    Args:
        kind: what is compared, "pose" or "pair".
        found: at least one difference.
    """
    width = max(18, *(len(it.name) for it in found))
    yield f"{kind:{width}}{'A %':>7}{'B %':>7}{'A - B':>8} {'95 % interval':18}{'p (Holm)':>8}"
    for it in found:
        span = f"{100 * it.interval.low:+.2f} to {100 * it.interval.high:+.2f}"
        line = f"{it.name:{width}}{100 * it.one:>7.2f}{100 * it.two:>7.2f}"
        line += f"{100 * (it.one - it.two):>+8.2f} {span:18}{it.p:>8.2g}"
        yield line + (" *" if it.matters else "")
    yield f"p of Fisher's exact test, adjusted by Holm's method for {len(found)} {kind}s compared;"
    yield f"* below {MATTERS_P:g}: chance hardly explains it"


def two_to_json(one: Counts, two: Counts, names: tuple[str, str]) -> dict[str, Any]:
    """`samples`, `differences` and `deserved_points`, by the samples' names."""
    samples = dict(zip(names, (one, two), strict=True))
    return {
        "samples": {
            name: {"rolls": counts.rolls, "pigs": counts.pigs} for name, counts in samples.items()
        },
        "differences": differences_to_json(side_by_side(one, two)),
        "deserved_points": {name: points_of(counts) for name, counts in samples.items()},
    }


def points_of(counts: Counts) -> dict[str, int | None]:
    """The points that each pose with points would deserve by its rarity."""
    if not counts.pigs:
        return {}
    return {
        pose.value: deserved_points(counts.poses[pose] / counts.pigs)
        for pose in Pose
        if pose not in _SIDES
    }


def format_two(one: Counts, two: Counts, names: tuple[str, str]) -> str:
    """Two datasets as text of 80 columns."""
    return "\n".join(_lines(one, two, names))


def _lines(one: Counts, two: Counts, names: tuple[str, str]) -> Iterator[str]:
    for letter, name, counts in zip("AB", names, (one, two), strict=True):
        yield f"{letter}: {name}, {counts.rolls:,} rolls, {counts.pigs:,} pigs"
    found = side_by_side(one, two)
    if not found:
        yield "nothing to compare: no counted pigs"
        return
    yield "shares of all these pigs, the pose other among them"
    yield ""
    yield from difference_lines("pose", found)
    yield ""
    yield "points that rarity would deserve (5 a step of a factor of four), A and B:"
    first, second = points_of(one), points_of(two)
    for name, points in first.items():
        yield f"  {name:18}{_points(points):>4}{_points(second[name]):>6}"


def _points(points: int | None) -> str:
    return "-" if points is None else str(points)

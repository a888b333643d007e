"""Intervals and tests: samples beside each other or beside a table, and rival predictions.

Assumes independent draws: rolls for a table of pairs; for a table of poses also
the two pigs of a roll, whose independence the real rolls do not contradict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta, binomtest, chi2_contingency, fisher_exact

from physim.statistics.counts import Counts
from physim.statistics.tables import ReferenceTable, pool_poses
from physim.types import FloatArray, Pose

CONFIDENCE = 0.95
CHI2, MONTE_CARLO = "chi2", "monte_carlo"
DRAWS = 9_999  # p in steps of 1e-4
LEAST_MONTE_CARLO_P = 1 / (DRAWS + 1)
FEW_EXPECTED = 5  # below it the chi-square distribution is no good approximation
MATTERS_P = 0.05


@dataclass(frozen=True)
class Interval:
    """Low and high end of a probability's interval."""

    low: float
    high: float


def clopper_pearson(count: int, size: int, confidence: float = CONFIDENCE) -> Interval:
    """The exact two-sided binomial interval; it covers with at least `confidence`.

    In closed form; SciPy's `binomtest` searches for the same ends and takes no empty sample.

    Of no tries it goes from 0 to 1.

    Raises:
        ValueError: an argument out of range.

    References:
        C. J. Clopper, E. S. Pearson, Biometrika 26(4), 1934.
    """
    if not 0 <= count <= size or not 0 < confidence < 1:
        raise ValueError(f"no interval for {count} of {size} at confidence {confidence}")
    tail = (1 - confidence) / 2
    low = 0.0 if count == 0 else float(beta.ppf(tail, count, size - count + 1))
    high = 1.0 if count == size else float(beta.isf(tail, count + 1, size - count))
    return Interval(low, high)


@dataclass(frozen=True)
class GTest:
    """A likelihood-ratio test of samples for one distribution.

    Attributes:
        g: the statistic, 2 sum O ln(O / E).
        df: degrees of freedom.
        p: probability of a `g` as large or larger under one distribution.
        method: where `p` comes from, `CHI2` or `MONTE_CARLO`.
        smallest_expected: count of a cell.
    """

    g: float
    df: int
    p: float
    method: str
    smallest_expected: float


@dataclass(frozen=True)
class Difference:
    """One pose, or pair of poses, in two samples.

    Attributes:
        name: of the pose or pair.
        one, two: its frequencies.
        interval: 95 % of `one - two`.
        p: of Fisher's exact test, adjusted by Holm's method for all that are compared.
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


@dataclass(frozen=True)
class Comparison:
    """A sample beside a reference table.

    Attributes:
        table: the table.
        left_out: pigs (or rolls) of the sample in no cell, because of `other`.
        tv, test: total variation distance and G-test; None for an empty sample.
        poses: differences of the named poses of single pigs; none for an empty sample.
        pairs: differences of a pair table's cells; none for a table of poses.
        pigs: in named poses, of the sample and of the table: what shares of `poses` are of.
        rolls: in the cells of `pairs`, of the sample and of the table.
    """

    table: ReferenceTable
    left_out: int
    tv: float | None = None
    test: GTest | None = None
    poses: tuple[Difference, ...] = ()
    pairs: tuple[Difference, ...] = ()
    pigs: tuple[int, int] = (0, 0)
    rolls: tuple[int, int] = (0, 0)


def compare(
    counts: Counts, table: ReferenceTable, *, rng: np.random.Generator | None = None
) -> Comparison:
    """Puts counts beside a reference table.

    A table knows no `other`, so shares are of what lies as the rules name it, on both sides.

    Where an expected count is small, p comes from tables that `rng` draws.
    """
    cells, left_out = counts.pose_cells(), counts.poses[Pose.OTHER]
    if table.of_pairs:
        cells = counts.pair_cells()
        left_out = sum(n for pair, n in counts.joint.items() if Pose.OTHER in pair)
    in_cells = sum(cells.values())
    if not in_cells:
        return Comparison(table, left_out)
    one, two = list(cells.values()), list(table.counts.values())
    pooled = {pose.value: count for pose, count in pool_poses(table).items()}
    poses = counts.pose_cells()
    pigs = sum(poses.values()), sum(pooled.values())
    rolls = (in_cells, table.sample_size) if table.of_pairs else (0, 0)
    return Comparison(
        table,
        left_out,
        total_variation(one, two),
        g_test(one, two, rng=rng, only_if_few=True),
        differences(poses, pigs[0], pooled, pigs[1]),
        differences(cells, rolls[0], table.counts, rolls[1]),
        pigs,
        rolls,
    )


def side_by_side(one: Counts, two: Counts) -> tuple[Difference, ...]:
    """Every pose's difference, `other` included; none where a sample has no pigs."""
    first, second = ({pose.value: n for pose, n in each.poses.items()} for each in (one, two))
    return differences(first, one.pigs, second, two.pigs)


def total_variation(one: Sequence[int], two: Sequence[int]) -> float:
    """Half the sum of the differences of the frequencies, 0 (equal) to 1 (disjoint).

    Chance alone keeps it above 0, more so in small samples. Neither sample may be empty.
    """
    first, second = np.asarray(one, dtype=float), np.asarray(two, dtype=float)
    return float(np.abs(first / first.sum() - second / second.sum()).sum() / 2)


def g_test(
    *samples: Sequence[int],
    rng: np.random.Generator | None = None,
    draws: int = DRAWS,
    only_if_few: bool = False,
) -> GTest:
    """Tests samples for one distribution, without continuity correction.

    Cells that came up in no sample are dropped.

    Args:
        *samples: two or more of shape (k,), none of them empty.
        rng: draws tables with the same margins, from which p is taken: (1 + as large) /
            (1 + draws). Without it p comes from the chi-square distribution.
        draws: how many tables.
        only_if_few: draws only where an expected count is below `FEW_EXPECTED`.

    References:
        A. Agresti, Categorical Data Analysis, 2002, 3.2.1 (G^2) and 3.5 (same margins).
    """
    table = np.asarray(samples, dtype=np.int64)
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] == 1:
        return GTest(0.0, 0, 1.0, CHI2, float(table.min()))
    g, p, df, expected = chi2_contingency(table, correction=False, lambda_="log-likelihood")
    method, smallest = CHI2, float(expected.min())
    if rng is not None and not (only_if_few and smallest >= FEW_EXPECTED):
        p, method = _monte_carlo_p(table, expected, float(g), rng, draws), MONTE_CARLO
    return GTest(float(g), int(df), float(p), method, smallest)


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


def differences(
    one: Mapping[str, int], one_size: int, two: Mapping[str, int], two_size: int
) -> tuple[Difference, ...]:
    """The differences of counts by name, of so many pigs or rolls; none where a sample is empty.

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


def holm(p: Sequence[float]) -> list[float]:
    """p-values adjusted so that all together err with the stated rate."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(np.asarray(p)[order] * np.arange(len(p), 0, -1))
    capped: list[float] = np.minimum(adjusted, 1.0).tolist()
    return capped


def newcombe(a: int, m: int, b: int, n: int) -> Interval:
    """The 95 % interval of a/m - b/n."""
    first, second = (
        binomtest(*counted).proportion_ci(CONFIDENCE, method="wilson")
        for counted in ((a, m), (b, n))
    )
    one, two = a / m, b / n
    return Interval(
        one - two - math.hypot(one - first.low, second.high - two),
        one - two + math.hypot(first.high - one, two - second.low),
    )


def deserved_points(frequency: float) -> int | None:
    """The points that a pose deserves by how rare it is; None for one that never came up.

    Five points a step of a factor of four, as in the rules: with the real frequencies it gives
    their own points, 5 for razorback and trotter, 10 for the snouter, 15 for the jowler.
    """
    return 5 * max(1, round(math.log(1 / frequency, 4) - 2 / 3)) if frequency > 0 else None


def points_of(counts: Counts) -> dict[str, int | None]:
    """The points that each pose with points would deserve by its rarity; none without pigs."""
    beside = (Pose.SIDE_DOT_UP, Pose.SIDE_DOT_DOWN, Pose.OTHER)  # no points of their own
    return {
        pose.value: deserved_points(count / counts.pigs)
        for pose, count in counts.poses.items()
        if counts.pigs and pose not in beside
    }


@dataclass(frozen=True)
class LikelihoodRatio:
    """ln of the likelihood of counts under one prediction over that under another.

    Attributes:
        value: above 0 the counts speak for the prediction, below 0 for the other one.
        if_prediction, if_other: the mean of `value` if the one or the other were true.
        p_prediction: probability of a value as low or lower if the prediction were true.
        p_other: probability of a value as high or higher if the other one were.
    """

    value: float
    if_prediction: float
    if_other: float
    p_prediction: float
    p_other: float


def log_likelihood_ratio(
    counts: ArrayLike,
    prediction: ArrayLike,
    other: ArrayLike,
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> LikelihoodRatio:
    """Compares two predictions of independent multinomial groups, both fixed in advance.

    Args:
        counts: (groups, k) what was counted.
        prediction: (groups, k) probabilities, all above 0.
        other: (groups, k) probabilities.
        rng: draws the tables that the two p-values come from.
        draws: how many.
    """
    observed = np.asarray(counts, dtype=np.int64)
    one, two = np.asarray(prediction, dtype=float), np.asarray(other, dtype=float)
    logs, sizes = np.log(one / two), observed.sum(axis=1)

    def drawn(chances: FloatArray) -> NDArray[np.float64]:
        values = np.zeros(draws)
        for size, row, weights in zip(sizes.tolist(), chances, logs, strict=True):
            values += rng.multinomial(size, row, size=draws) @ weights
        return values

    value = float((observed * logs).sum())
    slack = 1e-9 * max(1.0, abs(value))  # equal but for rounding
    low, high = drawn(one) <= value + slack, drawn(two) >= value - slack
    return LikelihoodRatio(
        value,
        float((sizes[:, None] * one * logs).sum()),
        float((sizes[:, None] * two * logs).sum()),
        float((1 + low.sum()) / (1 + draws)),
        float((1 + high.sum()) / (1 + draws)),
    )


def smoothed(counts: ArrayLike) -> FloatArray:
    """(..., k) frequencies, half a count added to each cell so that none is 0 (Jeffreys)."""
    added = np.asarray(counts, dtype=float) + 0.5
    return np.asarray(added / added.sum(axis=-1, keepdims=True))

"""Intervals and distances against published and hand-computed values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binomtest

from physim.statistics.counts import Counts
from physim.statistics.tables import load_table
from physim.statistics.tests import MONTE_CARLO, clopper_pearson, compare, g_test, total_variation
from physim.types import Outcome, Pose
from tests.counted import counts_of

# Frequencies of the 11,954 pigs, in the order of `Pose`.
REAL = np.array([3607, 4180, 1057, 2674, 363, 73]) / 11954
POSES: list[Pose] = [pose for pose in Pose if pose is not Pose.OTHER]


@pytest.mark.parametrize(
    ("count", "size", "low", "high"),
    [
        (23, 6000, 0.00243, 0.00575),
        (1279, 6000, 0.20286, 0.22375),
        (73, 11954, 0.00479, 0.00767),
        (363, 11954, 0.02736, 0.03360),
        (1057, 11954, 0.08339, 0.09365),
        (2674, 11954, 0.21625, 0.23127),
        (3607, 11954, 0.29352, 0.31006),
        (4180, 11954, 0.34112, 0.35830),
    ],
)
def test_intervals_of_the_real_rolls(count: int, size: int, low: float, high: float) -> None:
    interval = clopper_pearson(count, size)
    assert interval.low == pytest.approx(low, abs=5.1e-6)
    assert interval.high == pytest.approx(high, abs=5.1e-6)


def test_interval_ends() -> None:
    # For 0 of n the high end solves (1 - p)^n = 0.025.
    assert clopper_pearson(0, 10).low == 0
    assert clopper_pearson(0, 10).high == pytest.approx(1 - 0.025 ** (1 / 10), rel=1e-12)
    assert clopper_pearson(10, 10).low == pytest.approx(0.025 ** (1 / 10), rel=1e-12)
    assert clopper_pearson(10, 10).high == 1
    assert clopper_pearson(0, 0).low == 0
    assert clopper_pearson(0, 0).high == 1
    with pytest.raises(ValueError, match="3 of 2"):
        clopper_pearson(3, 2)


@given(st.integers(1, 40), st.data())
def test_the_ends_have_their_tails(size: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, size))
    interval = clopper_pearson(count, size)

    def upper_tail(p: float, least: int) -> float:
        terms = (math.comb(size, k) * p**k * (1 - p) ** (size - k) for k in range(least, size + 1))
        return math.fsum(terms)

    if count > 0:
        assert upper_tail(interval.low, count) == pytest.approx(0.025, rel=1e-6)
    if count < size:
        assert 1 - upper_tail(interval.high, count + 1) == pytest.approx(0.025, rel=1e-6)


def test_total_variation_by_hand() -> None:
    assert total_variation([10, 20], [20, 10]) == pytest.approx(1 / 3)
    assert total_variation([5, 0, 0], [0, 1, 1]) == 1
    assert total_variation([1, 2, 3], [100, 200, 300]) == pytest.approx(0, abs=1e-15)
    # 1/2 (|.5 - .2| + |.3 - .4| + |.2 - .4|)
    assert total_variation([5, 3, 2], [20, 40, 40]) == pytest.approx(0.3)


def test_g_by_hand() -> None:
    test = g_test([10, 20], [20, 10])
    # Every expected count is 15; G = 2 (20 ln(10/15) + 40 ln(20/15)).
    by_hand = 2 * (20 * math.log(10 / 15) + 40 * math.log(20 / 15))
    assert by_hand == pytest.approx(6.79596, abs=1e-5)
    assert test.g == pytest.approx(by_hand, rel=1e-12)
    assert test.df == 1
    assert test.p == pytest.approx(math.erfc(math.sqrt(by_hand / 2)), rel=1e-9)
    assert test.smallest_expected == 15


def test_g_drops_cells_that_came_up_nowhere() -> None:
    assert g_test([10, 0, 20], [20, 0, 10]) == g_test([10, 20], [20, 10])
    assert g_test([10, 0], [20, 0]).p == 1
    # An empty cell of one sample counts with O ln(O / E) = 0; two degrees, p = exp(-G / 2).
    test = g_test([10, 0, 10], [10, 10, 10])
    by_hand = 2 * (20 * math.log(10 / 8) + 20 * math.log(10 / 12) + 10 * math.log(10 / 6))
    assert test.g == pytest.approx(by_hand, rel=1e-12)
    assert test.p == pytest.approx(math.exp(-by_hand / 2), rel=1e-9)


def test_monte_carlo_p_is_fishers_where_margins_fix_the_table() -> None:
    # [[3, 0], [0, 3]]: of the C(6, 3) = 20 tables with these margins 2 are as extreme.
    draws = 20_000
    test = g_test([3, 0], [0, 3], rng=np.random.default_rng(5), draws=draws)
    assert test.method == MONTE_CARLO
    # Fails a correct test with probability 1e-6.
    hits = round(test.p * (draws + 1)) - 1
    assert binomtest(hits, draws, 0.1).pvalue > 1e-6


def test_monte_carlo_agrees_with_chi_square_in_large_samples() -> None:
    one, two = [300, 340, 90, 220, 50], [3000, 3500, 950, 2100, 450]
    exact = g_test(one, two, rng=np.random.default_rng(6), draws=20_000)
    assert exact.g == g_test(one, two).g
    # Three standard errors of the draws, and 0.01 for the approximation.
    assert exact.p == pytest.approx(g_test(one, two).p, abs=0.01 + 3 * 0.5 / math.sqrt(20_000))


def _rejections(probabilities: NDArray[np.float64], *, samples: int, monte_carlo: bool) -> int:
    rng = np.random.default_rng(2006)
    rejected = 0
    for _ in range(samples):
        one = rng.multinomial(6_000, probabilities).tolist()
        two = rng.multinomial(11_954, REAL).tolist()
        test = g_test(one, two, rng=rng if monte_carlo else None, draws=199)
        rejected += test.p < 0.05
    return rejected


@pytest.mark.parametrize("monte_carlo", [False, True])
def test_error_rate_is_five_percent(monte_carlo: bool) -> None:
    """A correct test fails here with probability below 1e-4, whatever the seed."""
    rejected = _rejections(REAL, samples=300, monte_carlo=monte_carlo)
    assert binomtest(rejected, 300, 0.05).pvalue > 1e-4


@pytest.mark.parametrize("monte_carlo", [False, True])
def test_a_wrong_sample_is_rejected(monte_carlo: bool) -> None:
    """The negative control: three points of trotters become razorbacks."""
    wrong = REAL + np.array([0, 0, -0.03, 0.03, 0, 0])
    rejected = _rejections(wrong, samples=100, monte_carlo=monte_carlo)
    assert rejected >= 99
    assert binomtest(rejected, 100, 0.05).pvalue < 1e-4


def test_the_table_against_itself() -> None:
    comparison = compare(counts_of([3607, 4180, 1057, 2674, 363, 73]), load_table("kern2006"))
    assert comparison.test is not None
    assert comparison.tv == 0
    assert comparison.test.g == pytest.approx(0, abs=1e-9)
    assert comparison.test.df == 5
    assert comparison.test.p == pytest.approx(1)


def test_other_is_left_out() -> None:
    table = load_table("kern2006")
    pigs = dict(zip(POSES, [600, 700, 180, 440, 60, 20], strict=True))
    without, with_other = (
        compare(counts_of(poses), table) for poses in (pigs, {**pigs, Pose.OTHER: 500})
    )
    assert with_other.left_out == 500
    assert (with_other.tv, with_other.test) == (without.tv, without.test)


def test_pairs_and_touching() -> None:
    table = load_table("kern2006_pairs")
    zero = Counts()
    counts = Counts(
        rolls=13,
        joint={
            (Pose.SIDE_DOT_UP, Pose.TROTTER): 3,
            (Pose.TROTTER, Pose.SIDE_DOT_UP): 4,
            (Pose.TROTTER, Pose.OTHER): 2,
        },
        outcomes={**zero.outcomes, Outcome.OINKER: 3, Outcome.PIGGYBACK: 1},
    )
    comparison = compare(counts, table)
    assert {cell: n for cell, n in counts.pair_cells().items() if n} == {
        "side_dot_up+trotter": 7,
        "touching": 4,
    }
    assert comparison.left_out == 2
    assert comparison.test is not None
    assert comparison.test.df == 21


def test_an_empty_sample_has_no_distance() -> None:
    comparison = compare(Counts(), load_table("kern2006"))
    assert (comparison.tv, comparison.test) == (None, None)

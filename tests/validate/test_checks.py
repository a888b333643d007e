"""Right samples pass and wrong ones are rejected, all of them drawn."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest

from physim.statistics.counts import NAMED_POSES, Counts, total
from physim.statistics.tables import load_table, real_by_height
from physim.validate import checks
from physim.validate.checks import Check, height_checks
from physim.validate.validation import settle_checks
from tests.validate import drawn

REAL = real_by_height(load_table("kern2006_pairs").rows)
POOLED = total(REAL)


def named(found: list[Check]) -> dict[str, Check]:
    assert len({check.name for check in found}) == len(found)
    return {check.name: check for check in found}


def failed(found: list[Check]) -> set[str]:
    return {check.name for check in found if check.ok is False}


def test_the_real_frequencies_pass() -> None:
    for seed in range(5):
        sample = drawn.counts(drawn.REAL, seed=seed)
        assert failed(checks.pose_checks(sample, POOLED, seed)) == set()


def test_each_pose_stands_beside_its_exact_interval() -> None:
    found = named(checks.pose_checks(drawn.counts(drawn.REAL), POOLED, 1))
    jowler = found["poses.leaning_jowler"]  # 73 of 11,954
    assert jowler.limit == pytest.approx((0.00479, 0.00767), abs=5.1e-6)
    assert found["poses.side_dot_up"].limit == pytest.approx((0.29352, 0.31006), abs=5.1e-6)
    assert jowler.detail["real"] == 73 / 11_954


def test_two_points_from_dot_down_to_dot_up_are_rejected() -> None:
    for seed in range(5):
        wrong = drawn.counts(drawn.moved(0.02, "side_dot_down", "side_dot_up"), seed=seed)
        assert failed(checks.pose_checks(wrong, POOLED, seed)) == {
            "poses.tv",
            "poses.side_dot_up",
            "poses.side_dot_down",
            "poses.g",
        }
        assert "pairs.g" in failed(checks.pair_checks(wrong, POOLED, seed))


@pytest.mark.parametrize(("one", "two"), list(combinations(drawn.NAMES, 2)))
def test_a_mislabelled_pose_is_rejected(one: str, two: str) -> None:
    wrong = drawn.counts(drawn.swapped(one, two))
    found = failed(checks.pose_checks(wrong, POOLED, 1))
    assert {"poses.tv", "poses.g", f"poses.{one}", f"poses.{two}"} <= found


def test_the_g_test_errs_at_its_rate() -> None:
    """Both samples drawn from one distribution; a right check fails with probability 1e-4."""
    rejected = 0
    for seed in range(200):
        real = drawn.counts(drawn.REAL, n=6_000, seed=1_000 + seed)
        simulated = drawn.counts(drawn.REAL, n=6_000, seed=seed)
        rejected += named(checks.pose_checks(simulated, real, seed))["poses.g"].ok is False
    assert binomtest(rejected, 200, 0.05).pvalue > 1e-4


def test_independent_pigs_pass_the_two_pig_table() -> None:
    for seed in range(3):
        found = named(checks.pair_checks(drawn.counts(drawn.REAL, seed=seed), POOLED, seed))
        assert failed(list(found.values())) == set()
        assert found["pairs.g"].detail["p_method"] == "monte_carlo"


def test_pigs_that_copy_each_other_are_rejected_by_the_two_pig_table_alone() -> None:
    right = drawn.counts(drawn.REAL, n=50_000)
    joint = dict(right.joint)
    for black in NAMED_POSES:  # a tenth of the rolls: pink as black
        for pink in NAMED_POSES:
            gone = int(right.joint[black, pink] * 0.1)
            joint[black, pink] -= gone
            joint[black, black] += gone
    wrong = replace(right, joint=joint)
    assert "pairs.g" in failed(checks.pair_checks(wrong, POOLED, 1))
    assert "poses.g" not in failed(checks.pose_checks(wrong, POOLED, 1))


@pytest.mark.parametrize(("touching", "ok"), [(0.001, False), (0.004, True), (0.008, False)])
def test_touching_within_the_real_interval(touching: float, ok: bool) -> None:
    sample = drawn.counts(drawn.REAL, touching=touching)
    assert named(checks.pair_checks(sample, POOLED, 1))["pairs.touching"].ok is ok


def test_unnamed_rolls_have_a_limit() -> None:
    for share, ok in ((0.001, True), (0.01, False)):
        (check,) = checks.settled_checks(drawn.counts(drawn.REAL, unsettled=share))
        assert check.ok is ok
        assert check.value == pytest.approx(share, rel=0.2)


def test_heights_and_what_the_effect_of_height_means() -> None:
    by_height = [np.array(counts) / sum(counts) for counts in drawn.REAL_BY_HEIGHT]
    with_effect = drawn.rolls(100_000, 1, by_height).by_height()
    none = drawn.rolls(100_000, 1).by_height()
    against = drawn.rolls(100_000, 1, by_height[::-1]).by_height()
    ratios = []
    both = {"height.127.tv", "height.203.tv"}
    for sample, too_far in ((with_effect, set()), (none, set()), (against, both)):
        found = named(height_checks(sample, REAL, 1))
        assert failed(list(found.values())) == too_far
        ratios.append(found["height.log_likelihood_ratio"])
    right, nothing, wrong = ratios
    # The best that any prediction can do is G / 2 of the real heights against each other.
    heights = [list(counts.pose_cells().values()) for counts in REAL.values()]
    best = checks.g_test(*heights).g / 2
    assert right.value is not None and wrong.value is not None and nothing.value is not None
    assert 0.9 * best < right.value <= 1.02 * best
    assert "for the predicted effect" in right.note
    assert "against the predicted effect" in wrong.note and wrong.value < -best
    assert "too little" in nothing.note and abs(nothing.value) < 3
    assert right.detail["p_no_effect"] < 1e-3 and right.detail["p_prediction"] > 0.05
    assert wrong.detail["p_prediction"] < 1e-3
    expected = by_height[1][0] - by_height[0][0]
    assert right.detail["real_change"]["side_dot_up"] == pytest.approx(expected)
    assert right.detail["predicted_change"]["side_dot_up"] == pytest.approx(expected, abs=0.01)


def test_a_height_that_is_far_off_is_rejected() -> None:
    shares = (drawn.moved(0.05, "side_dot_down", "razorback"), drawn.REAL)
    found = failed(height_checks(drawn.rolls(100_000, 1, shares).by_height(), REAL, 1))
    assert found == {"height.127.tv"}


def test_finer_rolls_that_drift_are_rejected() -> None:
    right = drawn.counts(drawn.REAL, seed=1)
    for shift, ok in ((0.0, True), (0.02, False)):
        finer = drawn.counts(drawn.moved(shift, "razorback", "trotter"), seed=2)
        found = named(checks.convergence_checks("step", right, finer, 1))
        assert found["step.tv"].ok is ok
        assert found["step.pairs.g"].p is not None
        assert (found["step.pairs.g"].p > 1e-3) is ok


def test_fast_against_full_counts_the_rolls_that_differ() -> None:
    full = drawn.rolls(500, 3, unsettled=0.1)
    (check,) = settle_checks(drawn.rolls(800, 3, unsettled=0.1), full)
    assert (check.value, check.ok, check.detail["rolls"]) == (0, True, 500)
    (check,) = settle_checks(drawn.rolls(500, 4, unsettled=0.1), full)
    assert check.ok is False  # other random numbers
    for name, other in (("pink_rest", 9.0), ("score", np.nan), ("black_pose", "trotter")):
        damaged = {key: column.copy() for key, column in full.columns.items()}
        row = int(np.flatnonzero(full.columns["black_pose"] != "trotter")[4])
        assert not np.isnan(full.columns["score"][row])
        damaged[name][row] = other
        (check,) = settle_checks(drawn.Rolls(damaged, full.heights_m), full)
        assert (check.value, check.ok) == (1, False)
        assert check.detail["columns"][name] == 1
        assert check.detail["first_indices"] == [row]


def test_an_empty_sample_fails_and_does_not_crash() -> None:
    empty = Counts()
    found = [
        *checks.pose_checks(empty, POOLED, 1),
        *checks.pair_checks(empty, POOLED, 1),
        *checks.settled_checks(empty),
        *checks.convergence_checks("step", empty, empty, 1),
        *checks.prediction_checks("hand", empty, POOLED, 1),
    ]
    assert not any(check.ok for check in found)
    assert {"poses.tv", "poses.g", "pairs.g", "pairs.touching", "step.tv"} <= failed(found)

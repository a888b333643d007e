from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from physim.calibrate.target import HeightCounts, Objective, load_target
from physim.statistics.counts import NAMED_POSES
from tests.calibrate.made_up import HEIGHTS, SPACE, START, TRUTH, drawn, real_rolls

REAL = real_rolls()
OBJECTIVE = Objective(REAL, SPACE)


def by_hand(tables: list[tuple[list[int], list[int]]]) -> float:
    g = 0.0
    for table in tables:
        rows, total = [sum(row) for row in table], sum(map(sum, table))
        for row, size in zip(table, rows, strict=True):
            for j, count in enumerate(row):
                if count:
                    expected = size * (table[0][j] + table[1][j]) / total
                    g += 2 * count * math.log(count / expected)
    return g


def test_it_is_the_two_sample_g_of_each_height() -> None:
    sample = drawn(np.random.default_rng(5), START, 500)
    tables = []
    for height in HEIGHTS:
        one, two = ([s.poses(height)[pose] for pose in NAMED_POSES] for s in (sample, REAL))
        tables.append((one, two))
        one, two = (
            [
                s.outcome("touching", height),
                s.outcome("rolls", height) - s.outcome("touching", height),
            ]
            for s in (sample, REAL)
        )
        tables.append((one, two))
    expected = by_hand(tables)
    distance = OBJECTIVE(sample, START)
    assert distance.g == pytest.approx(expected, rel=1e-12)
    assert distance.df == 12 and distance.penalty == 0 and distance.loss == distance.g


def test_rolls_of_the_same_pig_are_as_far_as_chance_says_however_few() -> None:
    """The mean of 150 G is the degrees of freedom; error rate 1e-6 (4.9 standard errors).

    Beside it another pig, which is farther away.
    """
    rng = np.random.default_rng(6)
    other = TRUTH | {"bounce": 0.0}
    for rolls in (300, 6000):
        g = np.empty((150, 2))
        for i in range(len(g)):
            objective = Objective(drawn(rng, TRUTH, 6000), SPACE)
            for j, values in enumerate((TRUTH, other)):
                distance = objective(drawn(rng, values, rolls), values)
                g[i, j] = sum(g for name, (g, _) in distance.terms.items() if "poses" in name)
        error = math.sqrt(2 * 10 / len(g))
        # The rare poses of small samples are a little off the chi-square distribution.
        assert abs(g[:, 0].mean() - 10) < 4.9 * error + 0.5
        assert g[:, 1].mean() - 10 > 4.9 * error + 0.5


def test_rolls_without_a_pose_cost_about_two_for_each_that_would_be_expected() -> None:
    sample = drawn(np.random.default_rng(7), TRUTH, 200_000)
    before = OBJECTIVE(sample, TRUTH)
    counts = sample.counts.copy()
    for height in HEIGHTS:  # half a percent
        counts[height, "rolls", "ambiguous"], counts[height, "rolls", "unsettled"] = 300, 200
    cost = OBJECTIVE(HeightCounts(counts), TRUTH).g - before.g
    assert cost == pytest.approx(2 * 0.005 * 6000, rel=0.1)
    counts = sample.counts.copy()
    counts.update({(height, "rolls", "off_table"): 500 for height in HEIGHTS})
    assert OBJECTIVE(HeightCounts(counts), TRUTH).g == pytest.approx(before.g, abs=0.1)


def test_the_prior_is_a_normal_one() -> None:
    values = {"lead": 1.0, "bounce": -2.0, "lean": 0.0}
    assert OBJECTIVE(REAL, values).loss == pytest.approx(1 + 4)


def test_a_sample_without_named_poses_is_far_away() -> None:
    counts = Counter({(height, "rolls", "rolls"): 10 for height in HEIGHTS})
    distance = OBJECTIVE(HeightCounts(counts), TRUTH)
    assert distance.g > 1e5 and distance.tv == 1.0


def test_the_real_rolls_are_at_no_distance_from_themselves() -> None:
    real = load_target()
    distance = Objective(real, SPACE)(real, START)
    assert distance.g == pytest.approx(0, abs=1e-9) and distance.tv == 0 and distance.p == 1

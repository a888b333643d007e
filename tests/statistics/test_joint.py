"""Counts by both pigs' poses, by hand and against the published table."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, multinomial

from physim.statistics.counts import PAIR_CELLS, Counts, total
from physim.statistics.tables import load_table, real_by_height
from physim.statistics.tests import g_test, log_likelihood_ratio, smoothed
from physim.types import Outcome, Pose, Status


def drawn_columns(n: int, seed: int) -> dict[str, list[str] | list[bool]]:
    rng = np.random.default_rng(seed)
    outcomes = [rng.choice([o.value for o in Outcome]) for _ in range(n)]
    return {
        "status": [
            o if o in ("off_table", "unsettled") else rng.choice([s.value for s in Status])
            for o in outcomes
        ],
        "outcome": outcomes,
        "touching": [o in ("oinker", "piggyback") for o in outcomes],
        "black_pose": [rng.choice([p.value for p in Pose]) for _ in range(n)],
        "pink_pose": [rng.choice([p.value for p in Pose]) for _ in range(n)],
    }


def counted(columns: dict[str, Any]) -> Counts:
    nothing = [None] * len(columns["status"])
    return Counts.from_columns(**columns, score=nothing, black_rest=nothing, pink_rest=nothing)


def test_both_poses_are_counted_in_order_where_the_pigs_lie_apart() -> None:
    columns = drawn_columns(2_000, 1)
    counts = counted(columns)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    apart = [row for row in rows if row["status"] == "ok" and not row["touching"]]
    by_hand = Counter((Pose(row["black_pose"]), Pose(row["pink_pose"])) for row in apart)
    assert counts.joint == by_hand and len(by_hand) == 49
    for pig in ("black", "pink"):
        assert counts.poses_of(pig) == Counter(Pose(row[f"{pig}_pose"]) for row in apart)
    assert counts.pigs == sum(counts.poses.values()) == 2 * len(apart)
    assert counts.outcomes == Counter(Outcome(row["outcome"]) for row in rows)
    named = {f"{a.value}+{b.value}": n for (a, b), n in counts.pairs.items()}
    assert counts.pair_cells() == {cell: named.get(cell, counts.touching) for cell in PAIR_CELLS}


def test_parts_add_up() -> None:
    columns = drawn_columns(500, 2)
    halves = [
        counted({name: column[part] for name, column in columns.items()})
        for part in (slice(0, 123), slice(123, None))
    ]
    assert halves[0] + halves[1] == counted(columns)


def test_the_real_rolls_by_height_and_pig() -> None:
    joints = real_by_height(load_table("kern2006_pairs").rows)
    assert [round(1e3 * height_m) for height_m in joints] == [127, 203]
    assert [(joint.rolls, joint.touching) for joint in joints.values()] == [(3000, 11), (3000, 12)]
    assert list(total(joints).pose_cells().values()) == [3607, 4180, 1057, 2674, 363, 73]
    table = load_table("kern2006_pairs")
    assert total(joints).pair_cells() == table.counts
    # Counted here from the file: black razorbacks from 5 inches.
    razorbacks = sum(
        row.rolls for row in table.rows if row.height_in == 5 and row.black is Pose.RAZORBACK
    )
    black, pink, both = (joints[0.127].pose_cells(pig) for pig in ("black", "pink", None))
    assert black["razorback"] == razorbacks
    assert {pose: black[pose] + pink[pose] for pose in both} == both


def test_the_g_test_of_four_samples_has_its_error_rate() -> None:
    rng = np.random.default_rng(3)
    chances = [0.5, 0.3, 0.19, 0.01]
    rejected = {False: 0, True: 0}
    for _ in range(100):
        table = rng.multinomial(60, chances, size=4).tolist()
        for drawn in rejected:
            test = g_test(*table, rng=rng if drawn else None, draws=99)
            rejected[drawn] += test.p <= 0.05
    # The drawn p is right in small samples; fails a right test with probability 1e-4.
    assert binomtest(rejected[True], 100, 0.05).pvalue > 1e-4


def test_the_likelihood_ratio_by_hand_and_its_p_values() -> None:
    counts = [[7, 3], [4, 6]]
    one, two = [[0.6, 0.4], [0.5, 0.5]], [[0.55, 0.45], [0.55, 0.45]]
    found = log_likelihood_ratio(counts, one, two, np.random.default_rng(4), draws=20_000)
    by_hand = sum(
        multinomial.logpmf(n, 10, p) - multinomial.logpmf(n, 10, q)
        for n, p, q in zip(counts, one, two, strict=True)
    )
    assert found.value == pytest.approx(by_hand)
    low = high = mean = 0.0  # all 121 tables, one by one
    for a in range(11):
        for b in range(11):
            tables = [[a, 10 - a], [b, 10 - b]]
            logs = [
                sum(multinomial.logpmf(n, 10, p) for n, p in zip(tables, chances, strict=True))
                for chances in (one, two)
            ]
            ratio = logs[0] - logs[1]
            mean += float(np.exp(logs[0]) * ratio)
            low += float(np.exp(logs[0])) * (ratio <= by_hand + 1e-9)
            high += float(np.exp(logs[1])) * (ratio >= by_hand - 1e-9)
    assert found.if_prediction == pytest.approx(mean)
    assert found.p_prediction == pytest.approx(low, abs=0.015)  # four standard errors
    assert found.p_other == pytest.approx(high, abs=0.015)


def test_smoothing_leaves_no_zero() -> None:
    assert smoothed([0, 9]).tolist() == [0.5 / 10, 9.5 / 10]

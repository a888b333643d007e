"""Two samples side by side."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from physim.statistics.counts import Counts
from physim.statistics.two import deserved_points, holm, newcombe, side_by_side
from physim.statistics.two_text import format_two, two_to_json
from physim.values import Pose

REAL = {
    Pose.SIDE_DOT_UP: 3606,
    Pose.SIDE_DOT_DOWN: 4180,
    Pose.TROTTER: 1057,
    Pose.RAZORBACK: 2674,
    Pose.SNOUTER: 364,
    Pose.LEANING_JOWLER: 73,
    Pose.OTHER: 0,
}


def counts(poses: dict[Pose, int]) -> Counts:
    return replace(Counts(), rolls=sum(poses.values()) // 2, poses=poses)


def test_newcombe_s_interval_is_that_of_his_example() -> None:
    # R. G. Newcombe (1998), table II, (a) 56/70 - 48/80, method 10.
    interval = newcombe(56, 70, 48, 80)
    assert interval.low == pytest.approx(0.0524, abs=1e-4)
    assert interval.high == pytest.approx(0.3339, abs=1e-4)


def test_holm_s_method_is_that_of_a_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_the_same_sample_does_not_differ_and_a_shifted_one_does() -> None:
    assert not any(it.matters for it in side_by_side(counts(REAL), counts(REAL)))
    shifted = REAL | {Pose.TROTTER: 557, Pose.RAZORBACK: 3174}
    found = {it.pose for it in side_by_side(counts(REAL), counts(shifted)) if it.matters}
    assert found == {Pose.TROTTER, Pose.RAZORBACK}


def test_the_real_frequencies_deserve_the_points_of_the_rules() -> None:
    total = sum(REAL.values())
    expected = {
        Pose.RAZORBACK: 5,
        Pose.TROTTER: 5,
        Pose.SNOUTER: 10,
        Pose.LEANING_JOWLER: 15,
    }
    assert {pose: deserved_points(REAL[pose] / total) for pose in expected} == expected
    assert deserved_points(0.0) is None
    assert deserved_points(1e-4) == 30


def test_text_and_json_hold_both_samples() -> None:
    one, two = counts(REAL), counts(REAL | {Pose.SNOUTER: 20})
    shown = json.loads(json.dumps(two_to_json(one, two, ("a", "b"))))
    assert shown["differences"]["snouter"]["matters"]
    assert shown["deserved_points"]["b"]["snouter"] > 10
    text = format_two(one, two, ("a", "b"))
    assert all(len(line) <= 82 for line in text.splitlines())
    assert "nothing to compare" in format_two(one, Counts(), ("a", "b"))


def test_a_second_dataset_and_a_table_together_are_refused(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from physim.cli.stats import stats

    result = CliRunner().invoke(stats, [str(tmp_path), str(tmp_path), "--against", "kern2006"])
    assert result.exit_code != 0

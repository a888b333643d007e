from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from physim.calibrate.evaluate import WORTH_PIGS, RestScreening
from physim.calibrate.priors import Values
from physim.calibrate.problem import FitProblem, start_values
from physim.calibrate.target import load_target
from physim.simulator import RestTable
from physim.statistics.counts import NAMED_POSES
from physim.types import PigModel, Pose
from tests.calibrate.made_up import MadeUp


def screened(model: PigModel) -> RestScreening:
    return RestScreening.of([RestTable.of(model)] * 2)


def test_the_standard_pig_is_rolled(standard: PigModel) -> None:
    screening = screened(standard)
    assert screening.problem == "" and screening.missing == ()
    assert sum(screening.shares.values()) == pytest.approx(1)


def test_a_pig_that_lacks_a_pose_is_not(standard: PigModel) -> None:
    """Without its left ear no pig leans on it."""
    parts = tuple(part for part in standard.parts if part.label != "left_ear")
    screening = screened(replace(standard, parts=parts))
    assert Pose.LEANING_JOWLER in screening.missing
    assert "cannot lie as" in screening.problem and screening.severity >= 1


def test_a_pig_is_asked_for_no_pose_that_its_base_lacks(standard: PigModel) -> None:
    parts = tuple(part for part in standard.parts if part.label != "left_ear")
    earless = [RestTable.of(replace(standard, parts=parts))] * 2
    base = RestScreening.of(earless)
    same = RestScreening.of(earless, base)
    assert base.problem and same.problem == ""
    whole = RestScreening.of([RestTable.of(standard)] * 2)
    assert "cannot lie as" in RestScreening.of(earless, whole).problem


def test_a_box_lies_as_no_rule_says(box: Callable[..., PigModel]) -> None:
    screening = screened(box((0.02, 0.03, 0.04)))
    assert screening.shares[Pose.OTHER] > 0.5 and screening.problem
    named = {pose: 0.199 if pose is not Pose.TROTTER else 0.004 for pose in NAMED_POSES}
    few = RestScreening(named | {Pose.OTHER: 0.06}, ())
    assert "no rule says with probability 0.060" in few.problem


def test_the_deviance_is_least_at_the_real_frequencies() -> None:
    real = load_target()
    poses = real.poses()
    pigs = sum(poses.values())
    there = RestScreening({pose: n / pigs for pose, n in poses.items()}, ())
    assert there.deviance(real) == pytest.approx(0, abs=1e-9)
    shares = dict(there.shares)
    shares[Pose.RAZORBACK] += 0.05
    shares[Pose.SIDE_DOT_UP] -= 0.05
    off = RestScreening(shares, ()).deviance(real)
    # Pearson's statistic, near enough.
    expected = sum(
        WORTH_PIGS * (shares[p] - there.shares[p]) ** 2 / there.shares[p] for p in NAMED_POSES
    )
    assert off == pytest.approx(expected, rel=0.1)
    assert RestScreening(dict.fromkeys(Pose, 0.0) | {Pose.TROTTER: 1.0}, ()).deviance(real) > 1000


def test_each_start_is_where_its_name_says() -> None:
    names = ("com_up_mm", "restitution", "toss.pitch_rate_rad_s")

    def start(where: str, seed: int = 4) -> list[float]:
        values = start_values(FitProblem.named(parameters=names, start=where, seed=seed), MadeUp())
        assert tuple(values) == names
        return list(values.values())

    assert start("model") == pytest.approx([0.0, 0.42, 8.0])
    assert start("prior") == [0.0, 0.42, 8.0]
    assert start("random") == start("random") != start("random", seed=5)


class RealRests(MadeUp):
    """Rests whose shares are the real ones at (0.5, -0.25), and that need com_up above 0."""

    def screen(self, candidates: Sequence[Values]) -> list[RestScreening]:
        poses = load_target().poses()
        frequency = {pose: poses[pose] / sum(poses.values()) for pose in Pose}
        screenings: list[RestScreening] = []
        for values in candidates:
            up, forward = values["com_up_mm"] - 0.5, values["com_forward_mm"] + 0.25
            shares = dict(frequency)
            shares[Pose.RAZORBACK] -= 0.4 * up
            shares[Pose.SIDE_DOT_UP] += 0.4 * up + 0.4 * forward
            shares[Pose.SIDE_DOT_DOWN] -= 0.4 * forward
            screenings.append(
                RestScreening({}, (), no_pig="no pig")
                if up < -1.2
                else RestScreening(shares, (Pose.SNOUTER,) if up < -0.5 else ())
            )
        return screenings


def test_the_quasi_static_start_finds_rests_like_the_real_frequencies() -> None:
    names = ("com_up_mm", "com_forward_mm", "friction")
    start = start_values(FitProblem.named(parameters=names, start="quasi-static"), RealRests())
    assert start["com_up_mm"] == pytest.approx(0.45, abs=0.15)  # drawn to the prior's 0 a little
    assert start["com_forward_mm"] == pytest.approx(-0.22, abs=0.15)
    assert start["friction"] == pytest.approx(0.48)  # without rolls nothing is learnt of it

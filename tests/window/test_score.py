"""Points of a turn and the tally of a session."""

from dataclasses import replace

import pytest

from physim.render.replay import Replay
from physim.types import Outcome, Pose, Roll
from physim.window.watch import WatchScore


@pytest.fixture
def roll(replay: Replay) -> Roll:
    return replay.roll


def came_to(roll: Roll, outcome: Outcome, score: int | None, touching: bool = False) -> Roll:
    return replace(roll, outcome=outcome, score=score, touching=touching)


def test_points_add_up_until_they_are_banked_or_lost(roll: Roll) -> None:
    score = WatchScore()
    score.add(came_to(roll, Outcome.TROTTER, 5))
    score.add(came_to(roll, Outcome.SIDER, 1))
    assert (score.turn_total, score.banked) == (6, 0)
    score.bank()
    assert (score.turn_total, score.banked) == (0, 6)
    score.add(came_to(roll, Outcome.SNOUTER, 10))
    score.add(came_to(roll, Outcome.PIG_OUT, 0))
    assert (score.turn_total, score.banked) == (0, 6)
    score.add(came_to(roll, Outcome.TROTTER, 5))
    score.add(came_to(roll, Outcome.OINKER, 0, touching=True))
    assert (score.turn_total, score.banked) == (0, 0)


def test_a_roll_without_points_changes_no_total(roll: Roll) -> None:
    score = WatchScore()
    score.add(came_to(roll, Outcome.TROTTER, 5))
    score.add(came_to(roll, Outcome.AMBIGUOUS, None))
    score.add(came_to(roll, Outcome.RAZORBACK, 5), turn=False)
    assert (score.rolls, score.turn_total) == (3, 5)


def test_the_tally_leaves_out_pigs_that_touch_and_stands_beside_the_real_ones(roll: Roll) -> None:
    score = WatchScore()
    score.add(roll)
    score.add(came_to(roll, Outcome.OINKER, 0, touching=True))
    assert sum(score.poses.values()) == 2
    lines = score.tally()
    assert lines[0].startswith("2 rolls")
    shown = dict(line.split(": ", 1) for line in lines[1:])
    assert len(shown) == 6
    assert shown["razorback"].endswith("(22.4 %)")  # of 11,954 real pigs
    black = roll.pigs[0].pose
    assert black is not Pose.OTHER and shown[black.value.replace("_", " ")][0] in "12"

"""Points of a turn and the tally of a session."""

from dataclasses import replace

import pytest

from physim.render.replay import Replay
from physim.types import Outcome, Pose, Roll
from physim.window.show import Session


@pytest.fixture
def roll(replay: Replay) -> Roll:
    return replay.roll


def came_to(roll: Roll, outcome: Outcome, score: int | None, touching: bool = False) -> Roll:
    return replace(roll, outcome=outcome, score=score, touching=touching)


def test_points_add_up_until_they_are_banked_or_lost(roll: Roll) -> None:
    session = Session()
    session.add(came_to(roll, Outcome.TROTTER, 5))
    session.add(came_to(roll, Outcome.SIDER, 1))
    assert (session.turn_total, session.banked) == (6, 0)
    session.bank()
    assert (session.turn_total, session.banked) == (0, 6)
    session.add(came_to(roll, Outcome.SNOUTER, 10))
    session.add(came_to(roll, Outcome.PIG_OUT, 0))
    assert (session.turn_total, session.banked) == (0, 6)
    session.add(came_to(roll, Outcome.TROTTER, 5))
    session.add(came_to(roll, Outcome.OINKER, 0, touching=True))
    assert (session.turn_total, session.banked) == (0, 0)


def test_a_roll_without_points_changes_no_total(roll: Roll) -> None:
    session = Session()
    session.add(came_to(roll, Outcome.TROTTER, 5))
    session.add(came_to(roll, Outcome.AMBIGUOUS, None))
    session.add(came_to(roll, Outcome.RAZORBACK, 5), turn=False)
    assert (session.rolls, session.turn_total) == (3, 5)


def test_the_tally_leaves_out_pigs_that_touch_and_stands_beside_the_real_ones(roll: Roll) -> None:
    session = Session()
    session.add(roll)
    session.add(came_to(roll, Outcome.OINKER, 0, touching=True))
    assert sum(session.poses.values()) == 2
    lines = session.tally()
    assert lines[0].startswith("2 rolls")
    shown = dict(line.split(": ", 1) for line in lines[1:])
    assert len(shown) == 6
    assert shown["razorback"].endswith("(22.4 %)")  # of 11,954 real pigs
    black = roll.pigs[0].pose
    assert black is not Pose.OTHER and shown[black.value.replace("_", " ")][0] in "12"

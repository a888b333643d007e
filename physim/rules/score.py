"""The outcome and the points of one roll, from the poses of its two pigs.

Symmetric in the two pigs: nothing here depends on which one is black. What a roll
does to a turn or a game (banking, being out, hog call) is in `ruleset`.

References:
    `scores.yaml` beside this file, and the rulebook that comes with the game.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from physim import config
from physim.errors import ConfigError, hint, shown_name
from physim.types import Outcome, Pose, Status

SIDES = frozenset({Pose.SIDE_DOT_UP, Pose.SIDE_DOT_DOWN})
SCORING_POSES = (Pose.TROTTER, Pose.RAZORBACK, Pose.SNOUTER, Pose.LEANING_JOWLER)
_FLAT_OUTCOMES = (Outcome.SIDER, Outcome.PIG_OUT, Outcome.OINKER, Outcome.PIGGYBACK)
"""Of both pigs together, whatever their poses."""


@dataclass(frozen=True)
class Score:
    """A roll's name and its points; None where the rules give none."""

    outcome: Outcome
    score: int | None


def points_text(points: int | None) -> str:
    """Points in words: `no points` (None), `1 point`, `15 points`."""
    return "no points" if points is None else f"{points} point{'s' * (points != 1)}"


def outcome_of(
    black: Pose,
    pink: Pose,
    *,
    status: Status = Status.OK,
    touching: bool = False,
    piggyback: bool = False,
) -> Outcome:
    """Names a roll.

    The first that applies: off the table (either pig), unsettled, piggyback (one pig rests on the
    other), touching (oinker), ambiguous (a pig in no pose of the rules), the poses. So pigs that
    touch are an oinker whatever their poses, `other` included.
    """
    if status is Status.OFF_TABLE:
        return Outcome.OFF_TABLE
    if status is Status.UNSETTLED:
        return Outcome.UNSETTLED
    if piggyback:
        return Outcome.PIGGYBACK
    if touching:
        return Outcome.OINKER
    poses = {black, pink}
    if Pose.OTHER in poses:
        return Outcome.AMBIGUOUS
    scoring = poses - SIDES
    if not scoring:
        return Outcome.SIDER if len(poses) == 1 else Outcome.PIG_OUT
    if len(scoring) == 2:
        return Outcome.MIXED_COMBO
    (pose,) = scoring
    return Outcome(f"double_{pose.value}") if len(poses) == 1 else Outcome(pose.value)


def score_of(outcome: Outcome, black: Pose, pink: Pose) -> int | None:
    """The points of a roll; None for one off the table, unsettled or ambiguous.

    The poses count in a mixed combo only.

    Raises:
        ValueError: a mixed combo of poses that have no single value.
    """
    if outcome is not Outcome.MIXED_COMBO:
        return point_table().get(outcome)
    if len({black, pink} & {*SCORING_POSES}) < 2:
        raise ValueError(f"no mixed combo: {black.value} and {pink.value}")
    return sum(point_table()[Outcome(pose.value)] for pose in (black, pink))


def score(
    black: Pose | str, pink: Pose | str, touching: bool = False, piggyback: bool = False
) -> Score:
    """Outcome and points of two poses, each a pose or its name, such as "snouter".

    Args:
        black: pose of the one pig.
        pink: pose of the other.
        touching: the pigs rest in contact.
        piggyback: one pig rests on the other; implies touching.

    Raises:
        ConfigError: an unknown pose; the message names the nearest valid one.
    """
    first, second = pose_named(black), pose_named(pink)
    outcome = outcome_of(first, second, touching=touching, piggyback=piggyback)
    return Score(outcome, score_of(outcome, first, second))


def pose_named(name: Pose | str) -> Pose:
    """The pose of that name.

    Raises:
        ConfigError: unknown; the message names the nearest valid one.
    """
    valid = [pose.value for pose in Pose]
    if name not in valid:
        raise ConfigError(
            f"unknown pose `{shown_name(name)}`{hint(name, valid)} (valid: {', '.join(valid)})"
        )
    return Pose(name)


@cache
def point_table() -> Mapping[Outcome, int]:
    """The points of every outcome that has one fixed value, from `scores.yaml`."""
    data = config.load(Path(__file__).with_name("scores.yaml"))
    points = {outcome: data[f"{outcome.value}_points"] for outcome in _FLAT_OUTCOMES}
    for pose in SCORING_POSES:
        points[Outcome(pose.value)] = data["single_points"][pose.value]
        points[Outcome(f"double_{pose.value}")] = data["double_points"][pose.value]
    return points

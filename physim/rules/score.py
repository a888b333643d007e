"""The outcome and the points of one roll, from the poses of its two pigs.

Symmetric in the two pigs: nothing here depends on which one is black. Not
covered: what a roll does to a turn or a game (banking, being out, hog call).

References:
    `scores.yaml` beside this file, and the rulebook that comes with the game.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from physim import config
from physim.errors import ConfigError, hint, shown_name
from physim.types import Outcome, Pose, Status

SIDES = frozenset({Pose.SIDE_DOT_UP, Pose.SIDE_DOT_DOWN})
SCORING_POSES = (Pose.TROTTER, Pose.RAZORBACK, Pose.SNOUTER, Pose.LEANING_JOWLER)
SCORES_FILE = Path(__file__).with_name("scores.yaml")

# Both pigs together, whatever their poses.
_FLAT_OUTCOMES = (Outcome.SIDER, Outcome.PIG_OUT, Outcome.OINKER, Outcome.PIGGYBACK)


@dataclass(frozen=True)
class Score:
    """A roll's name and its points; None where the rules give none."""

    outcome: Outcome
    score: int | None


def points_text(points: int | None) -> str:
    """Points in words: `no points` (None), `1 point`, `15 points`."""
    return "no points" if points is None else f"{points} point{'s' * (points != 1)}"


@dataclass(frozen=True)
class ScoreTable:
    """The points of `scores.yaml`.

    Attributes:
        single: points of a pose when the other pig lies on a side.
        by_outcome: points of every outcome that has one fixed value.
    """

    single: Mapping[Pose, int]
    by_outcome: Mapping[Outcome, int]


def outcome_of(
    black: Pose,
    pink: Pose,
    *,
    status: Status = Status.OK,
    touching: bool = False,
    piggyback: bool = False,
) -> Outcome:
    """Names a roll.

    The first that applies: off the table (either pig), unsettled, piggyback,
    touching (oinker), ambiguous (a pig in no pose of the rules), the poses. So
    pigs that touch are an oinker whatever their poses, `other` included.

    Args:
        black: pose of the black pig.
        pink: pose of the pink pig.
        status: what physics did with the roll.
        touching: the pigs rest in contact.
        piggyback: one pig rests on the other; implies touching.

    Returns:
        The outcome.
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
    """The points of a roll.

    Args:
        outcome: as named by `outcome_of`.
        black: pose of the black pig; only a mixed combo looks at it.
        pink: pose of the pink pig.

    Returns:
        Points; 0 for a pig out, an oinker and a piggyback; None for a roll off
        the table, unsettled or ambiguous.

    Raises:
        ValueError: a mixed combo of poses that have no single value.
    """
    table = score_table()
    if outcome is not Outcome.MIXED_COMBO:
        return table.by_outcome.get(outcome)
    if black not in table.single or pink not in table.single:
        raise ValueError(f"no mixed combo: {black.value} and {pink.value}")
    return table.single[black] + table.single[pink]


def score(
    black: Pose | str, pink: Pose | str, touching: bool = False, piggyback: bool = False
) -> Score:
    """Outcome and points of two poses.

    Args:
        black: a pose or its name, such as "snouter".
        pink: the other pig's.
        touching: the pigs rest in contact.
        piggyback: one pig rests on the other; implies touching.

    Returns:
        The outcome and the points.

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
    try:
        return Pose(name)
    except ValueError:
        valid = [pose.value for pose in Pose]
        raise ConfigError(
            f"unknown pose `{shown_name(name)}`{hint(name, valid)} (valid: {', '.join(valid)})"
        ) from None


@cache
def score_table() -> ScoreTable:
    """The points of `scores.yaml`, read once.

    Raises:
        ConfigError: an unknown or missing key, or points that are no whole number >= 0.
    """
    where = str(SCORES_FILE)
    data = config.load(SCORES_FILE)
    flat_keys = {f"{outcome.value}_points": outcome for outcome in _FLAT_OUTCOMES}
    keys = ["single_points", "double_points", *flat_keys]
    config.check_keys(data, keys, where, required=keys)
    single = _pose_points(data, "single_points", where)
    double = _pose_points(data, "double_points", where)
    by_outcome = {outcome: _points(data, key, where) for key, outcome in flat_keys.items()}
    for pose in SCORING_POSES:
        by_outcome[Outcome(pose.value)] = single[pose]
        by_outcome[Outcome(f"double_{pose.value}")] = double[pose]
    return ScoreTable(single, by_outcome)


def _pose_points(data: Mapping[str, Any], key: str, where: str) -> dict[Pose, int]:
    names = [pose.value for pose in SCORING_POSES]
    points, where = data[key], f"{where}: {key}"
    if not isinstance(points, dict):
        raise ConfigError(f"{where}: expected one line a pose ({', '.join(names)})")
    config.check_keys(points, names, where, required=names)
    return {pose: _points(points, pose.value, where) for pose in SCORING_POSES}


def _points(data: Mapping[str, Any], key: str, where: str) -> int:
    value = config.number_at(data, key, where, low=0)
    if value != int(value):
        raise ConfigError(f"{where}: `{key}` must be a whole number of points, found {value:g}")
    return int(value)

"""The outcome and the points of one roll, and the throw that the game makes of it.

Symmetric in the two pigs: nothing here depends on which one is black. The label of a throw says
what came up: the outcome's name, or for a mixed combo both positions, such as `trotter+snouter`.
What a throw does to a turn or a game (banking, being out, Hog Call) is in `ruleset`.

References:
    `scores.yaml` beside this file, and the rulebook that comes with the game.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from pathlib import Path

from physim import config
from physim.errors import ConfigError, hint, shown_name
from physim.types import Outcome, Pose, Status

SIDES = frozenset({Pose.SIDE_DOT_UP, Pose.SIDE_DOT_DOWN})
SCORING_POSES = tuple(pose for pose in Pose if pose not in {*SIDES, Pose.OTHER})
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


@dataclass(frozen=True)
class Throw:
    """What the two pigs showed.

    Attributes:
        outcome: the name of the roll.
        points: what it is worth; 0 for a pig out, an oinker and a piggyback; None for a roll off
            the table, unsettled or ambiguous.
        poses: of both pigs, where they are known; a mixed combo always has them, unless only
            its points were typed in.
    """

    outcome: Outcome
    points: int | None
    poses: tuple[Pose, Pose] | None = None

    @cached_property
    def label(self) -> str:
        """The outcome's name; of a mixed combo both positions, joined by a plus sign."""
        if self.outcome is Outcome.MIXED_COMBO and self.poses is not None:
            return combo_label(self.poses)
        return self.outcome.value


def combo_label(poses: Iterable[Pose]) -> str:
    """Both positions of a mixed combo, the same in either order."""
    return "+".join(pose.value for pose in sorted(poses, key=list(Pose).index))


def throw_of(black: Pose, pink: Pose) -> Throw:
    """The throw of two poses of pigs that lie apart."""
    outcome = outcome_of(black, pink)
    return Throw(outcome, score_of(outcome, black, pink), (black, pink))


def labelled_throws() -> dict[str, Throw]:
    """Every throw that the rules name, by its label; mixed combos one by one."""
    points = point_table()
    throws = {outcome.value: Throw(outcome, points[outcome]) for outcome in points}
    for pair in combinations(SCORING_POSES, 2):
        throws[combo_label(pair)] = throw_of(*pair)
    for outcome in (Outcome.OFF_TABLE, Outcome.UNSETTLED, Outcome.AMBIGUOUS):
        throws[outcome.value] = Throw(outcome, None)
    return throws


def read_throw(text: str) -> Throw:
    """A throw from two poses or its label: `trotter snouter`, `trotter+snouter` or `pig_out`.

    Raises:
        ConfigError: neither; the message names the nearest valid name.
    """
    words = text.replace("+", " ").split()
    throws = labelled_throws()
    if len(words) == 2:
        return throw_of(*(pose_named(word) for word in words))
    name = " ".join(words)
    if name in throws:
        return throws[name]
    near = hint(name, throws)
    if name == Outcome.MIXED_COMBO.value:
        near = "; a mixed combo is entered by its two positions, such as trotter+snouter"
    raise ConfigError(
        f"unknown throw `{shown_name(name)}`{near} "
        f"(valid: two poses, such as `trotter snouter`, or one of {', '.join(throws)})"
    )


SHORT_POSES = {
    "t": Pose.TROTTER.value,
    "r": Pose.RAZORBACK.value,
    "s": Pose.SNOUTER.value,
    "j": Pose.LEANING_JOWLER.value,
}

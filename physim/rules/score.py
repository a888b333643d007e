"""The outcome and the points of one roll, and the throw that the game makes of it.

Symmetric in the two pigs: nothing here depends on which one is black. The label of a throw says
what came up: the outcome's name, or for a mixed combo both positions, such as `trotter+snouter`.
What a throw does to a turn or a game (banking, being out, Hog Call) is in `ruleset`.

References:
    `scores.yaml` beside this file, and the rulebook that comes with the game.
"""

from __future__ import annotations

import re
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


@cache
def labelled_throws() -> Mapping[str, Throw]:
    """Every throw that the rules name, by its label; mixed combos one by one."""
    points = point_table()
    throws = {outcome.value: Throw(outcome, points[outcome]) for outcome in points}
    for pair in combinations(SCORING_POSES, 2):
        throws[combo_label(pair)] = throw_of(*pair)
    for outcome in (Outcome.OFF_TABLE, Outcome.UNSETTLED, Outcome.AMBIGUOUS):
        throws[outcome.value] = Throw(outcome, None)
    return throws


SHORT_WORDS = {
    "t": "trotter",
    "r": "razorback",
    "s": "snouter",
    "j": "leaning_jowler",
    "jowler": "leaning_jowler",
    "up": "side_dot_up",
    "dot up": "side_dot_up",
    "down": "side_dot_down",
    "dot down": "side_dot_down",
    "out": "pig_out",
    "p": "pig_out",
    "d": "sider",
    "o": "oinker",
    "bacon": "oinker",
    "makin bacon": "oinker",
    "making bacon": "oinker",
    "off": "off_table",
    "off table": "off_table",
    "piggy back": "piggyback",
}
"""Further names of poses and throws: the rulebook's, and some that are quick to type."""
_JOINTS = re.compile(r"[^\w'’]+|_+|\b(?:and|the)\b")


def _spoken(text: str) -> tuple[str, ...]:
    """The words of a text without case, hyphens, plus signs, `and` and apostrophes."""
    words = _JOINTS.split(text.lower())
    return tuple(filter(None, (word.strip("'’") for word in words)))


@cache
def _vocabulary() -> dict[tuple[str, ...], str]:
    """The names of poses and throws by their words, short ones included."""
    single = [name for name in labelled_throws() if "+" not in name]
    names = {_spoken(name): name for name in (*single, *(pose.value for pose in Pose))}
    names |= {_spoken(short): name for short, name in SHORT_WORDS.items()}
    for words, name in list(names.items()):
        if name in SCORING_POSES:
            names[("double", *words)] = f"double_{name}"
    return names


def _names_in(words: tuple[str, ...]) -> tuple[list[str], str]:
    """The poses and throws that words name, and the first word that is of none."""
    vocabulary = _vocabulary()
    names: list[str] = []
    longest = max(map(len, vocabulary))
    while words:
        size = next((n for n in range(longest, 0, -1) if words[:n] in vocabulary), 0)
        if not size:
            return names, words[0]
        names.append(vocabulary[words[:size]])
        words = words[size:]
    return names, ""


def read_throw(text: str, commands: Iterable[str] = ()) -> Throw:
    """A throw as people write it: `trotter snouter`, `Trotter and snouter`, `t s`, `Pig Out`.

    Case, hyphens, plus signs and `and` do not count; `SHORT_WORDS` lists further names. A pose
    alone stands beside a pig on its side.

    Args:
        text: two poses or the name of a throw.
        commands: what else may be typed there, for the message.

    Raises:
        ConfigError: no throw; the message names the nearest valid word.
    """
    names, unknown = _names_in(_spoken(text))
    if unknown:
        what, help_text = ("throw or command", "`help` lists them") if commands else ("throw", "")
        near = hint(unknown, [*(word for words in _vocabulary() for word in words), *commands])
        otherwise = help_text or "name both poses, such as trotter snouter"
        raise ConfigError(f"unknown {what} `{shown_name(unknown)}`{near or f'; {otherwise}'}")
    if len(names) == 1 and names[0] in labelled_throws():
        return labelled_throws()[names[0]]
    poses = [Pose(name) for name in names if name in list(Pose)]
    if len(names) == len(poses) == 2:
        return throw_of(*poses)
    raise ConfigError(
        f"`{shown_name(text.strip())}` is no throw; name both poses, such as trotter snouter, or "
        "the throw, such as pig out"
    )

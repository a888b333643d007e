"""One throw as the game sees it: its name, its points, and its label.

The label says what came up without telling the two pigs apart: the outcome's name, or for a mixed
combo both positions, such as `trotter+snouter`. It is what a Hog Call has to match.

Hog Call: who may call, what may be called, and what a call moves.

A prediction is a text: the label of a throw (`trotter+razorback`), or the points (`15`) where the
rule set says so. A pig out, an oinker and a piggyback cannot be called.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from physim.errors import ConfigError, hint, shown_name
from physim.rules.ruleset import RuleSet
from physim.rules.score import SCORING_POSES, outcome_of, point_table, pose_named, score_of
from physim.types import Outcome, Pose


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


SHORT_POSES = dict(zip("trsj", (pose.value for pose in SCORING_POSES), strict=True))
"""Poses that score, by their first letters."""


def predictions(rules: RuleSet) -> list[str]:
    """All that may be called."""
    scoring = {label: throw for label, throw in labelled_throws().items() if throw.points}
    if rules.hog_call_predicts == "points":
        return [str(points) for points in sorted({throw.points or 0 for throw in scoring.values()})]
    return list(scoring)


def read_prediction(text: str, rules: RuleSet) -> str:
    """A prediction in its one form: `razorback trotter` and `r+t` become `trotter+razorback`.

    Raises:
        ConfigError: nothing that may be called.
    """
    valid = predictions(rules)
    words = [SHORT_POSES.get(word, word) for word in text.replace("+", " ").split()]
    for given in (" ".join(words), "+".join(words), "+".join(reversed(words))):
        if given in valid:
            return given
    raise ConfigError(
        f"a Hog Call names one of {', '.join(valid)}; `{shown_name(text)}` cannot be called"
        f"{hint(text, valid)}"
    )


def is_right(prediction: str, throw: Throw, rules: RuleSet) -> bool:
    """Whether the throw is the one that was predicted."""
    if rules.hog_call_predicts == "points":
        return prediction == str(throw.points)
    return prediction == throw.label


def transfer(rules: RuleSet, right: bool, points: int) -> tuple[int, int]:
    """What a call moves for its caller and for the roller, before the floor of zero.

    Args:
        rules: of the game.
        right: whether the call came true.
        points: of the throw.
    """
    if not right:
        return -2 * points, 2 * points
    return points if rules.hog_call_pays == "single_double" else 2 * points, -2 * points

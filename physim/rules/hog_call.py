"""Hog Call: who may call, what may be called, and what a call moves.

A prediction is a text: the label of a throw (`trotter+razorback`), or the points (`15`) where the
rule set says so. A pig out, an oinker and a piggyback cannot be called.
"""

from __future__ import annotations

from dataclasses import dataclass

from physim.errors import ConfigError, hint, shown_name
from physim.rules.ruleset import Pays, Predicts, RuleSet
from physim.rules.throws import Throw, labelled_throws
from physim.types import Pose

SHORT_POSES = {
    "t": Pose.TROTTER.value,
    "r": Pose.RAZORBACK.value,
    "s": Pose.SNOUTER.value,
    "j": Pose.LEANING_JOWLER.value,
}
"""Poses that score, by their first letters."""


@dataclass(frozen=True)
class Transfer:
    """Changes of banked points before the floor of zero: each in the full amount as written."""

    caller: int
    roller: int


def predictions(rules: RuleSet) -> list[str]:
    """All that may be called."""
    scoring = {label: throw for label, throw in labelled_throws().items() if throw.points}
    if rules.hog_call_predicts is Predicts.POINTS:
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
    if rules.hog_call_predicts is Predicts.POINTS:
        return prediction == str(throw.points)
    return prediction == throw.label


def transfer(rules: RuleSet, right: bool, points: int) -> Transfer:
    """What a call moves that came true, or did not, at a throw of so many points."""
    if not right:
        return Transfer(-2 * points, 2 * points)
    gain = points if rules.hog_call_pays is Pays.SINGLE_DOUBLE else 2 * points
    return Transfer(gain, -2 * points)

"""Rule sets: every choice that the rules of a game leave, as YAML files in `sets/`; the Hog Call.

A prediction is a text: the label of a throw (`trotter+razorback`), or the points (`15`) where the
rule set says so. A pig out, an oinker and a piggyback cannot be called.

What no rule set may choose: an unsettled or ambiguous roll is rolled again (and counted), a pig
out costs the turn, and a roll is worth what `scores.yaml` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from physim import config
from physim.errors import ConfigError, hint, shown, shown_name
from physim.rules.score import Throw, labelled_throws, read_throw
from physim.types import Outcome

SETS_FOLDER = Path(__file__).with_name("sets")
DEFAULT = "box"
MAX_TARGET = 100_000
NAMED_TARGETS = {"faster": 100, "longer": 500}


class Effect(Enum):
    """What a roll does to its roller."""

    SCORES = "scores"
    NOTHING = "nothing"
    ROLLS_AGAIN = "rolls_again"
    LOSES_TURN = "loses_turn"
    LOSES_SCORE = "loses_score"
    ELIMINATES = "eliminates"


COSTS = {
    Effect.LOSES_TURN: "lose the turn's points",
    Effect.LOSES_SCORE: "lose all points of the game",
    Effect.ELIMINATES: "out of the game",
    Effect.NOTHING: "no points",
    Effect.ROLLS_AGAIN: "throw again",
}
"""In words, what a roll without points does to its roller."""


@dataclass(frozen=True)
class RuleSet:
    """The rules of one game.

    Attributes:
        name: of the rule set, or the path it came from.
        target: points to be reached, 1 to `MAX_TARGET`.
        reach: with `exactly`, a turn that would go beyond the target banks nothing.
        end: with `end_of_round`, the highest score wins once a round ends in which somebody
            stands at the target; of equal ones the player who was earlier in the round.
        first_player: who begins; `rotation` is the next seat in every game.
        oinker_costs: all banked points, or those of the turn.
        piggyback: ends its roller's game, or costs all banked points.
        off_table: rolled again, a roll of 0 points, or the end of the turn.
        hog_call: whether calls are allowed.
        hog_call_least_points: banked by who wants to call.
        hog_call_predicts: the exact positions, or the points.
        hog_call_pays: a right call, caller's gain and roller's loss; a wrong one is double for
            both.
        title, source: one text each.
    """

    name: str = DEFAULT
    target: int = 100
    reach: Literal["at_least", "exactly"] = "at_least"
    end: Literal["at_once", "end_of_round"] = "at_once"
    first_player: Literal["chosen", "random", "rotation"] = "chosen"
    oinker_costs: Literal["game_score", "turn"] = "game_score"
    piggyback: Literal["eliminates", "costs_everything"] = "eliminates"
    off_table: Literal["roll_again", "nothing", "turn"] = "roll_again"
    hog_call: bool = True
    hog_call_least_points: int = 20
    hog_call_predicts: Literal["positions", "points"] = "positions"
    hog_call_pays: Literal["double_double", "single_double"] = "double_double"
    title: str = field(default="", compare=False)
    source: str = field(default="", compare=False)

    def reached(self, score: int) -> bool:
        """Whether that many banked points are at the target."""
        return score == self.target if self.reach == "exactly" else score >= self.target

    def overshot(self, score: int) -> bool:
        """Whether that many points are more than may be banked."""
        return self.reach == "exactly" and score > self.target

    def effect(self, outcome: Outcome) -> Effect:
        """What a roll of that name does to its roller."""
        if outcome is Outcome.PIG_OUT:
            return Effect.LOSES_TURN
        if outcome is Outcome.OINKER:
            return _EFFECTS[self.oinker_costs]
        if outcome is Outcome.PIGGYBACK:
            return _EFFECTS[self.piggyback]
        if outcome is Outcome.OFF_TABLE:
            return _EFFECTS[self.off_table]
        if outcome in (Outcome.UNSETTLED, Outcome.AMBIGUOUS):
            return Effect.ROLLS_AGAIN
        return Effect.SCORES


_EFFECTS = {
    "game_score": Effect.LOSES_SCORE,
    "turn": Effect.LOSES_TURN,
    "eliminates": Effect.ELIMINATES,
    "costs_everything": Effect.LOSES_SCORE,
    "roll_again": Effect.ROLLS_AGAIN,
    "nothing": Effect.NOTHING,
}
"""What the values of `oinker_costs`, `piggyback` and `off_table` do to a roller."""
_TYPES = get_type_hints(RuleSet)
_TEXTS = ("title", "source")
OPTIONS = tuple(item.name for item in fields(RuleSet) if item.name not in ("name", *_TEXTS))
"""The keys of a rule set that decide something."""


def rule_set_names() -> list[str]:
    """Names of the rule sets that come along."""
    return sorted(path.stem for path in SETS_FOLDER.glob("*.yaml"))


def load_rules(name: str | Path, changes: Mapping[str, object] | None = None) -> RuleSet:
    """Reads a rule set by its name or the path of its YAML file, some options changed.

    Raises:
        ConfigError: no such rule set, an unknown or missing key, or an impossible value.
    """
    text = config.text("rules", name)
    path = Path(text)
    if path.suffix not in (".yaml", ".yml"):
        known = config.one_of("rules (or a path to a .yaml file)", text, rule_set_names())
        path = SETS_FOLDER / f"{known}.yaml"
    data = config.load(path)
    config.check_keys(data, (*OPTIONS, *_TEXTS), str(path), required=OPTIONS)
    rules = _changed(RuleSet(name=text), data, str(path))
    config.check_keys(changes or {}, OPTIONS, "rules")
    return _changed(rules, changes or {}, "rules")


def from_options(name: str, options: Mapping[str, Any], where: str) -> RuleSet:
    """The rule set of a saved game.

    Raises:
        ConfigError: an unknown or missing key, or an impossible value.
    """
    config.check_keys(options, OPTIONS, where, required=OPTIONS)
    return _changed(RuleSet(name=name), options, where)


def to_options(rules: RuleSet) -> dict[str, Any]:
    """All options as plain values, in the order of the files."""
    return {name: getattr(rules, name) for name in OPTIONS}


def read_change(text: str) -> tuple[str, object]:
    """An option and its value from `key=value`.

    Raises:
        ConfigError: no such form. Key and value are checked where they are used.
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise ConfigError(
            f"a rule is changed as key=value, such as oinker_costs=turn, found {shown(text)}"
        )
    plain = value.strip()
    if plain in ("true", "false"):
        return key.strip(), plain == "true"
    digits = plain.removeprefix("-")
    short_number = digits.isascii() and digits.isdigit() and len(digits) < 20
    return key.strip(), int(plain) if short_number else plain


def _changed(rules: RuleSet, data: Mapping[str, Any], where: str) -> RuleSet:
    values = {key: _value(key, value, f"{where}: `{key}`") for key, value in data.items()}
    return replace(rules, **values)


def _value(key: str, value: object, named: str) -> Any:
    kind = _TYPES[key]
    if kind is str:
        return config.text(named, value)
    if kind is bool:
        if not isinstance(value, bool):
            raise ConfigError(f"{named} must be true or false, found {shown(value)}")
        return value
    if kind is int:
        if isinstance(value, str) and key == "target":
            value = NAMED_TARGETS.get(value, value)
        return config.whole(named, value, 1 if key == "target" else 0, MAX_TARGET)
    return config.one_of(named, value, get_args(kind))


def predictions(rules: RuleSet) -> list[str]:
    """All that may be called."""
    scoring = {label: throw for label, throw in labelled_throws().items() if throw.points}
    if rules.hog_call_predicts == "points":
        return [str(points) for points in sorted({throw.points or 0 for throw in scoring.values()})]
    return list(scoring)


def read_prediction(text: str, rules: RuleSet) -> str:
    """A prediction in its one form: `Razorback and trotter`, `r+t` become `trotter+razorback`.

    Raises:
        ConfigError: nothing that may be called.
    """
    valid, given, such = predictions(rules), text.strip(), "both positions, such as trotter+snouter"
    if rules.hog_call_predicts == "points":
        given, such = given.lower().removesuffix("points").strip(), "points, such as 5 or 20"
    else:
        with suppress(ConfigError):
            given = read_throw(text).label
    if given in valid:
        return given
    raise ConfigError(
        f"`{shown_name(text.strip())}` cannot be called{hint(text, valid)}; a Hog Call names {such}"
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

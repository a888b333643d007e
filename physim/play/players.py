"""Strategies by name: `hold:23`, `rolls:4`, `greedy`, `score_aware`, `hog_caller`, `optimal`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from physim.arguments import hint, shown_name
from physim.errors import ConfigError
from physim.game.distribution import Distribution, odds
from physim.play.solver import Solution, solve
from physim.play.strategies import (
    Greedy,
    HogCaller,
    Hold,
    Optimal,
    Rolls,
    ScoreAware,
    Strategy,
    best_prediction,
)
from physim.rules.ruleset import MAX_TARGET, RuleSet

HELP = {
    "hold": "hold:N holds at N points in the turn (20)",
    "rolls": "rolls:N throws N times a turn (3)",
    "greedy": "never holds below the target",
    "score_aware": "score_aware:N holds at about N (23), later when behind, and races at the end",
    "hog_caller": "hog_caller:N holds at N (20) and shouts whenever it may",
    "optimal": "plays as solved, with one opponent",
}
_DEFAULTS = {"hold": 20, "rolls": 3, "score_aware": 23, "hog_caller": 20}
NAMES = tuple(HELP)


def make_players(
    specs: Sequence[str],
    rules: RuleSet,
    distribution: Distribution,
    *,
    seats: int = 2,
    solution: Callable[[], Solution] | None = None,
) -> list[Strategy]:
    """Strategies from their texts.

    Args:
        specs: such as `hold:23`.
        rules: of the game.
        distribution: of the throws, for those who calculate.
        seats: players at a table.
        solution: solves the game where somebody needs it; None solves it here.

    Raises:
        ConfigError: an unknown strategy, an impossible number, or `optimal` among more than two.
    """
    solved: list[Solution] = []

    def policy_of_the_game() -> Solution:
        if not solved:
            solved.append(solution() if solution else solve(odds(distribution, rules), rules))
        return solved[0]

    read = [read_spec(spec) for spec in specs]  # all of them before anything is solved
    players: list[Strategy] = []
    for name, number in read:
        spec = name if number is None else f"{name}:{number}"
        if name == "hold":
            players.append(Hold(spec, _points(number)))
        elif name == "rolls":
            players.append(Rolls(spec, _points(number)))
        elif name == "score_aware":
            players.append(ScoreAware(spec, _points(number)))
        elif name == "hog_caller":
            prediction = best_prediction(distribution, rules)
            players.append(HogCaller(spec, _points(number), prediction))
        elif name == "greedy":
            players.append(Greedy(spec))
        else:
            if seats != 2:
                raise ConfigError(
                    f"optimal plays games of two, not of {seats}; let it play in pairs, or take "
                    "score_aware"
                )
            players.append(Optimal(spec, policy_of_the_game().policy))
    return players


def read_spec(spec: str) -> tuple[str, int | None]:
    """Name and number of a strategy; the number's default where it is left out.

    Raises:
        ConfigError: an unknown name, or a number that it does not take.
    """
    name, colon, text = spec.strip().partition(":")
    name = name.replace("-", "_")
    if name not in HELP:
        raise ConfigError(
            f"unknown strategy `{shown_name(spec)}`{hint(name, NAMES)} (valid: {', '.join(NAMES)}; "
            "with a number as in hold:23)"
        )
    if name not in _DEFAULTS:
        if colon:
            raise ConfigError(
                f"strategy `{shown_name(spec)}`: {name} takes no number; write {name}"
            )
        return name, None
    if not colon:
        return name, _DEFAULTS[name]
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    if not 1 <= number <= MAX_TARGET:
        raise ConfigError(
            f"strategy `{shown_name(spec)}`: the number must be a whole number from 1 to "
            f"{MAX_TARGET}, as in {name}:{_DEFAULTS[name]}"
        )
    return name, number


def distinct_names(specs: Iterable[str]) -> list[str]:
    """Strategies as players' names, a second one of a kind as `hold:20 (2)`."""
    seen: Counter[str] = Counter()
    names = []
    for spec in specs:
        seen[spec] += 1
        names.append(spec if seen[spec] == 1 else f"{spec} ({seen[spec]})")
    return names


def _points(number: int | None) -> int:
    assert number is not None  # of those in `_DEFAULTS`
    return number

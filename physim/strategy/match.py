"""One game of strategies against each other.

Strategies by name: `hold:23`, `rolls:4`, `greedy`, `score_aware`, `hog_caller`, `optimal`.

Distributions of throws from what has been counted: a batch, or a table of real rolls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from physim.errors import ConfigError, hint, shown_name
from physim.game.game_state import State, may_call
from physim.game.outcomes import Distribution, Outcomes, odds
from physim.rules.ruleset import MAX_TARGET, RuleSet
from physim.rules.score import SCORING_POSES
from physim.rules.throws import combo_label, labelled_throws, throw_of
from physim.statistics.counts import TOUCHING, Counts
from physim.statistics.tables import ReferenceTable, load_table
from physim.strategy.policies import (
    Greedy,
    HogCaller,
    Hold,
    Optimal,
    Rolls,
    ScoreAware,
    Strategy,
    best_prediction,
)
from physim.strategy.solver import Solution, solve
from physim.types import Outcome, Pose

MOST_THROWS = 100_000
"""After so many a game is given up: not every pair of strategies comes to an end."""


def play(
    state: State,
    players: Sequence[Strategy],
    outcomes: Outcomes,
    most_throws: int = MOST_THROWS,
) -> None:
    """Plays a game to its end, in `state`.

    Args:
        state: where it begins.
        players: one a seat.
        outcomes: where the throws come from.
        most_throws: the game is left without a winner after so many.
    """
    shouting = any(player.calls for player in players)
    while state.winner is None and state.throws < most_throws:
        player = players[state.current]
        # While a call waits for a throw that is rolled again, nobody may change their mind.
        if state.rolls and state.call is None and not player.rolls_again(state):
            state.bank()
            continue
        if shouting and state.call is None:
            shout = first_to_shout(state, players)
            if shout is not None:
                state.shout(*shout)
        state.throw(outcomes.next_throw())


def first_to_shout(state: State, players: Sequence[Strategy | None]) -> tuple[int, str] | None:
    """Of those who want to call, the first from the roller's left.

    Args:
        state: before a throw.
        players: one a seat; None for a person, who is asked elsewhere.

    Returns:
        The caller's seat and the prediction, or None.
    """
    for place in range(1, state.seats):
        seat = (state.current + place) % state.seats
        player = players[seat]
        if player is not None and player.calls and may_call(state, seat):
            prediction = player.call(state, seat)
            if prediction is not None:
                return seat, prediction
    return None


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


KERN = "kern2006"
"""The 6,000 counted rolls of two pigs, table `kern2006_pairs`: the study's single pigs tell of
no oinker."""

_TABLES = {KERN: "kern2006_pairs", "kern2006_pairs": "kern2006_pairs"}


def table_names() -> list[str]:
    """Names of the tables of real rolls that a game can be played from."""
    return list(_TABLES)


def from_table(name: str) -> Distribution:
    """The throws of a table of real two-pig rolls; pigs that touch are an oinker.

    Raises:
        ConfigError: no such table.
    """
    if name not in _TABLES:
        raise ConfigError(f"no table `{name}` of two-pig rolls (valid: {', '.join(_TABLES)})")
    return _from_pairs(name, load_table(_TABLES[name]))


def from_counts(name: str, counts: Counts) -> Distribution:
    """The throws of a batch.

    Raises:
        ConfigError: it holds no rolls.
    """
    if not counts.rolls:
        raise ConfigError(f"{name}: holds no rolls; make some with `physim batch`")
    labels: Counter[str] = Counter()
    for outcome, count in counts.outcomes.items():
        if outcome is not Outcome.MIXED_COMBO:
            labels[outcome.value] += count
    for (one, two), count in counts.pairs.items():
        if one is not two and one in SCORING_POSES and two in SCORING_POSES:
            labels[combo_label((one, two))] += count
    return _sample(name, labels)


def _from_pairs(name: str, table: ReferenceTable) -> Distribution:
    labels: Counter[str] = Counter()
    for cell, count in table.counts.items():
        if cell == TOUCHING:
            labels[Outcome.OINKER.value] += count
        else:
            one, two = (Pose(pose) for pose in cell.split("+"))
            labels[throw_of(one, two).label] += count
    return _sample(name, labels)


def _sample(name: str, labels: Counter[str]) -> Distribution:
    throws = {label: throw for label, throw in labelled_throws().items() if labels[label]}
    weights = tuple(float(labels[label]) for label in throws)
    return Distribution(name, tuple(throws.values()), weights, sum(labels.values()))

"""Strategies: who throws again, who shouts a Hog Call, and one game between them.

A strategy reads the state and changes nothing; it keeps no memory from one move to the next, so
it can sit at many tables at once. A new one is a function here and a line of `KINDS`.

Distributions of throws from what was counted: a batch, or a table of real rolls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from physim.errors import ConfigError, hint, shown_name
from physim.game.game_state import State, call_refusal
from physim.game.outcomes import Distribution, odds
from physim.rules.ruleset import MAX_TARGET, RuleSet, predictions
from physim.rules.score import SCORING_POSES, Throw, combo_label, labelled_throws, throw_of
from physim.statistics.counts import TOUCHING, Counts
from physim.statistics.tables import load_table
from physim.strategy.solver import Policy, Solution, first_wins, solve
from physim.types import Outcome, Pose

MOST_THROWS = 100_000
"""After so many a game is given up: not every pair of strategies comes to an end."""
_BEHIND_PER_POINT = 8  # points behind for which one more point is risked
_RACE = 29  # points from the target, some six throws: there a player may need no further turn


Decision = Callable[[int, State], bool]
"""Whether a player with that number goes on, where more points could help."""


@dataclass(frozen=True)
class Strategy:
    """A way to play.

    Attributes:
        spec: as on the command line, such as `hold:23`.
        wants_more: whether the current player goes on, where more points could help.
        prediction: shouted before every throw that it may call; None for a strategy without calls.
    """

    spec: str
    wants_more: Callable[[State], bool]
    prediction: str | None = None

    def banks(self, state: State) -> bool:
        """Whether the current player stops now.

        While a call waits for a throw that is rolled again, nobody may change their mind.
        """
        return state.rolls > 0 and state.call is None and not self.rolls_again(state)

    def rolls_again(self, state: State) -> bool:
        """Whether the current player throws again, after at least one throw of this turn."""
        if state.total >= state.rules.target and turn_is_done(state):
            return False
        return self.wants_more(state)


def _hold(number: int, state: State) -> bool:
    """Holds once the turn has that many points."""
    return state.turn_total < number


def _roll_count(number: int, state: State) -> bool:
    """Throws that many times a turn."""
    return state.rolls < number


def _never_hold(number: int, state: State) -> bool:
    """Never holds below the target."""
    del number, state
    return True


def _score_aware(number: int, state: State) -> bool:
    """Holds later when behind and sooner when ahead, and races once somebody is near the target.

    An assumption of ours, in the manner of "end race or keep pace".

    References:
        T. W. Neller, C. G. M. Presser, Practical Play of the Dice Game Pig, UMAP Journal 31(1),
        2010.
    """
    banked, best = state.scores[state.current], state.best_opponent()
    if max(banked, best) >= state.rules.target - _RACE:
        return True
    return state.turn_total < number + (best - banked) / _BEHIND_PER_POINT


def _solved(layers: Sequence[bytes], target: int, state: State) -> bool:
    """Follows the solution of the two-player game, whose policy is [k][i * T + j] in bytes."""
    own = state.current
    return not layers[state.turn_total][state.scores[own] * target + state.scores[1 - own]]


KINDS: dict[str, tuple[Decision | None, int | None]] = {
    "hold": (_hold, 20),
    "rolls": (_roll_count, 3),
    "greedy": (_never_hold, None),
    "score_aware": (_score_aware, 23),
    "hog_caller": (_hold, 20),
    "optimal": (None, None),
}
"""Strategies by name: when they go on, and the number that is meant where it is left out.

`hog_caller` also calls the throw with the largest product of probability and points, the best there
is in expected points; that it seldom pays is for `physim strategy` to say. `optimal` follows the
solution.
"""


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
        solution: solves the game of two where somebody needs it; None solves it here.

    Raises:
        ConfigError: an unknown strategy, an impossible number, or `optimal` among more than two.
    """
    read = [read_spec(spec) for spec in specs]  # all of them before anything is solved
    best = None
    if ("optimal", 0) in read:
        if seats != 2:
            raise ConfigError(
                f"optimal plays games of two, not of {seats}; let it play in pairs, or take "
                "score_aware"
            )
        solved = solution() if solution else solve(odds(distribution, rules), rules)
        layers = [layer.tobytes() for layer in solved.policy]  # fast to look up
        best = Strategy("optimal", partial(_solved, layers, rules.target))
    players: list[Strategy] = []
    for name, number in read:
        goes_on = KINDS[name][0]
        if goes_on is None:
            assert best is not None
            players.append(best)
            continue
        call = best_prediction(distribution, rules) if name == "hog_caller" else None
        spec = f"{name}:{number}" if number else name
        players.append(Strategy(spec, partial(goes_on, number), call))
    return players


def read_spec(spec: str) -> tuple[str, int]:
    """Name and number of a strategy; 0 for one without, and the default where it is left out.

    Raises:
        ConfigError: an unknown name, or a number that it does not take.
    """
    name, colon, text = spec.strip().partition(":")
    name = name.replace("-", "_")
    if name not in KINDS:
        raise ConfigError(
            f"unknown strategy `{shown_name(spec)}`{hint(name, KINDS)} (valid: {', '.join(KINDS)}; "
            "with a number as in hold:23)"
        )
    default = KINDS[name][1]
    if default is None and colon:
        raise ConfigError(f"strategy `{shown_name(spec)}`: {name} takes no number; write {name}")
    if not colon:
        return name, default or 0
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    if not 1 <= number <= MAX_TARGET:
        raise ConfigError(
            f"strategy `{shown_name(spec)}`: the number must be a whole number from 1 to "
            f"{MAX_TARGET}, as in {name}:{default}"
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


def play(
    state: State,
    players: Sequence[Strategy],
    throws: Iterator[Throw],
    most_throws: int = MOST_THROWS,
) -> None:
    """Plays a game to its end, in `state`; without a winner it is left after `most_throws`."""
    shouting = any(player.prediction is not None for player in players)
    while state.winner is None and state.throws < most_throws:
        player = players[state.current]
        if player.banks(state):
            state.bank()
            continue
        if shouting and state.call is None:
            shout = first_to_shout(state, players)
            if shout is not None:
                state.shout(*shout)
        state.throw(next(throws))


def first_to_shout(state: State, players: Sequence[Strategy | None]) -> tuple[int, str] | None:
    """Of those who want to call before a throw, the first from the roller's left.

    Args:
        state: before a throw.
        players: one a seat; None for a person, who is asked elsewhere.

    Returns:
        The caller's seat and the prediction.
    """
    for place in range(1, state.seats):
        seat = (state.current + place) % state.seats
        player = players[seat]
        if player is None or player.prediction is None:
            continue
        if not call_refusal(state, seat, range(state.seats)):
            return seat, player.prediction
    return None


def turn_is_done(state: State) -> bool:
    """Whether no further point could help a player who would be at the target or beyond."""
    rules = state.rules
    if rules.end == "at_once" or rules.reach == "exactly":
        return True
    return state.total > state.best_opponent()


def best_prediction(distribution: Distribution, rules: RuleSet) -> str:
    """The prediction with the largest product of probability and points."""
    worth = dict.fromkeys(predictions(rules), 0.0)
    by_points = rules.hog_call_predicts == "points"
    for throw, probability in distribution.pairs:
        label = str(throw.points) if by_points else throw.label
        if label in worth:
            worth[label] += probability * (throw.points or 0)
    return max(worth, key=worth.__getitem__)


def policy_of(strategy: Strategy, rules: RuleSet) -> Policy:
    """When it holds, of a strategy that looks at scores and turn total alone."""
    target = rules.target
    policy = np.ones((target,) * 3, dtype=bool)  # beyond the target nobody goes on
    state = State.start(rules, (0, 0))
    state.rolls = 1
    for own in range(target):
        for other in range(target):
            state.scores[:] = own, other
            for total in range(target - own):
                state.turn_total = total
                policy[total, own, other] = not strategy.rolls_again(state)
    return policy


def win_rate(strategy: Strategy, solution: Solution) -> float | None:
    """Exact share of games that a strategy wins against optimal play, each beginning half of them.

    None for a strategy that looks at more than scores and turn total, or calls.
    """
    if strategy.prediction is not None or strategy.spec.startswith("rolls:"):
        return None
    own, best = policy_of(strategy, solution.rules), solution.policy
    begins = first_wins(solution.odds, solution.rules, own, best)
    follows = 1.0 - first_wins(solution.odds, solution.rules, best, own)
    return (begins + follows) / 2


# The 6,000 counted rolls of two pigs; the study's single pigs tell of no oinker.
TABLES = {"kern2006": "kern2006_pairs", "kern2006_pairs": "kern2006_pairs"}


def from_table(name: str) -> Distribution:
    """The throws of a table of `TABLES`; pigs that touch are an oinker.

    Raises:
        ConfigError: no such table.
    """
    if name not in TABLES:
        raise ConfigError(f"no table `{name}` of two-pig rolls (valid: {', '.join(TABLES)})")
    labels: Counter[str] = Counter()
    for cell, count in load_table(TABLES[name]).counts.items():
        touching = cell == TOUCHING
        label = Outcome.OINKER.value if touching else throw_of(*map(Pose, cell.split("+"))).label
        labels[label] += count
    return _sample(name, labels)


def from_counts(name: str, counts: Counts) -> Distribution:
    """The throws of a batch.

    Raises:
        ConfigError: it holds no rolls.
    """
    if not counts.rolls:
        raise ConfigError(f"{name}: holds no rolls; make some with `physim batch`")
    labels = Counter({outcome.value: count for outcome, count in counts.outcomes.items()})
    del labels[Outcome.MIXED_COMBO.value]
    for pair, count in counts.pairs.items():
        if len({*pair} & {*SCORING_POSES}) == 2:
            labels[combo_label(pair)] += count
    return _sample(name, labels)


def _sample(name: str, labels: Counter[str]) -> Distribution:
    throws = {label: throw for label, throw in labelled_throws().items() if labels[label]}
    weights = tuple(float(labels[label]) for label in throws)
    return Distribution(name, tuple(throws.values()), weights, sum(labels.values()))

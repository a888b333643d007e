"""Strategies: who throws again, who shouts a Hog Call, and one game between them.

A strategy reads the state and changes nothing; it keeps no memory from one move to the next, so
it can sit at many tables at once. A new one is a class here and a line of `KINDS`.

Distributions of throws from what was counted: a batch, or a table of real rolls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from physim.errors import ConfigError, hint, shown_name
from physim.game.game_state import State, may_call
from physim.game.outcomes import Distribution, odds
from physim.rules.ruleset import MAX_TARGET, End, Predicts, Reach, RuleSet
from physim.rules.score import SCORING_POSES
from physim.rules.throws import Throw, combo_label, labelled_throws, predictions, throw_of
from physim.statistics.counts import TOUCHING, Counts
from physim.statistics.tables import load_table
from physim.strategy.solver import Policy, Solution, first_wins, solve
from physim.types import Outcome, Pose

MOST_THROWS = 100_000
"""After so many a game is given up: not every pair of strategies comes to an end."""
_BEHIND_PER_POINT = 8  # points behind for which one more point is risked
_RACE = 29  # points from the target, some six throws: there a player may need no further turn


class Strategy(ABC):
    """A way to play; its `spec` is as on the command line, such as `hold:23`."""

    calls = False  # whether it ever shouts

    def __init__(self, spec: str, number: int = 0) -> None:
        self.spec, self.number = spec, number

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

    @abstractmethod
    def wants_more(self, state: State) -> bool:
        """As `rolls_again`, where more points could help."""

    def call(self, state: State, caller: int) -> str | None:
        """A prediction of the next throw, or None; asked only if the seat `caller` may call."""
        del state, caller
        return None


class Hold(Strategy):
    """Holds once the turn has that many points."""

    def wants_more(self, state: State) -> bool:
        return state.turn_total < self.number


class RollCount(Strategy):
    """Throws that many times a turn."""

    def wants_more(self, state: State) -> bool:
        return state.rolls < self.number


class Greedy(Strategy):
    """Never holds below the target."""

    def wants_more(self, state: State) -> bool:
        del state
        return True


class ScoreAware(Strategy):
    """Holds later when behind and sooner when ahead, and races once somebody is near the target.

    An assumption of ours, in the manner of "end race or keep pace".

    References:
        T. W. Neller, C. G. M. Presser, Practical Play of the Dice Game Pig, UMAP Journal 31(1),
        2010.
    """

    def wants_more(self, state: State) -> bool:
        banked, best = state.scores[state.current], state.best_opponent()
        if max(banked, best) >= state.rules.target - _RACE:
            return True
        return state.turn_total < self.number + (best - banked) / _BEHIND_PER_POINT


class HogCaller(Hold):
    """Holds at that many points, and shouts before every throw that it may call.

    It calls the throw with the largest product of probability and points, the best there is in
    expected points; that it seldom pays is for `physim strategy` to say.
    """

    calls = True

    def __init__(self, spec: str, number: int, prediction: str) -> None:
        super().__init__(spec, number)
        self.prediction = prediction

    def call(self, state: State, caller: int) -> str | None:
        del state, caller
        return self.prediction


class Optimal(Strategy):
    """Follows the solution of the two-player game."""

    def __init__(self, spec: str, policy: Policy) -> None:
        super().__init__(spec)
        self._target = len(policy)
        self._holds = [layer.tobytes() for layer in policy]  # [k][i * T + j]; fast to look up

    def wants_more(self, state: State) -> bool:
        own = state.current
        here = state.scores[own] * self._target + state.scores[1 - own]
        return not self._holds[state.turn_total][here]


KINDS: dict[str, tuple[type[Strategy], int | None]] = {
    "hold": (Hold, 20),
    "rolls": (RollCount, 3),
    "greedy": (Greedy, None),
    "score_aware": (ScoreAware, 23),
    "hog_caller": (HogCaller, 20),
    "optimal": (Optimal, None),
}
"""Strategies by name, and the number of each that takes one where it is left out."""


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
    if "optimal" in dict(read):
        if seats != 2:
            raise ConfigError(
                f"optimal plays games of two, not of {seats}; let it play in pairs, or take "
                "score_aware"
            )
        solved = solution() if solution else solve(odds(distribution, rules), rules)
        best = Optimal("optimal", solved.policy)
    players: list[Strategy] = []
    for name, number in read:
        spec, kind = f"{name}:{number}" if number else name, KINDS[name][0]
        if kind is HogCaller:
            players.append(HogCaller(spec, number, best_prediction(distribution, rules)))
        else:
            players.append(best if best and kind is Optimal else kind(spec, number))
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
    shouting = any(player.calls for player in players)
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
        if player is not None and player.calls and may_call(state, seat):
            prediction = player.call(state, seat)
            if prediction is not None:
                return seat, prediction
    return None


def turn_is_done(state: State) -> bool:
    """Whether no further point could help a player who would be at the target or beyond."""
    rules = state.rules
    if rules.end is End.AT_ONCE or rules.reach is Reach.EXACTLY:
        return True
    return state.total > state.best_opponent()


def best_prediction(distribution: Distribution, rules: RuleSet) -> str:
    """The prediction with the largest product of probability and points."""
    worth = dict.fromkeys(predictions(rules), 0.0)
    by_points = rules.hog_call_predicts is Predicts.POINTS
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
    if isinstance(strategy, RollCount) or strategy.calls:
        return None
    own, best = policy_of(strategy, solution.rules), solution.policy
    begins = first_wins(solution.odds, solution.rules, own, best)
    follows = 1.0 - first_wins(solution.odds, solution.rules, best, own)
    return (begins + follows) / 2


# The 6,000 counted rolls of two pigs; the study's single pigs tell of no oinker.
TABLES = {"kern2006": "kern2006_pairs", "kern2006_pairs": "kern2006_pairs"}


def from_table(name: str) -> Distribution:
    """The throws of a table of real two-pig rolls; pigs that touch are an oinker.

    Raises:
        ConfigError: no such table.
    """
    if name not in TABLES:
        raise ConfigError(f"no table `{name}` of two-pig rolls (valid: {', '.join(TABLES)})")
    labels: Counter[str] = Counter()
    for cell, count in load_table(TABLES[name]).counts.items():
        if cell == TOUCHING:
            labels[Outcome.OINKER.value] += count
        else:
            labels[throw_of(*map(Pose, cell.split("+"))).label] += count
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

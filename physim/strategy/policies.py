"""A strategy written out: what it does at every score of a two-player game.

Who decides: each strategy says after a throw whether to throw again, and may shout a Hog Call.

A strategy reads the state and changes nothing; it keeps no memory from one move to the next, so
it can sit at many tables at once.

When a Hog Call pays: what it does to the caller's probability to win.

One call, before the first throw of the other player's turn; after it both play on optimally and
without further calls, which is an assumption: how people answer calls with calls is not solved.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from physim.game.game_state import State
from physim.game.outcomes import Distribution
from physim.rules.hog_call import is_right, predictions, transfer
from physim.rules.ruleset import Effect, End, Predicts, Reach, RuleSet
from physim.rules.throws import Throw
from physim.strategy.solver import FloatArray, Policy, Solution, Sweep, check_solvable, first_wins
from physim.types import ExactValue


def is_policy(strategy: Strategy) -> bool:
    """Whether scores and turn total are all that it looks at, and it does not call."""
    return not isinstance(strategy, Rolls) and not strategy.calls


def policy_of(strategy: Strategy, rules: RuleSet) -> Policy:
    """Whether it holds, [points in the turn, own banked, the other's].

    Args:
        strategy: one for which `is_policy` is true.
        rules: of the game.

    Raises:
        ConfigError: rules that the solver does not cover.
    """
    check_solvable(rules)
    target = rules.target
    policy = np.ones((target,) * 3, dtype=bool)  # beyond the target nobody goes on
    state = State.start(rules, (0, 0))
    state.rolls = 1
    for own in range(target):
        for other in range(target):
            state.scores[0], state.scores[1] = own, other
            for total in range(target - own):
                state.turn_total = total
                policy[total, own, other] = not strategy.rolls_again(state)
    return policy


def win_rate(strategy: Strategy, solution: Solution) -> float | None:
    """Exact share of games that a strategy wins against optimal play, each beginning half of them.

    Returns:
        None for a strategy that looks at more than the scores and the turn total, or calls.
    """
    if not is_policy(strategy):
        return None
    own = policy_of(strategy, solution.rules)
    odds, rules, best = solution.odds, solution.rules, solution.policy
    begins = first_wins(odds, rules, own, best)
    follows = 1.0 - first_wins(odds, rules, best, own)
    return (begins + follows) / 2


_BEHIND_PER_POINT = 8  # points behind for which one more point is risked
_RACE = 29  # points from the target, some six throws: there a player may need no further turn


class Strategy(ABC):
    """A way to play.

    Attributes:
        spec: as on the command line, such as `hold:23`.
        calls: whether it ever shouts.
    """

    calls = False

    def __init__(self, spec: str) -> None:
        self.spec = spec

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

    def __init__(self, spec: str, points: int) -> None:
        super().__init__(spec)
        self.points = points

    def wants_more(self, state: State) -> bool:
        return state.turn_total < self.points


class Rolls(Strategy):
    """Throws that many times a turn."""

    def __init__(self, spec: str, rolls: int) -> None:
        super().__init__(spec)
        self.rolls = rolls

    def wants_more(self, state: State) -> bool:
        return state.rolls < self.rolls


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

    def __init__(self, spec: str, points: int) -> None:
        super().__init__(spec)
        self.points = points

    def wants_more(self, state: State) -> bool:
        banked, best = state.scores[state.current], state.best_opponent()
        if max(banked, best) >= state.rules.target - _RACE:
            return True
        behind = (best - banked) / _BEHIND_PER_POINT
        return state.turn_total < self.points + behind


class HogCaller(Hold):
    """Holds at that many points, and shouts before every throw that it may call.

    It calls the throw with the largest product of probability and points, the best there is in
    expected points; that it seldom pays is for `physim strategy` to say.
    """

    calls = True

    def __init__(self, spec: str, points: int, prediction: str) -> None:
        super().__init__(spec, points)
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


def turn_is_done(state: State) -> bool:
    """Whether no further point could help a player who would be at the target or beyond."""
    rules = state.rules
    if rules.end is End.AT_ONCE or rules.reach is Reach.EXACTLY:
        return True
    return state.total > state.best_opponent()


def best_prediction(distribution: Distribution, rules: RuleSet) -> str:
    """What to call: the largest product of probability and points."""
    worth = dict.fromkeys(predictions(rules), 0.0)
    by_points = rules.hog_call_predicts is Predicts.POINTS
    for throw, probability in zip(
        distribution.throws, distribution.probabilities.tolist(), strict=True
    ):
        label = str(throw.points) if by_points else throw.label
        if label in worth:
            worth[label] += probability * (throw.points or 0)
    return max(worth, key=worth.__getitem__)


_CLEAR = 1e-6  # a gain in probability below the solver's errors is none


@dataclass(frozen=True)
class CallValue:
    """A prediction, whatever the scores.

    Attributes:
        prediction: what is called.
        probability: that it comes true.
        expected_points: the caller's banked points change by that on average, the floor of zero
            left aside.
        roller_points: likewise the roller's.
    """

    prediction: str
    probability: float
    expected_points: float
    roller_points: float


@dataclass(frozen=True, eq=False)
class CallStudy(ExactValue):
    """All predictions at all scores.

    Attributes:
        values: a prediction each, the most frequent first.
        gain: (T, T) what the best call adds to the caller's probability to win, [roller's banked,
            caller's]; NaN where nobody may call.
        best: (T, T) index in `values` of the best call.
    """

    values: tuple[CallValue, ...]
    gain: FloatArray
    best: NDArray[np.intp]

    @property
    def pays(self) -> NDArray[np.bool_]:
        """(T, T) whether the best call helps the caller."""
        with np.errstate(invalid="ignore"):
            pays: NDArray[np.bool_] = self.gain > _CLEAR
        return pays


def study_calls(distribution: Distribution, solution: Solution) -> CallStudy | None:
    """What each call does.

    Args:
        distribution: of the throws.
        solution: of the game without calls.

    Returns:
        None for rules without Hog Call, and where the target must be reached exactly: transfers
        lead beyond it, which the solution does not cover.
    """
    rules = solution.rules
    if not rules.hog_call or rules.reach is Reach.EXACTLY:
        return None
    counted = {
        throw: probability
        for throw, probability in zip(
            distribution.throws, distribution.probabilities.tolist(), strict=True
        )
        if rules.effect(throw.outcome) is not Effect.ROLLS_AGAIN and probability > 0
    }
    whole = sum(counted.values())
    throws = {throw: p / whole for throw, p in counted.items() if throw.points}
    table = _Outcomes(solution, {throw.points or 0 for throw in throws})
    values = [_value(prediction, throws, solution) for prediction in predictions(rules)]
    values = sorted((value for value in values if value.probability), key=lambda v: -v.probability)
    shape = (rules.target, rules.target)
    # All wrong, and then what it changes that one of them is right.
    all_wrong = sum((p * table.change(t, False) for t, p in throws.items()), np.zeros(shape))
    gains = np.stack(
        [
            all_wrong
            + sum(
                p * (table.change(throw, True) - table.change(throw, False))
                for throw, p in throws.items()
                if is_right(value.prediction, throw, rules)
            )
            for value in values
        ]
    )
    gain = gains.max(axis=0)
    gain[:, : rules.hog_call_least_points] = np.nan
    return CallStudy(tuple(values), gain, gains.argmax(axis=0))


class _Outcomes:
    """What a throw of the roller's does to the caller's probability to win, called or not."""

    def __init__(self, solution: Solution, points: set[int]) -> None:
        self._rules = solution.rules
        sweep = Sweep(solution.odds, solution.rules)
        target = solution.rules.target
        self._values = sweep.by_turn_total(solution.values, {p for p in points if p < target})
        self._sure = np.ones((target, target))  # the roller banks and has won

    def change(self, throw: Throw, right: bool) -> FloatArray:
        """(T, T) [roller's banked, caller's]: with the transfer less without it."""
        target, points = self._rules.target, throw.points or 0
        values = self._values.get(points, self._sure)
        moved = transfer(self._rules, right, points)
        roller = np.maximum(0, np.arange(target) + moved.roller)
        caller = np.maximum(0, np.arange(target) + moved.caller)
        after = values[np.ix_(np.minimum(roller, target - 1), np.minimum(caller, target - 1))]
        after[roller >= target, :] = 1.0  # at most one of the two has gained
        after[:, caller >= target] = 0.0
        change: FloatArray = values - after
        return change


def _value(prediction: str, throws: dict[Throw, float], solution: Solution) -> CallValue:
    rules = solution.rules
    probability = caller = roller = 0.0
    for throw, p in throws.items():
        right = is_right(prediction, throw, rules)
        moved = transfer(rules, right, throw.points or 0)
        probability += p * right
        caller += p * moved.caller
        roller += p * moved.roller
    return CallValue(prediction, probability, caller, roller)

"""When a Hog Call pays: what it does to the caller's probability to win.

One call, before the first throw of the other player's turn; after it both play on optimally and
without further calls, which is an assumption: how people answer calls with calls is not solved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from physim.game.distribution import Distribution
from physim.play.solver import FloatArray, Solution, Sweep
from physim.rules.hog_call import is_right, predictions, transfer
from physim.rules.ruleset import Effect, Reach
from physim.rules.throws import Throw
from physim.values import ExactValue

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

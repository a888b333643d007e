"""Who decides: each strategy says after a throw whether to throw again, and may shout a Hog Call.

A strategy reads the state and changes nothing; it keeps no memory from one move to the next, so
it can sit at many tables at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from physim.game.distribution import Distribution
from physim.game.state import State
from physim.play.solver import Policy
from physim.rules.hog_call import predictions
from physim.rules.ruleset import End, Predicts, Reach, RuleSet

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

"""What the next throw risks, and whether to take it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from physim.errors import ConfigError
from physim.game.game_state import State
from physim.game.outcomes import Distribution, ThrowOdds, odds
from physim.rules.ruleset import End, RuleSet
from physim.strategy.policies import turn_is_done
from physim.strategy.solver import Solution, Sweep, break_even, check_solvable

SOON = 100  # a target up to which a game is solved in about a second


class Adviser:
    """Knows the odds; solves the game of two when it is asked for the first time."""

    def __init__(
        self, distribution: Distribution, rules: RuleSet, solved: Callable[[], Solution]
    ) -> None:
        """Takes the throws that are expected, the rules, and what solves the game of two."""
        self.distribution, self._rules, self._solved = distribution, rules, solved

    @cached_property
    def odds(self) -> ThrowOdds:
        """Of one throw."""
        return odds(self.distribution, self._rules)

    @cached_property
    def solution(self) -> Solution:
        """Of the game of two."""
        return self._solved()

    def risk(self, state: State) -> str:
        """The next throw in one line: what may be lost, and what it brings on average."""
        chances, banked, turn = self.odds, state.scores[state.current], state.turn_total
        ends = f"lose the turn's {turn}" if turn else "end the turn"
        parts = [f"{100 * chances.loses_turn:.1f} % {ends}"]
        if chances.loses_score and banked + turn:
            parts.append(f"{100 * chances.loses_score:.1f} % all {banked + turn}")
        if chances.eliminates:
            parts.append(f"{100 * chances.eliminates:.1f} % the game")
        lost = chances.ends_turn * turn + (chances.loses_score + chances.eliminates) * banked
        return f"Next throw: {', '.join(parts)}; {chances.expected_points - lost:+.1f} on average."

    def advise(self, state: State) -> list[str]:
        """Whether to throw or to bank, and why."""
        if state.call is not None:
            return ["A Hog Call waits: throw."]
        if state.rolls and state.total >= state.rules.target and turn_is_done(state):
            return ["Bank: no further point could help."]
        ahead = _out_of_reach(state)
        if ahead is not None:
            return [f"Throw: the round is the last, and {state.total} are no more than {ahead}."]
        if state.seats == 2 and self._solvable():
            return self._best(state)
        return [self._even(state)]

    def _solvable(self) -> bool:
        try:
            check_solvable(self._rules)
        except ConfigError:
            return False
        return self._rules.target <= SOON

    def _even(self, state: State) -> str:
        """By points alone."""
        banked, turn = state.scores[state.current], state.turn_total
        even = break_even(self.odds, banked)
        if even is None:
            return "Throw: nothing can be lost."
        if not state.rolls:
            return f"Throw, and go on while the turn has fewer than {even:.1f} points."
        verdict = "Throw" if turn < even else "Bank"
        return (
            f"{verdict}: a throw gains on average while the turn has fewer than {even:.1f} "
            f"points; it has {turn}."
        )

    def _best(self, state: State) -> list[str]:
        """By the probability to win against best play, Hog Calls left aside."""
        own, other = state.scores[state.current], state.scores[1 - state.current]
        if max(own, other) >= self._rules.target:  # beyond a target to be reached exactly
            return [self._even(state)]
        hold = int(self.solution.hold_values()[own, other])
        plan = f"Best play at {own} to {other} holds at {hold} points in the turn."
        if not state.rolls:
            return [f"Throw. {plan}"]
        throw, bank = self.win_probabilities(own, other, state.turn_total)
        verdict = "Throw" if throw > bank else "Bank"
        return [f"{verdict}: {100 * throw:.1f} % to win by a throw, {100 * bank:.1f} % by banking.",
                plan]  # fmt: skip

    def win_probabilities(self, own: int, other: int, turn: int) -> tuple[float, float]:
        """Of throwing once more and of banking, with best play after it.

        Args:
            own: banked points of the player whose turn it is, below the target.
            other: the other player's, likewise.
            turn: points in the turn, such that banking would not reach the target.
        """
        target, chances, values = self._rules.target, self.odds, self.solution.values
        after = {turn + points for points in chances.points}
        sweep = Sweep(chances, self._rules)
        worth = sweep.by_turn_total(values, {total for total in after if total < target})
        nothing = 1.0 - float(values[other, own])  # the turn ends, the score stays
        throw = chances.loses_turn * nothing
        throw += chances.loses_score * (1.0 - float(values[other, 0]))
        stays = 0.0
        for points, probability in zip(chances.points, chances.probabilities, strict=True):
            total = turn + points
            if points == 0:
                stays = probability
            elif total in worth:
                throw += probability * float(worth[total][own, other])
            else:
                reached = own + total == target or not self._rules.overshot(own + total)
                throw += probability * (1.0 if reached else nothing)
        return throw / (1.0 - stays), 1.0 - float(values[other, own + turn])


def _out_of_reach(state: State) -> int | None:
    """The score that wins in this round already, if banking now would not pass it."""
    rules = state.rules
    if rules.end is End.AT_ONCE:
        return None
    others = [state.scores[seat] for seat in state.playing if seat != state.current]
    best = max((score for score in others if rules.reached(score)), default=None)
    return best if best is not None and state.total <= best else None

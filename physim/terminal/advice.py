"""What the next throw risks, and whether to take it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from physim.game.game_state import State
from physim.game.outcomes import Distribution, odds
from physim.rules.ruleset import RuleSet
from physim.strategy.policies import turn_is_done
from physim.strategy.solver import SOON, Solution, break_even, sweep


class Adviser:
    """Knows the odds; solves the game of two when it is asked for the first time."""

    def __init__(
        self, distribution: Distribution, rules: RuleSet, solved: Callable[[], Solution]
    ) -> None:
        """Takes the throws that are expected, the rules, and what solves the game of two.

        Raises:
            ConfigError: throws with which no game would end.
        """
        self.odds, self._rules, self._solved = odds(distribution, rules), rules, solved

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
        others = [state.scores[seat] for seat in state.playing if seat != state.current]
        ahead = max((score for score in others if state.rules.reached(score)), default=-1)
        if state.total <= ahead:  # only where the round is played to its end
            return [f"Throw: the round is the last, and {state.total} are no more than {ahead}."]
        target = self._rules.target
        solvable = self._rules.end == "at_once" and target <= SOON
        # Beyond a target that must be reached exactly nothing is solved.
        if state.seats == 2 and solvable and max(state.scores) < target:
            return self._best(state)
        # By points alone.
        turn, even = state.turn_total, break_even(self.odds, state.scores[state.current])
        if even is None:
            return ["Throw: nothing can be lost."]
        if not state.rolls:
            return [f"Throw, and go on while the turn has fewer than {even:.1f} points."]
        verdict = "Throw" if turn < even else "Bank"
        return [
            f"{verdict}: a throw gains on average while the turn has fewer than {even:.1f} "
            f"points; it has {turn}."
        ]

    def _best(self, state: State) -> list[str]:
        """By the probability to win against best play, Hog Calls left aside."""
        own, other = state.scores[state.current], state.scores[1 - state.current]
        hold = int(self.solution.hold_values()[own, other])
        plan = f"Best play at {own} to {other} holds at {hold} points in the turn."
        if not state.rolls:
            return [f"Throw. {plan}"]
        throw, bank = self.win_probabilities(own, other, state.turn_total)
        verdict = "Throw" if throw > bank else "Bank"
        chances = f"{100 * throw:.1f} % to win by a throw, {100 * bank:.1f} % by banking."
        return [f"{verdict}: {chances}", plan]

    def win_probabilities(self, own: int, other: int, turn: int) -> tuple[float, float]:
        """Of throwing once more and of banking, with best play after it.

        Args:
            own: banked points of the player whose turn it is, below the target.
            other: the other player's, likewise.
            turn: points in the turn, such that banking would not reach the target.
        """
        values = self.solution.values
        _, turns = sweep(self.odds, self._rules, values, wanted={turn})
        _, throwing = turns[turn]
        return float(throwing[own, other]), 1.0 - float(values[other, own + turn])

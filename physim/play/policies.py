"""A strategy written out: what it does at every score of a two-player game."""

from __future__ import annotations

import numpy as np

from physim.game.state import State
from physim.play.solver import Policy, Solution, check_solvable, first_wins
from physim.play.strategies import Rolls, Strategy
from physim.rules.ruleset import RuleSet


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

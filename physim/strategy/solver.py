"""The two-player game solved exactly: value iteration over all scores and turn totals.

A value is the probability that the player who is about to throw wins. With V[i, j] that of a
player with i banked points against j, and N[i, j] = 1 - V[j, i] that of one who has just ended a
turn, a turn with k points is worth

    W_k[i, j] = max(N[i + k, j],  sum_s p_s W_{k+s}[i, j] + p_turn N[i, j] + p_score N[0, j])

where a throw of s points has probability p_s, one that costs the turn p_turn, one that costs the
banked points too p_score; one that eliminates loses the game. V is W_0 without the choice to
hold, since a turn has at least one throw. Oinkers lead back to earlier scores, so V is iterated
until it stays, from V = 0: after n sweeps it is the value of a game that is broken off after n
turns, lost by whoever is to throw, so that it moves as long as games go on. Hog Calls are not part
of the game that is solved, and who is beyond a target that must be reached exactly stops: to throw
on and hope for an oinker is left out.

References:
    T. W. Neller, C. G. M. Presser, Optimal Play of the Dice Game Pig, UMAP Journal 25(1), 2004.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from physim.errors import ConfigError
from physim.game.outcomes import ThrowOdds
from physim.rules.ruleset import RuleSet
from physim.types import ExactValue, FloatArray

Progress = Callable[[str], None]
Policy = NDArray[np.bool_]
"""(T, T, T) whether a player with k points in the turn, i banked, against j, holds: [k, i, j]."""

TurnValues = tuple[FloatArray, FloatArray]
"""Of a turn with k points: (T, T) W_k, and (T - k, T) what it is worth to throw once more."""

TOLERANCE = 1e-9  # of the last sweep's changes
MOST_SWEEPS, _MOST_UPDATES = 100_000, 2 * 10**11  # the second: of all T^3 entries; half an hour
MAX_TARGET = 500
SOON = 100  # a target up to which a game is solved in about a second


@dataclass(frozen=True, eq=False)
class Solution(ExactValue):
    """The solved game."""

    odds: ThrowOdds
    rules: RuleSet
    values: FloatArray  # (T, T) win probability of the player to throw, [own banked, the other's]
    policy: Policy  # optimal play
    sweeps: int  # how many it took

    @property
    def first_player_wins(self) -> float:
        """Probability of the first of two optimal players to win from 0 to 0."""
        return float(self.values[0, 0])

    def hold_values(self) -> NDArray[np.int64]:
        """(T, T) the smallest turn total at which optimal play holds, [own, other's]."""
        holds = self.policy.copy()
        holds[0] = False
        never = len(holds)  # below the target, with nothing banked
        found: NDArray[np.int64] = np.where(holds.any(axis=0), holds.argmax(axis=0), never)
        return found


def check_solvable(rules: RuleSet) -> None:
    """Refuses rules that the solver does not cover.

    Raises:
        ConfigError: a game that ends with the round, or too high a target.
    """
    if rules.end != "at_once":
        raise ConfigError(
            "games that end with the round are not solved, nor played by `optimal`; take rules "
            "with end=at_once, or other players such as score_aware"
        )
    if rules.target > MAX_TARGET:
        raise ConfigError(
            f"games are solved up to a target of {MAX_TARGET}, found {rules.target}; "
            "take a lower one"
        )


def solve(
    odds: ThrowOdds,
    rules: RuleSet,
    guess: FloatArray | None = None,
    tolerance: float = TOLERANCE,
    progress: Progress | None = None,
) -> Solution:
    """Optimal play of two players.

    Args:
        odds: of one throw.
        rules: of the game.
        guess: (T, T) values to begin with, such as those of a similar game.
        tolerance: of the last sweep's changes; the errors of the values are some ten times it.
        progress: is told in words how far it is, sweep by sweep.

    Raises:
        ConfigError: rules that the solver does not cover, or a game that hardly ever ends.
    """
    check_solvable(rules)
    values = np.zeros((rules.target, rules.target)) if guess is None else guess
    values, sweeps = _until_still(
        values, lambda values: sweep(odds, rules, values)[0], tolerance, progress
    )
    policy = np.zeros((rules.target,) * 3, dtype=bool)
    values, _ = sweep(odds, rules, values, found=policy)
    return Solution(odds, rules, values, policy, sweeps)


def first_wins(odds: ThrowOdds, rules: RuleSet, first: Policy, second: Policy) -> float:
    """Probability that the first of two players with these policies wins from 0 to 0."""

    def both(values: FloatArray) -> FloatArray:
        values, _ = sweep(odds, rules, values, given=second)
        return sweep(odds, rules, values, given=first)[0]

    values, _ = _until_still(np.full((rules.target, rules.target), 0.5), both)
    return float(values[0, 0])


def _until_still(
    values: FloatArray,
    swept: Callable[[FloatArray], FloatArray],
    tolerance: float = TOLERANCE,
    progress: Progress | None = None,
) -> tuple[FloatArray, int]:
    """Values that another sweep leaves alone, and how many sweeps it took."""
    most = min(MOST_SWEEPS, _MOST_UPDATES // len(values) ** 3)
    for sweeps in range(1, most + 1):
        before, values = values, swept(values)
        change = float(np.abs(values - before).max())
        if progress is not None:
            progress(f"solving: sweep {sweeps}, values move by {change:.1g} (to {tolerance:.0g})")
        if change < tolerance:
            return values, sweeps
    raise ConfigError(
        f"the game does not come to an end: values still move by {change:.1g} after {most:,} "
        "sweeps of a turn each; take a lower target, or a source in which more throws score"
    )


def sweep(
    odds: ThrowOdds,
    rules: RuleSet,
    others: FloatArray,
    *,
    given: Policy | None = None,
    found: Policy | None = None,
    wanted: Collection[int] = (),
) -> tuple[FloatArray, dict[int, TurnValues]]:
    """One turn for all scores at once: from the values of the next turn to those of this one.

    Args:
        odds: of one throw.
        rules: of the game.
        others: (T, T) values of the other player's next turn.
        given: how this one is played; None for best play.
        found: is filled in with best play.
        wanted: turn totals below the target.

    Returns:
        (T, T) values at the start of the turn, and those of each wanted turn total.
    """
    target = rules.target
    scoring, nothing = odds.scoring, odds.nothing
    ended = 1.0 - others.T  # [own, other's], own turn over
    lost = odds.loses_turn * ended + odds.loses_score * ended[0]
    size = scoring[-1][0] + 1
    kept = np.empty((size, target, target))  # W_k at k modulo its size
    for k in range(target, target + size):
        _finish(kept[k % size], k, ended, rules)
    values: dict[int, TurnValues] = {}
    scratch = np.empty((target, target))
    for k in range(target - 1, -1, -1):
        rows = target - k  # with fewer banked points the target is not reached yet
        rolled = lost[:rows].copy()
        for points, probability in scoring:
            np.multiply(kept[(k + points) % size, :rows], probability, out=scratch[:rows])
            rolled += scratch[:rows]
        turn, hold, first = kept[k % size], ended[k:], rolled
        _finish(turn, k, ended, rules)
        if nothing:
            rolled = rolled * (1.0 / (1.0 - nothing))
        if given is not None:
            np.copyto(turn[:rows], np.where(given[k, :rows], hold, rolled))
        else:
            np.maximum(hold, rolled, out=turn[:rows])
        if found is not None:
            found[k, :rows] = hold >= rolled
            found[k, rows:] = True
        if k in wanted:
            values[k] = turn.copy(), rolled
    return first + nothing * kept[0], values


def _finish(turn: FloatArray, k: int, ended: FloatArray, rules: RuleSet) -> None:
    """Fills in the rows of W_k in which banking would reach or pass the target."""
    row = max(rules.target - k, 0)
    turn[row:] = 1.0
    if rules.reach == "exactly":
        turn[row:] = ended[row:]  # banks nothing
        if 0 < k <= rules.target:
            turn[row] = 1.0


@dataclass(frozen=True)
class HoldValue:
    """What holding at a number of points brings and risks, whatever the scores."""

    hold: int
    expected_points: float  # a turn; what an oinker takes of earlier points is left aside
    bust: float  # probability that the turn ends with nothing


def hold_values(odds: ThrowOdds, most: int) -> list[HoldValue]:
    """Each hold value from 1 to `most`."""
    found, scoring, nothing = [], odds.scoring, odds.nothing
    for hold in range(1, most + 1):
        # Probabilities of the turn totals, from the lowest up: each is reached from lower ones.
        reached = [1.0] + [0.0] * (hold - 1)
        expected = banks = 0.0
        for total in range(hold):
            # Throws of 0 points stay at a total and are repeated; a first one is a throw as well.
            here = reached[total] / (1.0 - nothing)
            for points, probability in scoring:
                after = total + points
                if after < hold:
                    reached[after] += here * probability
                else:
                    banks += here * probability
                    expected += here * probability * after
        found.append(HoldValue(hold, expected, 1.0 - banks))
    return found


def best_hold(values: list[HoldValue]) -> HoldValue:
    """The most expected points; of equal ones the smallest hold value."""
    return max(values, key=lambda value: (value.expected_points, -value.hold))


def break_even(odds: ThrowOdds, banked: int = 0) -> float | None:
    """The turn total at which another throw wins nothing on average.

    An oinker takes the `banked` points too, so it may be negative. None where no throw ends the
    turn.
    """
    if odds.ends_turn == 0:
        return None
    return (odds.expected_points - odds.loses_score * banked) / odds.ends_turn

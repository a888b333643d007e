"""All that `physim strategy` tells of a game: solved, with intervals where throws were counted."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from physim.errors import ConfigError
from physim.game.distribution import ENDS_TURN, Distribution, ThrowOdds, odds
from physim.names import Outcome
from physim.play.hog_calls import CallStudy, study_calls
from physim.play.solver import FloatArray, Progress, Solution, solve
from physim.play.turns import HoldValue, best_hold, break_even, hold_values
from physim.rules.ruleset import Effect, RuleSet
from physim.seeding import stream
from physim.statistics.intervals import CONFIDENCE, Interval, clopper_pearson

_NORMAL_95 = 1.96
_ROUGH = 1e-6  # tolerance of games that are solved for an interval
_CHEAP_RESAMPLES = 2_000  # of what needs no solution
_RESAMPLE_KEY, _SOLVE_KEY = 0, 1  # of the random streams


@dataclass(frozen=True)
class Study:
    """A game studied.

    Attributes:
        distribution: of the throws.
        rules: of the game.
        odds: of one throw.
        by_hold: hold values from 1 to the target, or less.
        best_hold: the one with the most expected points.
        break_even: see `turns.break_even`, with nothing banked.
        solution: optimal play.
        calls: Hog Calls; None where they are not studied.
        intervals: by the names of the JSON, 95 %; empty where no sample is behind.
        resamples: how many samples were drawn anew for those that need a solution.
    """

    distribution: Distribution
    rules: RuleSet
    odds: ThrowOdds
    by_hold: list[HoldValue]
    best_hold: HoldValue
    break_even: float | None
    solution: Solution
    calls: CallStudy | None
    intervals: dict[str, Interval]
    resamples: int


def study(
    distribution: Distribution,
    rules: RuleSet,
    *,
    resamples: int = 0,
    seed: int = 0,
    progress: Progress | None = None,
) -> Study:
    """Solves a game and puts intervals to the numbers.

    Args:
        distribution: of the throws.
        rules: of the game.
        resamples: games solved with samples drawn anew, for the intervals of what needs a
            solution; 0 leaves those out.
        seed: of the samples drawn anew.
        progress: is told in words how far it is.

    Raises:
        ConfigError: rules that the solver does not cover, or throws that never score.
    """
    chances = odds(distribution, rules)
    solution = solve(chances, rules, progress=progress)
    by_hold = hold_values(chances, rules.target)
    intervals: dict[str, Interval] = {}
    if not distribution.sample_size:
        resamples = 0
    else:
        intervals = _counted(distribution)
        intervals |= _resampled(distribution, rules, stream(seed, _RESAMPLE_KEY))
        others = _games(distribution, rules, solution, resamples, seed, progress)
        resamples = len(others)
        if resamples > 1:
            intervals |= _solved(solution, others)
    return Study(
        distribution=distribution,
        rules=rules,
        odds=chances,
        by_hold=by_hold,
        best_hold=best_hold(by_hold),
        break_even=break_even(chances),
        solution=solution,
        calls=study_calls(distribution, solution),
        intervals=intervals,
        resamples=resamples,
    )


def probability_of(distribution: Distribution, outcome: Outcome) -> float:
    """Of all throws, those that are rolled again included."""
    pairs = zip(distribution.throws, distribution.probabilities.tolist(), strict=True)
    return float(sum(probability for throw, probability in pairs if throw.outcome is outcome))


OUTCOME_KEYS = {
    "p_pig_out": Outcome.PIG_OUT,
    "p_oinker": Outcome.OINKER,
    "p_piggyback": Outcome.PIGGYBACK,
}


def _counted(distribution: Distribution) -> dict[str, Interval]:
    """Exact intervals of the throws that end a turn."""
    size = distribution.sample_size or 0
    pairs = list(zip(distribution.throws, distribution.weights, strict=True))
    return {
        key: clopper_pearson(int(sum(w for throw, w in pairs if throw.outcome is outcome)), size)
        for key, outcome in OUTCOME_KEYS.items()
    }


def _resampled(
    distribution: Distribution, rules: RuleSet, rng: np.random.Generator
) -> dict[str, Interval]:
    """Percentiles of many samples drawn anew, of what needs no solution."""
    effects = [rules.effect(throw.outcome) for throw in distribution.throws]
    counted = np.array([effect is not Effect.ROLLS_AGAIN for effect in effects], dtype=float)
    ends = np.array([effect in ENDS_TURN for effect in effects], dtype=float)
    points = np.array([throw.points or 0 for throw in distribution.throws], dtype=float)
    size = distribution.sample_size or 0
    drawn = rng.multinomial(size, distribution.probabilities, size=_CHEAP_RESAMPLES)
    with np.errstate(divide="ignore", invalid="ignore"):  # few rolls: none that counts, or ends
        expected, even = drawn @ points / (drawn @ counted), drawn @ points / (drawn @ ends)
    found = {"expected_points": _percentiles(expected), "break_even": _percentiles(even)}
    return {key: interval for key, interval in found.items() if interval is not None}


def _games(
    distribution: Distribution,
    rules: RuleSet,
    solution: Solution,
    count: int,
    seed: int,
    progress: Progress | None,
) -> list[Solution]:
    """Solutions for samples drawn anew; fewer where some of few rolls would never score."""
    rng = stream(seed, _SOLVE_KEY)
    others = []
    for number in range(count):
        if progress is not None:
            progress(f"solving for the intervals: {number} of {count} games")
        with suppress(ConfigError):
            drawn = odds(distribution.resampled(rng), rules)
            others.append(solve(drawn, rules, solution.values, _ROUGH))
    return others


def _solved(solution: Solution, others: list[Solution]) -> dict[str, Interval]:
    """From few samples: 1.96 standard deviations of a probability, the range of a hold value."""
    wins = [other.first_player_wins for other in others]
    holds = [int(other.hold_values()[0, 0]) for other in others]
    bests = [best_hold(hold_values(other.odds, other.rules.target)).hold for other in others]
    middle, spread = solution.first_player_wins, _NORMAL_95 * float(np.std(wins, ddof=1))
    return {
        "first_player_wins": Interval(middle - spread, middle + spread),
        "hold_at_0-0": Interval(min(holds), max(holds)),
        "best_hold": Interval(min(bests), max(bests)),
    }


def _percentiles(values: FloatArray) -> Interval | None:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(finite, [tail, 1 - tail])
    return Interval(float(low), float(high))

"""All that `physim strategy` tells of a game: solved, with intervals where throws were counted.

A study as JSON and as text of 80 columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from physim.errors import ConfigError
from physim.game.outcomes import ENDS_TURN, Distribution, ThrowOdds, odds
from physim.rules.ruleset import Effect, RuleSet, to_options
from physim.seeding import stream
from physim.statistics.tests import CONFIDENCE, Interval, clopper_pearson
from physim.strategy.policies import CallStudy, study_calls
from physim.strategy.solver import (
    FloatArray,
    HoldValue,
    Progress,
    Solution,
    best_hold,
    break_even,
    hold_values,
    solve,
)
from physim.types import Outcome

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


_SHOWN = 9  # rows and columns of scores in the text


def to_json(study: Study) -> dict[str, Any]:
    """Plain values; scores as "own-other's", of the player whose turn it is and the other."""
    holds = study.solution.hold_values()
    return {
        "source": study.distribution.name,
        "sample_size": study.distribution.sample_size,
        "rules": study.rules.name,
        "options": to_options(study.rules),
        "expected_points": study.odds.expected_points,
        **{
            key: probability_of(study.distribution, outcome)
            for key, outcome in OUTCOME_KEYS.items()
        },
        "p_rolls_again": study.odds.rolls_again,
        "break_even": study.break_even,
        "best_hold": study.best_hold.hold,
        "first_player_wins": study.solution.first_player_wins,
        "intervals": {
            key: {"low": interval.low, "high": interval.high}
            for key, interval in study.intervals.items()
        },
        "resamples": study.resamples,
        "by_hold": [
            {"hold": one.hold, "expected_points": one.expected_points, "bust": one.bust}
            for one in study.by_hold
        ],
        "hold_at": {
            f"{own}-{other}": int(holds[own, other]) for own, other in np.ndindex(holds.shape)
        },
        "hog_call": None if study.calls is None else _calls_json(study.calls),
    }


def to_text(study: Study) -> str:
    """Lines of 80 columns at most, without a newline at the end."""
    return "\n".join(line.rstrip() for line in _lines(study))


def _calls_json(calls: CallStudy) -> dict[str, Any]:
    return {
        "predictions": [
            {
                "prediction": value.prediction,
                "probability": value.probability,
                "expected_points": value.expected_points,
                "roller_points": value.roller_points,
            }
            for value in calls.values
        ],
        "pays_at": {
            f"{roller}-{caller}": {
                "prediction": calls.values[calls.best[roller, caller]].prediction,
                "gain": float(calls.gain[roller, caller]),
            }
            for roller, caller in np.argwhere(calls.pays).tolist()
        },
    }


def _lines(study: Study) -> Iterator[str]:
    size = study.distribution.sample_size
    rolls = f" ({size:,} rolls)" if size else ""
    yield f"two players to {study.rules.target}, rules {study.rules.name},"
    yield f"throws of {study.distribution.name}{rolls}"
    yield ""
    yield _row(study, "a throw's expected points", "expected_points", study.odds.expected_points, 4)
    for key, outcome in OUTCOME_KEYS.items():
        value = probability_of(study.distribution, outcome)
        yield _row(study, f"probability of {outcome.value}", key, value, 5)
    if study.break_even is not None:
        yield _row(study, "a throw breaks even at", "break_even", study.break_even, 2)
    yield _row(study, "most points a turn: hold at", "best_hold", study.best_hold.hold, 0)
    wins = study.solution.first_player_wins
    yield _row(study, "optimal first player wins", "first_player_wins", wins, 4)
    first = int(study.solution.hold_values()[0, 0])
    yield _row(study, "optimal play at 0-0: hold at", "hold_at_0-0", first, 0)
    if study.intervals:
        yield "  in brackets: 95 % intervals"
    if study.resamples:
        yield f"  (of hold values the range of {study.resamples} games, samples drawn anew)"
    yield ""
    yield from _holds(study)
    yield ""
    yield from _grid(study)
    yield ""
    yield from _calls(study)


def _row(study: Study, what: str, key: str, value: float, digits: int) -> str:
    line = f"{what:30}{value:>10.{digits}f}"
    if key in study.intervals:
        interval = study.intervals[key]
        line += f"   [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"
    return line


def _holds(study: Study) -> Iterator[str]:
    yield f"{'hold at':>8}{'points a turn':>16}{'bust':>9}"
    around = {*range(5, 41, 5), study.best_hold.hold, int(study.solution.hold_values()[0, 0])}
    for one in study.by_hold:
        if one.hold in around:
            best = "  most points" if one is study.best_hold else ""
            yield f"{one.hold:>8}{one.expected_points:>16.4f}{one.bust:>9.4f}{best}"


def _grid(study: Study) -> Iterator[str]:
    """Hold values at some scores."""
    holds = study.solution.hold_values()
    scores = sorted({round(place * (len(holds) - 1) / _SHOWN) for place in range(_SHOWN + 1)})
    yield "optimal play holds at (down: own points, across: the other's)"
    yield " " * 6 + "".join(f"{other:>6}" for other in scores)
    for own in scores:
        yield f"{own:>6}" + "".join(f"{holds[own, other]:>6}" for other in scores)


def _calls(study: Study) -> Iterator[str]:
    calls = study.calls
    if calls is None:
        yield "Hog Calls: not in these rules, or the target must be reached exactly"
        return
    yield "Hog Call          probability   caller's points   roller's points, on average"
    for value in calls.values[:4]:
        yield (
            f"{value.prediction:18}{value.probability:>11.4f}{value.expected_points:>18.2f}"
            f"{value.roller_points:>18.2f}"
        )
    count = int(calls.pays.sum())
    eligible = int((~np.isnan(calls.gain)).sum())
    if not count:
        yield f"a call pays at none of {eligible:,} scores"
        return
    roller, caller = (int(n) for n in np.unravel_index(np.nanargmax(calls.gain), calls.gain.shape))
    best = calls.values[calls.best[roller, caller]].prediction
    yield f"a call raises the caller's probability to win at {count:,} of {eligible:,} scores;"
    yield f"most at {roller} (roller) to {caller}: {best}, by {calls.gain[roller, caller]:.4f}"

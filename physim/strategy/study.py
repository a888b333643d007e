"""All that `physim strategy` tells of a game: solved, with intervals where throws were counted.

When a Hog Call pays is studied beside it, as what a call does to the caller's probability to win:
one call, before the first throw of the other player's turn; after it both play on optimally and
without further calls, which is an assumption: how people answer calls with calls is not solved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from physim.errors import ConfigError
from physim.game.outcomes import Distribution, odds
from physim.rules.ruleset import Effect, RuleSet, is_right, predictions, to_options, transfer
from physim.seeding import stream
from physim.statistics.tests import CONFIDENCE, Interval, clopper_pearson
from physim.strategy.solver import (
    HoldValue,
    Progress,
    Solution,
    TurnValues,
    best_hold,
    break_even,
    hold_values,
    solve,
    sweep,
)
from physim.types import ExactValue, FloatArray, Outcome

_NORMAL_95 = 1.96
_ROUGH = 1e-6  # tolerance of games that are solved for an interval
_CHEAP_RESAMPLES = 2_000  # of what needs no solution
_RESAMPLE_KEY, _SOLVE_KEY = 0, 1  # of the random streams
_CLEAR = 1e-6  # a gain in probability below the solver's errors is none
_SHOWN = 9  # rows and columns of scores in the text
_OUTCOMES = {
    f"p_{outcome.value}": outcome
    for outcome in (Outcome.PIG_OUT, Outcome.OINKER, Outcome.PIGGYBACK)
}
_ROWS = {
    "expected_points": ("a throw's expected points", 4),
    **{key: (f"probability of {outcome.value}", 5) for key, outcome in _OUTCOMES.items()},
    "break_even": ("a throw breaks even at", 2),
    "best_hold": ("most points a turn: hold at", 0),
    "first_player_wins": ("optimal first player wins", 4),
    "hold_at_0-0": ("optimal play at 0-0: hold at", 0),
}
"""Numbers of a study in the text, and their digits."""


@dataclass(frozen=True)
class CallValue:
    """What a call of a prediction moves on average, the floor of zero left aside."""

    prediction: str
    probability: float  # that it comes true
    expected_points: float  # of the caller
    roller_points: float


@dataclass(frozen=True, eq=False)
class CallStudy(ExactValue):
    """All predictions, the most frequent first, at all scores [roller's banked, caller's].

    Attributes:
        gain: (T, T) what the best call adds to the caller's probability to win; NaN where nobody
            may call.
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


@dataclass(frozen=True)
class Study:
    """A game studied."""

    distribution: Distribution
    solution: Solution
    by_hold: list[HoldValue]  # from 1 to the target
    calls: CallStudy | None  # None where they are not studied
    intervals: dict[str, Interval]  # 95 %, by the names of the JSON; empty without a sample
    resamples: int  # samples drawn anew for those that need a solution

    def numbers(self) -> dict[str, float | None]:
        """What is told of the game, by the names of the JSON."""
        chances = self.solution.odds
        return {
            "expected_points": chances.expected_points,
            **{
                key: _weight(self.distribution, outcome) / sum(self.distribution.weights)
                for key, outcome in _OUTCOMES.items()
            },
            "p_rolls_again": chances.rolls_again,
            "break_even": break_even(chances),
            "best_hold": best_hold(self.by_hold).hold,
            "first_player_wins": self.solution.first_player_wins,
        }


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
    intervals: dict[str, Interval] = {}
    solved = 0
    if distribution.sample_size:
        for key, outcome in _OUTCOMES.items():
            count = int(_weight(distribution, outcome))
            intervals[key] = clopper_pearson(count, distribution.sample_size)
        intervals |= _resampled(distribution, rules, seed)
        found, solved = _solved(distribution, solution, resamples, seed, progress)
        intervals |= found
    by_hold = hold_values(chances, rules.target)
    calls = study_calls(distribution, solution)
    return Study(distribution, solution, by_hold, calls, intervals, solved)


def _weight(distribution: Distribution, outcome: Outcome) -> float:
    """What an outcome counts for among all throws."""
    weights = zip(distribution.throws, distribution.weights, strict=True)
    return sum((weight for throw, weight in weights if throw.outcome is outcome), 0.0)


def study_calls(distribution: Distribution, solution: Solution) -> CallStudy | None:
    """What each call does, in a game that is solved without calls.

    None for rules without Hog Call, and where the target must be reached exactly: transfers lead
    beyond it, which the solution does not cover.
    """
    rules = solution.rules
    if not rules.hog_call or rules.reach == "exactly":
        return None
    counted = {
        throw: p
        for throw, p in distribution.pairs
        if p > 0 and rules.effect(throw.outcome) is not Effect.ROLLS_AGAIN
    }
    whole = sum(counted.values())
    throws = {throw: p / whole for throw, p in counted.items() if throw.points}
    _, turns = sweep(
        solution.odds, rules, solution.values, wanted={throw.points or 0 for throw in throws}
    )
    values, gains = [], []
    for prediction in predictions(rules):
        gain, moved = np.zeros_like(solution.values), np.zeros(2)
        probability = 0.0
        for throw, p in throws.items():
            right, points = is_right(prediction, throw, rules), throw.points or 0
            probability += p * right
            moved += p * np.array(transfer(rules, right, points))
            gain += p * _change(turns, rules, points, right)
        if probability:
            values.append(CallValue(prediction, probability, *moved.tolist()))
            gains.append(gain)
    order = sorted(range(len(values)), key=lambda one: -values[one].probability)
    values, stacked = [values[one] for one in order], np.stack([gains[one] for one in order])
    gain = stacked.max(axis=0)
    gain[:, : rules.hog_call_least_points] = np.nan
    return CallStudy(tuple(values), gain, stacked.argmax(axis=0))


def _change(
    turns: Mapping[int, TurnValues], rules: RuleSet, points: int, right: bool
) -> FloatArray:
    """(T, T) what a call of such a throw does to the caller's probability to win."""
    target, (gained, lost) = rules.target, transfer(rules, right, points)
    # At the target with this throw alone the roller banks and has won.
    values = turns[points][0] if points < target else np.ones((target, target))
    roller = np.maximum(0, np.arange(target) + lost)
    caller = np.maximum(0, np.arange(target) + gained)
    after = values[np.ix_(np.minimum(roller, target - 1), np.minimum(caller, target - 1))]
    after[roller >= target, :] = 1.0  # at most one of the two has gained
    after[:, caller >= target] = 0.0
    change: FloatArray = values - after
    return change


def _resampled(distribution: Distribution, rules: RuleSet, seed: int) -> dict[str, Interval]:
    """Percentiles of many samples drawn anew, of what needs no solution."""
    rng = stream(seed, _RESAMPLE_KEY)
    values: dict[str, list[float]] = {"expected_points": [], "break_even": []}
    for _ in range(_CHEAP_RESAMPLES):
        with suppress(ConfigError):  # few rolls: none that scores
            chances = odds(distribution.resampled(rng), rules)
            values["expected_points"].append(chances.expected_points)
            even = break_even(chances)
            values["break_even"] += [] if even is None else [even]
    tail = (1 - CONFIDENCE) / 2
    return {
        key: Interval(*np.quantile(found, [tail, 1 - tail]).tolist())
        for key, found in values.items()
        if found
    }


def _solved(
    distribution: Distribution,
    solution: Solution,
    count: int,
    seed: int,
    progress: Progress | None,
) -> tuple[dict[str, Interval], int]:
    """Intervals from samples drawn anew, each solved, and from how many.

    1.96 standard deviations of a probability, the range of a hold value. Samples of few rolls
    that would never score are left out.
    """
    rng, rules = stream(seed, _SOLVE_KEY), solution.rules
    others = []
    for number in range(count):
        if progress is not None:
            progress(f"solving for the intervals: {number} of {count} games")
        with suppress(ConfigError):
            drawn = odds(distribution.resampled(rng), rules)
            others.append(solve(drawn, rules, solution.values, _ROUGH))
    if len(others) < 2:
        return {}, len(others)
    wins = [other.first_player_wins for other in others]
    holds = [int(other.hold_values()[0, 0]) for other in others]
    bests = [best_hold(hold_values(other.odds, rules.target)).hold for other in others]
    middle, spread = solution.first_player_wins, _NORMAL_95 * float(np.std(wins, ddof=1))
    return {
        "first_player_wins": Interval(middle - spread, middle + spread),
        "hold_at_0-0": Interval(min(holds), max(holds)),
        "best_hold": Interval(min(bests), max(bests)),
    }, len(others)


def to_json(study: Study) -> dict[str, Any]:
    """Plain values; scores as "own-other's", of the player whose turn it is and the other."""
    holds, rules, calls = study.solution.hold_values(), study.solution.rules, study.calls
    return {
        "source": study.distribution.name,
        "sample_size": study.distribution.sample_size,
        "rules": rules.name,
        "options": to_options(rules),
        **study.numbers(),
        "intervals": {key: asdict(interval) for key, interval in study.intervals.items()},
        "resamples": study.resamples,
        "by_hold": [asdict(one) for one in study.by_hold],
        "hold_at": {
            f"{own}-{other}": int(holds[own, other]) for own, other in np.ndindex(holds.shape)
        },
        "hog_call": calls
        and {
            "predictions": [asdict(value) for value in calls.values],
            "pays_at": {
                f"{roller}-{caller}": {
                    "prediction": calls.values[calls.best[roller, caller]].prediction,
                    "gain": float(calls.gain[roller, caller]),
                }
                for roller, caller in np.argwhere(calls.pays).tolist()
            },
        },
    }


def to_text(study: Study) -> str:
    """Lines of 80 columns at most, without a newline at the end."""
    return "\n".join(line.rstrip() for line in _lines(study))


def _lines(study: Study) -> Iterator[str]:
    size, rules = study.distribution.sample_size, study.solution.rules
    holds = study.solution.hold_values()
    yield f"two players to {rules.target}, rules {rules.name},"
    yield f"throws of {study.distribution.name}{f' ({size:,} rolls)' if size else ''}"
    yield ""
    numbers = {**study.numbers(), "hold_at_0-0": int(holds[0, 0])}
    for key, (what, digits) in _ROWS.items():
        if numbers[key] is not None:
            line = f"{what:30}{numbers[key]:>10.{digits}f}"
            if key in study.intervals:
                interval = study.intervals[key]
                line += f"   [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"
            yield line
    if study.intervals:
        yield "  in brackets: 95 % intervals"
    if study.resamples:
        yield f"  (of hold values the range of {study.resamples} games, samples drawn anew)"
    yield ""
    yield f"{'hold at':>8}{'points a turn':>16}{'bust':>9}"
    most = best_hold(study.by_hold)
    around = {*range(5, 41, 5), most.hold, int(holds[0, 0])}
    for one in study.by_hold:
        if one.hold in around:
            best = "  most points" if one is most else ""
            yield f"{one.hold:>8}{one.expected_points:>16.4f}{one.bust:>9.4f}{best}"
    yield ""
    scores = sorted({round(place * (len(holds) - 1) / _SHOWN) for place in range(_SHOWN + 1)})
    yield "optimal play holds at (down: own points, across: the other's)"
    yield " " * 6 + "".join(f"{other:>6}" for other in scores)
    for own in scores:
        yield f"{own:>6}" + "".join(f"{holds[own, other]:>6}" for other in scores)
    yield ""
    yield from _call_lines(study.calls)


def _call_lines(calls: CallStudy | None) -> Iterator[str]:
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


def plot_heat_map(study: Study, path: Path) -> None:
    """Draws where optimal play holds, and the probability to win, by both scores."""
    from physim.figures import drawn

    solution = study.solution
    holds = solution.hold_values()
    most = float(np.quantile(holds, 0.98))  # a few scores far behind would take all the colours
    with drawn(path, 11, 4.8) as figure:
        for axes, numbers, title, high in zip(
            figure.subplots(1, 2),
            (holds, solution.values),
            ("optimal play holds at", "probability to win before the first throw"),
            (most, 1.0),
            strict=True,
        ):
            image = axes.imshow(numbers, origin="lower", cmap="viridis", vmin=0.0, vmax=high)
            axes.set_xlabel("the other player's points")
            axes.set_ylabel("own points")
            axes.set_title(title)
            figure.colorbar(image, ax=axes)
        rules = solution.rules
        figure.suptitle(f"to {rules.target}, rules {rules.name}, {study.distribution.name}")

"""A study as JSON and as text of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from physim.play.hog_calls import CallStudy
from physim.play.study import OUTCOME_KEYS, Study, probability_of
from physim.rules.ruleset import to_options

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

"""The statistics of a sample as a plain text table for the terminal, 80 columns at most.

The statistics of a sample as plain JSON values; the names are public.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from physim.statistics.compare import (
    LEAST_MONTE_CARLO_P,
    MONTE_CARLO,
    Comparison,
    difference_lines,
    differences_to_json,
)
from physim.statistics.counts import Counts
from physim.statistics.tests import clopper_pearson
from physim.types import PIG_NAMES, Outcome, Pose, Status

_NAME_WIDTH = 29  # the longest pair: leaning_jowler+leaning_jowler
_BESIDE_THE_RULES = (Outcome.UNSETTLED, Outcome.AMBIGUOUS, Outcome.OFF_TABLE)
_MANY_OTHER, _MOST_RESTS = 0.02, 12
_FEW_EXPECTED = 5  # the usual bound of the chi-square approximation


def format_stats(
    counts: Counts, comparison: Comparison | None = None, same_model: bool = True
) -> str:
    """Poses, outcomes and, with a comparison, the differences from its table.

    Where many pigs lie as no rule says, the stable rests that they lie in too, by their index.

    Frequencies and differences are in percent and percentage points.

    Returns:
        Lines of 80 columns at most, without a newline at the end.
    """
    return "\n".join(line.rstrip() for line in _lines(counts, comparison, same_model))


def _lines(counts: Counts, comparison: Comparison | None, same_model: bool) -> Iterator[str]:
    poses = {pose.value: counts.poses[pose] for pose in Pose}
    yield f"{counts.rolls:,} rolls; poses of {counts.pigs:,} pigs that came to rest untouched"
    yield ""
    yield from _table("pose", poses, counts.pigs)
    yield ""
    if counts.poses[Pose.OTHER] > _MANY_OTHER * counts.pigs:
        yield from _rest_lines(counts, same_model)
        yield ""
    outcomes = {
        outcome.value: counts.outcomes[outcome]
        for outcome in Outcome
        if outcome not in _BESIDE_THE_RULES
    }
    yield from _table("outcome", outcomes, counts.rolls)
    yield ""
    for outcome in _BESIDE_THE_RULES:
        yield _row(outcome.value, counts.outcomes[outcome], counts.rolls)
    if comparison is not None:
        yield ""
        yield from _comparison(comparison)


def _rest_lines(counts: Counts, same_model: bool) -> Iterator[str]:
    """The rests that most pigs lie in; of both pigs together where they are alike."""
    found: dict[str, int] = {}
    for (pig, index), count in counts.rests.items():
        name = f"{index}" if same_model else f"{index} of {pig}"
        found[name] = found.get(name, 0) + count
    cells = dict(sorted(found.items(), key=lambda cell: -cell[1])[:_MOST_RESTS])
    yield from _table(
        "rest (see `physim model`)",
        cells,
        counts.pigs if same_model else counts.pigs // 2,
    )
    if len(found) > len(cells):
        yield f"... {len(found) - len(cells)} more; --json tells them all"


def _table(title: str, cells: Mapping[str, int], size: int) -> Iterator[str]:
    yield f"{title:{_NAME_WIDTH}}{'count':>11}{'freq %':>8}{'95 % interval':>16}"
    for name, count in cells.items():
        yield _row(name, count, size)


def _row(name: str, count: int, size: int) -> str:
    if not size:
        return f"{name:{_NAME_WIDTH}}{count:>11,}{'-':>8}"
    interval = clopper_pearson(count, size)
    span = f"{100 * interval.low:.2f} - {100 * interval.high:.2f}"
    return f"{name:{_NAME_WIDTH}}{count:>11,}{100 * count / size:>8.2f}{span:>16}"


def _comparison(comparison: Comparison) -> Iterator[str]:
    table, test = comparison.table, comparison.test
    unit = "pigs" if table.cell == "pose" else "rolls"
    yield f"against {table.name} ({table.sample_size:,} {unit})"
    if comparison.left_out:
        yield f"  left out of TV and G: {comparison.left_out:,} {unit} with the pose other"
    if comparison.tv is None or test is None:
        yield "  nothing to compare: no counted pigs"
        return
    yield f"  total variation distance {comparison.tv:.4f}"
    how = "Monte Carlo" if test.method == MONTE_CARLO else "chi-square"
    floor = test.method == MONTE_CARLO and test.p <= LEAST_MONTE_CARLO_P
    yield f"  G = {test.g:.2f}, df = {test.df}, p {'<=' if floor else '='} {test.p:.3g} ({how})"
    if test.smallest_expected < _FEW_EXPECTED and test.method != MONTE_CARLO:
        yield f"  the smallest expected count is {test.smallest_expected:.1f}: p is approximate"
    yield f"A: these rolls; B: {table.name}; shares without the pose other"
    for kind, found, of, (one, two) in (
        ("pose", comparison.poses, "pigs", comparison.pigs),
        ("pair", comparison.pairs, "rolls", comparison.rolls),
    ):
        if found:
            yield ""
            yield f"of {one:,} {of} of A and {two:,} of B:"
            yield from difference_lines(kind, found)


Json = dict[str, Any]


def summarize(
    counts: Counts, comparison: Comparison | None = None, *, same_model: bool = True
) -> Json:
    """What `physim stats --json` prints.

    Args:
        counts: the sample.
        comparison: from `compare`, for the key `against`.
        same_model: both pigs are of one model, so that their rest indices mean
            the same; `rests` then pools them, otherwise it has a key a pig.

    Returns:
        `rolls`, `poses`, `rests`, `outcomes`, `scores`, `statuses` and, with a
        comparison, `against`. Frequencies of poses and rests are of the pigs in
        `poses` (`other` included), those of outcomes of all rolls; intervals
        are exact 95 % intervals. Those of `against` are of the named poses or pairs alone.
    """
    result: Json = {
        "rolls": counts.rolls,
        "poses": {pose.value: cell(counts.poses[pose], counts.pigs) for pose in Pose},
        "rests": _rests(counts, same_model),
        "outcomes": {
            outcome.value: cell(counts.outcomes[outcome], counts.rolls) for outcome in Outcome
        },
        "scores": {
            "null" if points is None else str(points): counts.scores[points]
            for points in sorted(counts.scores, key=lambda points: -1 if points is None else points)
        },
        "statuses": {status.value: counts.statuses[status] for status in Status},
    }
    if comparison is not None:
        result["against"] = _against(comparison)
    return result


def cell(count: int, size: int) -> Json:
    """A count with its frequency, None of nothing, and its exact 95 % interval."""
    interval = clopper_pearson(count, size)
    frequency = count / size if size else None
    return {"count": count, "frequency": frequency, "low": interval.low, "high": interval.high}


def _rests(counts: Counts, same_model: bool) -> Json:
    if same_model:
        return _rest_cells(counts.rests, PIG_NAMES, counts.pigs)
    pigs_each = counts.pigs // len(PIG_NAMES)
    return {name: _rest_cells(counts.rests, (name,), pigs_each) for name in PIG_NAMES}


def _rest_cells(rests: Mapping[tuple[str, int], int], names: tuple[str, ...], size: int) -> Json:
    totals: dict[int, int] = {}
    for (name, index), count in rests.items():
        if name in names:
            totals[index] = totals.get(index, 0) + count
    return {str(index): cell(totals[index], size) for index in sorted(totals)}


def _against(comparison: Comparison) -> Json:
    table, test = comparison.table, comparison.test
    return {
        "name": table.name,
        "tv": comparison.tv,
        "g": test.g if test else None,
        "df": test.df if test else None,
        "p": test.p if test else None,
        "p_method": test.method if test else None,
        "smallest_expected": test.smallest_expected if test else None,
        "left_out": comparison.left_out,
        "differences": differences_to_json(comparison.poses),
        "pair_differences": differences_to_json(comparison.pairs),
        "reference": {
            cell: {"count": count, "frequency": count / table.sample_size}
            for cell, count in table.counts.items()
        },
    }

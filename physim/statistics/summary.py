"""The statistics of a sample as plain JSON values; the names are public."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from physim.statistics.compare import Comparison
from physim.statistics.counts import Counts
from physim.statistics.intervals import clopper_pearson
from physim.statistics.two import differences_to_json
from physim.values import PIG_NAMES, Outcome, Pose, Status

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

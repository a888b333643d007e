"""Statistics as text for a terminal, 80 columns at most, and as plain JSON values.

The JSON names are public.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from physim.statistics.counts import Counts
from physim.statistics.tests import (
    FEW_EXPECTED,
    LEAST_MONTE_CARLO_P,
    MATTERS_P,
    MONTE_CARLO,
    Comparison,
    Difference,
    clopper_pearson,
    points_of,
    side_by_side,
)
from physim.types import PIG_NAMES, Outcome, Pose, Status

Json = dict[str, Any]
_WIDTHS = (29, 11, 8, 16)  # the longest name is leaning_jowler+leaning_jowler
_BESIDE_THE_RULES = (Outcome.UNSETTLED, Outcome.AMBIGUOUS, Outcome.OFF_TABLE)
_MANY_OTHER, _MOST_RESTS = 0.02, 12


def row(widths: Sequence[int], *cells: str) -> str:
    """One line of a table: the first cell is set to the left, all others to the right."""
    others = zip(cells[1:], widths[1:], strict=False)
    line = f"{cells[0]:{widths[0]}}" + "".join(f"{cell:>{width}}" for cell, width in others)
    return line.rstrip()


def percent(share: float | None, sign: str = "") -> str:
    """A share in percent, or a difference in percentage points with the sign `+`."""
    return "-" if share is None else f"{100 * share:{sign}.2f}"


def span(shown: Mapping[str, Any]) -> str:
    """The interval of a `cell` in percent."""
    return f"{percent(shown['low'])} - {percent(shown['high'])}"


def share(count: int, size: int) -> float | None:
    """A frequency; None of nothing."""
    return count / size if size else None


def cell(count: int, size: int) -> Json:
    """A count with its frequency and its exact 95 % interval."""
    return {"count": count, "frequency": share(count, size), **asdict(clopper_pearson(count, size))}


def to_text(counts: Counts, comparison: Comparison | None = None, same_model: bool = True) -> str:
    """Poses, outcomes and, with a comparison, the differences from its table.

    Where many pigs lie as no rule says, the stable rests that they lie in too, by their index.
    """
    return "\n".join(_lines(counts, comparison, same_model))


def _lines(counts: Counts, comparison: Comparison | None, same_model: bool) -> Iterator[str]:
    poses = {pose.value: count for pose, count in counts.poses.items()}
    yield f"{counts.rolls:,} rolls; poses of {counts.pigs:,} pigs that came to rest untouched"
    yield ""
    yield from _table("pose", poses, counts.pigs)
    yield ""
    if counts.poses[Pose.OTHER] > _MANY_OTHER * counts.pigs:
        yield from _rest_lines(counts, same_model)
        yield ""
    outcomes = {outcome.value: count for outcome, count in counts.outcomes.items()}
    beside = {outcome.value: outcomes.pop(outcome.value) for outcome in _BESIDE_THE_RULES}
    yield from _table("outcome", outcomes, counts.rolls)
    yield ""
    yield from _rows(beside, counts.rolls)
    if comparison is not None:
        yield ""
        yield from _comparison_lines(comparison)


def _rest_lines(counts: Counts, same_model: bool) -> Iterator[str]:
    """The rests that most pigs lie in; of both pigs together where they are alike."""
    found: Counter[str] = Counter()
    for (pig, index), count in counts.rests.items():
        found[f"{index}" if same_model else f"{index} of {pig}"] += count
    size = counts.pigs if same_model else counts.pigs // 2
    yield from _table("rest (see `physim model`)", dict(found.most_common(_MOST_RESTS)), size)
    if len(found) > _MOST_RESTS:
        yield f"... {len(found) - _MOST_RESTS} more; --json tells them all"


def _table(title: str, cells: Mapping[str, int], size: int) -> Iterator[str]:
    yield row(_WIDTHS, title, "count", "freq %", "95 % interval")
    yield from _rows(cells, size)


def _rows(cells: Mapping[str, int], size: int) -> Iterator[str]:
    for name, count in cells.items():
        shown = cell(count, size)
        interval = span(shown) if size else ""
        yield row(_WIDTHS, name, f"{count:,}", percent(shown["frequency"]), interval)


def _comparison_lines(comparison: Comparison) -> Iterator[str]:
    table, test = comparison.table, comparison.test
    unit = "rolls" if table.of_pairs else "pigs"
    yield f"against {table.name} ({table.sample_size:,} {unit})"
    if comparison.left_out:
        yield f"  left out of TV and G: {comparison.left_out:,} {unit} with the pose other"
    if comparison.tv is None or test is None:
        yield "  nothing to compare: no counted pigs"
        return
    yield f"  total variation distance {comparison.tv:.4f}"
    drawn = test.method == MONTE_CARLO
    sign = "<=" if drawn and test.p <= LEAST_MONTE_CARLO_P else "="
    how = "Monte Carlo" if drawn else "chi-square"
    yield f"  G = {test.g:.2f}, df = {test.df}, p {sign} {test.p:.3g} ({how})"
    if test.smallest_expected < FEW_EXPECTED and not drawn:
        yield f"  the smallest expected count is {test.smallest_expected:.1f}: p is approximate"
    yield f"A: these rolls; B: {table.name}; shares without the pose other"
    for kind, found, of, (one, two) in (
        ("pose", comparison.poses, "pigs", comparison.pigs),
        ("pair", comparison.pairs, "rolls", comparison.rolls),
    ):
        if found:
            yield ""
            yield f"of {one:,} {of} of A and {two:,} of B:"
            yield from _difference_lines(kind, found)


def _difference_lines(kind: str, found: Sequence[Difference]) -> Iterator[str]:
    """A table in percent and percentage points, and what p means."""
    widths = (max(18, *(len(it.name) for it in found)), 7, 7, 8, 18, 9)
    yield row(widths, kind, "A %", "B %", "A - B", "95 % interval", "p (Holm)")
    for it in found:
        interval = f"{percent(it.interval.low, '+')} to {percent(it.interval.high, '+')}"
        shares = percent(it.one), percent(it.two), percent(it.one - it.two, "+")
        yield row(widths, it.name, *shares, interval, f"{it.p:.2g}") + " *" * it.matters
    yield f"p of Fisher's exact test, adjusted by Holm's method for {len(found)} {kind}s compared;"
    yield f"* below {MATTERS_P:g}: chance hardly explains it"


def to_json(
    counts: Counts, comparison: Comparison | None = None, *, same_model: bool = True
) -> Json:
    """What `physim stats --json` prints.

    Frequencies of poses and rests are of the pigs in `poses` (`other` included), those of outcomes
    of all rolls, those of `against` of the named poses or pairs alone; intervals are exact.

    Args:
        counts: the sample.
        comparison: from `compare`, for the key `against`.
        same_model: pools the rests of both pigs; otherwise `rests` has a key a pig.
    """
    if same_model:
        rests = _rests(counts, PIG_NAMES)
    else:
        rests = {name: _rests(counts, (name,)) for name in PIG_NAMES}
    scores = sorted(counts.scores.items(), key=lambda item: -1 if item[0] is None else item[0])
    result: Json = {
        "rolls": counts.rolls,
        "poses": {pose.value: cell(count, counts.pigs) for pose, count in counts.poses.items()},
        "rests": rests,
        "outcomes": {
            outcome.value: cell(counts.outcomes[outcome], counts.rolls) for outcome in Outcome
        },
        "scores": {"null" if points is None else str(points): count for points, count in scores},
        "statuses": {status.value: counts.statuses[status] for status in Status},
    }
    if comparison is not None:
        result["against"] = _against(comparison)
    return result


def _rests(counts: Counts, pigs: tuple[str, ...]) -> Json:
    size, found = counts.pigs * len(pigs) // len(PIG_NAMES), Counter[int]()
    for (name, index), count in counts.rests.items():
        if name in pigs:
            found[index] += count
    return {str(index): cell(found[index], size) for index in sorted(found)}


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
        "differences": _differences(comparison.poses),
        "pair_differences": _differences(comparison.pairs),
        "reference": {
            name: {"count": count, "frequency": count / table.sample_size}
            for name, count in table.counts.items()
        },
    }


def _differences(found: Sequence[Difference]) -> Json:
    return {
        it.name: {
            "frequencies": [it.one, it.two],
            "difference": it.one - it.two,
            **asdict(it.interval),
            "p": it.p,
            "matters": it.matters,
        }
        for it in found
    }


def two_to_json(one: Counts, two: Counts, names: tuple[str, str]) -> Json:
    """`samples`, `differences` and `deserved_points`, by the samples' names."""
    samples = dict(zip(names, (one, two), strict=True))
    return {
        "samples": {
            name: {"rolls": counts.rolls, "pigs": counts.pigs} for name, counts in samples.items()
        },
        "differences": _differences(side_by_side(one, two)),
        "deserved_points": {name: points_of(counts) for name, counts in samples.items()},
    }


def two_to_text(one: Counts, two: Counts, names: tuple[str, str]) -> str:
    """Two datasets side by side."""
    lines = [
        f"{letter}: {name}, {counts.rolls:,} rolls, {counts.pigs:,} pigs"
        for letter, name, counts in zip("AB", names, (one, two), strict=True)
    ]
    if not (found := side_by_side(one, two)):
        return "\n".join([*lines, "nothing to compare: no counted pigs"])
    lines += ["shares of all these pigs, the pose other among them", ""]
    lines += [*_difference_lines("pose", found), ""]
    lines += ["points that rarity would deserve (5 a step of a factor of four), A and B:"]
    first, second = points_of(one), points_of(two)
    for name in first:
        points = ("-" if of[name] is None else str(of[name]) for of in (first, second))
        lines.append(row((20, 4, 6), f"  {name}", *points))
    return "\n".join(lines)

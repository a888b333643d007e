"""Two samples side by side, as JSON values and as a text of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from physim.statistics.counts import Counts
from physim.statistics.two import Difference, deserved_points, side_by_side
from physim.values import Pose

_SIDES = (Pose.SIDE_DOT_UP, Pose.SIDE_DOT_DOWN, Pose.OTHER)  # no points of their own


def two_to_json(one: Counts, two: Counts, names: tuple[str, str]) -> dict[str, Any]:
    """`samples`, `differences` and `deserved_points`, by the samples' names."""
    return {
        "samples": {
            name: {"rolls": counts.rolls, "pigs": counts.pigs}
            for name, counts in zip(names, (one, two), strict=True)
        },
        "differences": {
            it.pose.value: {
                "frequencies": [it.one, it.two],
                "difference": it.one - it.two,
                "low": it.interval.low,
                "high": it.interval.high,
                "p": it.p,
                "matters": it.matters,
            }
            for it in side_by_side(one, two)
        },
        "deserved_points": {
            name: points_of(counts) for name, counts in zip(names, (one, two), strict=True)
        },
    }


def points_of(counts: Counts) -> dict[str, int | None]:
    """The points that each pose with points would deserve by its rarity."""
    if not counts.pigs:
        return {}
    return {
        pose.value: deserved_points(counts.poses[pose] / counts.pigs)
        for pose in Pose
        if pose not in _SIDES
    }


def format_two(one: Counts, two: Counts, names: tuple[str, str]) -> str:
    """As text."""
    return "\n".join(_lines(one, two, names))


def _lines(one: Counts, two: Counts, names: tuple[str, str]) -> Iterator[str]:
    for letter, name, counts in zip("AB", names, (one, two), strict=True):
        yield f"{letter}: {name}, {counts.rolls:,} rolls, {counts.pigs:,} pigs"
    differences = side_by_side(one, two)
    if not differences:
        yield "nothing to compare: no counted pigs"
        return
    yield ""
    yield f"{'pose':18}{'A %':>8}{'B %':>8}{'A - B':>8}  {'95 % interval':18}{'p (Holm)':>9}"
    for it in differences:
        yield _row(it)
    yield ""
    yield "points that rarity would deserve (5 a step of a factor of four), A and B:"
    first, second = points_of(one), points_of(two)
    for name, points in first.items():
        yield f"  {name:18}{_points(points):>4}{_points(second[name]):>6}"


def _row(it: Difference) -> str:
    span = f"{100 * it.interval.low:+.2f} to {100 * it.interval.high:+.2f}"
    line = f"{it.pose.value:18}{100 * it.one:>8.2f}{100 * it.two:>8.2f}"
    line += f"{100 * (it.one - it.two):>+8.2f}  {span:18}{it.p:>9.3g}"
    return line + ("  *" if it.matters else "")


def _points(points: int | None) -> str:
    return "-" if points is None else str(points)

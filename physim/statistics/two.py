"""Two samples side by side: what differs, by how much, and more than by chance.

A sample is set beside another dataset or beside a table; both are computed and shown here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.stats import binomtest, fisher_exact

from physim.statistics.counts import Counts
from physim.statistics.intervals import CONFIDENCE, Interval
from physim.values import Pose

MATTERS_P = 0.05
_SIDES = (Pose.SIDE_DOT_UP, Pose.SIDE_DOT_DOWN, Pose.OTHER)  # no points of their own


@dataclass(frozen=True)
class Difference:
    """One pose, or pair of poses, in two samples.

    Attributes:
        name: of the pose or pair.
        one: frequency in the first sample.
        two: in the second.
        interval: 95 % of `one - two`.
        p: of Fisher's exact test, adjusted by Holm's method for all of one call of
            `differences`: poses for the poses, pairs for the pairs.
    """

    name: str
    one: float
    two: float
    interval: Interval
    p: float

    @property
    def matters(self) -> bool:
        """Whether chance hardly explains it."""
        return self.p < MATTERS_P


def differences(
    one: Mapping[str, int], one_size: int, two: Mapping[str, int], two_size: int
) -> tuple[Difference, ...]:
    """The differences of two samples.

    Args:
        one: counts of the first sample by name.
        one_size: its pigs or rolls, at least the sum of `one`.
        two: counts of the second by the same names.
        two_size: likewise.

    Returns:
        A difference a name, in the order of `one`; none where a sample is empty.

    References:
        R. G. Newcombe, Statistics in Medicine 17, 1998, method 10 (the intervals).
        S. Holm, Scandinavian Journal of Statistics 6, 1979 (the adjustment).
    """
    if not one_size or not two_size:
        return ()
    counts = [(one[name], two[name]) for name in one]
    tests = [float(fisher_exact([[a, one_size - a], [b, two_size - b]])[1]) for a, b in counts]
    return tuple(
        Difference(name, a / one_size, b / two_size, newcombe(a, one_size, b, two_size), p)
        for name, (a, b), p in zip(one, counts, holm(tests), strict=True)
    )


def side_by_side(one: Counts, two: Counts) -> tuple[Difference, ...]:
    """Every pose's difference, `other` included; none where a sample has no pigs."""
    first, second = ({pose.value: each.poses[pose] for pose in Pose} for each in (one, two))
    return differences(first, one.pigs, second, two.pigs)


def holm(p: Sequence[float]) -> list[float]:
    """p-values adjusted so that all together err with the stated rate."""
    adjusted = [0.0] * len(p)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        largest = max(largest, min(1.0, (len(p) - rank) * p[index]))
        adjusted[index] = largest
    return adjusted


def newcombe(a: int, m: int, b: int, n: int) -> Interval:
    """The 95 % interval of a/m - b/n."""
    first, second = _wilson(a, m), _wilson(b, n)
    one, two = a / m, b / n
    return Interval(
        one - two - math.hypot(one - first.low, second.high - two),
        one - two + math.hypot(first.high - one, two - second.low),
    )


def _wilson(count: int, size: int) -> Interval:
    ends = binomtest(count, size).proportion_ci(CONFIDENCE, method="wilson")
    return Interval(float(ends.low), float(ends.high))


def deserved_points(frequency: float) -> int | None:
    """The points that a pose deserves by how rare it is; None for one that never came up.

    Five points a step of a factor of four, as in the rules: with the real frequencies it gives
    their own points, 5 for razorback and trotter, 10 for the snouter, 15 for the jowler.
    """
    if frequency <= 0:
        return None
    return 5 * max(1, round(math.log(1 / frequency, 4) - 2 / 3))


def differences_to_json(found: Sequence[Difference]) -> dict[str, Any]:
    """By name."""
    return {
        it.name: {
            "frequencies": [it.one, it.two],
            "difference": it.one - it.two,
            "low": it.interval.low,
            "high": it.interval.high,
            "p": it.p,
            "matters": it.matters,
        }
        for it in found
    }


def difference_lines(kind: str, found: Sequence[Difference]) -> Iterator[str]:
    """A table in percent and percentage points, 80 columns at most, and what p means.

    Args:
        kind: what is compared, "pose" or "pair".
        found: at least one difference.
    """
    width = max(18, *(len(it.name) for it in found))
    yield f"{kind:{width}}{'A %':>7}{'B %':>7}{'A - B':>8} {'95 % interval':18}{'p (Holm)':>8}"
    for it in found:
        span = f"{100 * it.interval.low:+.2f} to {100 * it.interval.high:+.2f}"
        line = f"{it.name:{width}}{100 * it.one:>7.2f}{100 * it.two:>7.2f}"
        line += f"{100 * (it.one - it.two):>+8.2f} {span:18}{it.p:>8.2g}"
        yield line + (" *" if it.matters else "")
    yield f"p of Fisher's exact test, adjusted by Holm's method for {len(found)} {kind}s compared;"
    yield f"* below {MATTERS_P:g}: chance hardly explains it"


def two_to_json(one: Counts, two: Counts, names: tuple[str, str]) -> dict[str, Any]:
    """`samples`, `differences` and `deserved_points`, by the samples' names."""
    samples = dict(zip(names, (one, two), strict=True))
    return {
        "samples": {
            name: {"rolls": counts.rolls, "pigs": counts.pigs} for name, counts in samples.items()
        },
        "differences": differences_to_json(side_by_side(one, two)),
        "deserved_points": {name: points_of(counts) for name, counts in samples.items()},
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
    """Two datasets as text of 80 columns."""
    return "\n".join(_lines(one, two, names))


def _lines(one: Counts, two: Counts, names: tuple[str, str]) -> Iterator[str]:
    for letter, name, counts in zip("AB", names, (one, two), strict=True):
        yield f"{letter}: {name}, {counts.rolls:,} rolls, {counts.pigs:,} pigs"
    found = side_by_side(one, two)
    if not found:
        yield "nothing to compare: no counted pigs"
        return
    yield "shares of all these pigs, the pose other among them"
    yield ""
    yield from difference_lines("pose", found)
    yield ""
    yield "points that rarity would deserve (5 a step of a factor of four), A and B:"
    first, second = points_of(one), points_of(two)
    for name, points in first.items():
        yield f"  {name:18}{_points(points):>4}{_points(second[name]):>6}"


def _points(points: int | None) -> str:
    return "-" if points is None else str(points)

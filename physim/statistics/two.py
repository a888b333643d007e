"""Two samples side by side: which poses differ, by how much, and more than by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import fisher_exact

from physim.statistics.counts import Counts
from physim.statistics.intervals import Interval
from physim.values import Pose

MATTERS_P = 0.05
_Z = 1.959963984540054  # of a two-sided 95 % interval


@dataclass(frozen=True)
class Difference:
    """One pose in two samples.

    Attributes:
        pose: `other` included.
        one: frequency in the first sample.
        two: in the second.
        interval: 95 % of `one - two`.
        p: of Fisher's exact test, adjusted for all poses by Holm's method.
    """

    pose: Pose
    one: float
    two: float
    interval: Interval
    p: float

    @property
    def matters(self) -> bool:
        """Whether chance hardly explains it."""
        return self.p < MATTERS_P


def side_by_side(one: Counts, two: Counts) -> tuple[Difference, ...]:
    """Every pose's difference; none where a sample has no pigs.

    References:
        R. G. Newcombe, Statistics in Medicine 17, 1998, method 10 (the intervals).
        S. Holm, Scandinavian Journal of Statistics 6, 1979 (the adjustment).
    """
    if not one.pigs or not two.pigs:
        return ()
    counts = [(one.poses[pose], two.poses[pose]) for pose in Pose]
    tests = [float(fisher_exact([[a, one.pigs - a], [b, two.pigs - b]])[1]) for a, b in counts]
    return tuple(
        Difference(pose, a / one.pigs, b / two.pigs, newcombe(a, one.pigs, b, two.pigs), p)
        for pose, (a, b), p in zip(Pose, counts, holm(tests), strict=True)
    )


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
    share, square = count / size, _Z * _Z / size
    middle = share + square / 2
    half = _Z * math.sqrt(share * (1 - share) / size + square / (4 * size))
    return Interval((middle - half) / (1 + square), (middle + half) / (1 + square))


def deserved_points(frequency: float) -> int | None:
    """The points that a pose deserves by how rare it is; None for one that never came up.

    Five points a step of a factor of four, as in the rules: with the real frequencies it gives
    their own points, 5 for razorback and trotter, 10 for the snouter, 15 for the jowler.
    """
    if frequency <= 0:
        return None
    return 5 * max(1, round(math.log(1 / frequency, 4) - 2 / 3))

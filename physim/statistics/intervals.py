"""Exact intervals of a probability from a count."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.stats import beta

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """Low and high end of a probability's interval."""

    low: float
    high: float


def clopper_pearson(count: int, size: int, confidence: float = CONFIDENCE) -> Interval:
    """The exact two-sided binomial interval; it covers with at least `confidence`.

    Args:
        count: how often it came up, 0 to `size`.
        size: independent tries; 0 gives the interval from 0 to 1.
        confidence: in (0, 1).

    Returns:
        The interval.

    Raises:
        ValueError: an argument out of range.

    References:
        C. J. Clopper, E. S. Pearson, Biometrika 26(4), 1934.
    """
    if not 0 <= count <= size or not 0 < confidence < 1:
        raise ValueError(f"no interval for {count} of {size} at confidence {confidence}")
    tail = (1 - confidence) / 2
    low = 0.0 if count == 0 else float(beta.ppf(tail, count, size - count + 1))
    high = 1.0 if count == size else float(beta.isf(tail, count + 1, size - count))
    return Interval(low, high)

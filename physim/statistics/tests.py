"""Exact intervals of a probability, and which of two predictions counts speak for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta

from physim.types import FloatArray

CONFIDENCE = 0.95
DRAWS = 9_999


@dataclass(frozen=True)
class Interval:
    """Low and high end of a probability's interval."""

    low: float
    high: float


def clopper_pearson(count: int, size: int, confidence: float = CONFIDENCE) -> Interval:
    """The exact two-sided binomial interval; it covers with at least `confidence`.

    In closed form; SciPy's `binomtest` searches for the same ends and takes no empty sample.

    Of no tries it goes from 0 to 1.

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


@dataclass(frozen=True)
class LikelihoodRatio:
    """ln of the likelihood of counts under one prediction over that under another.

    Attributes:
        value: above 0 the counts speak for the prediction, below 0 for the other one.
        if_prediction, if_other: the mean of `value` if the one or the other were true.
        p_prediction: probability of a value as low or lower if the prediction were true.
        p_other: probability of a value as high or higher if the other one were.
    """

    value: float
    if_prediction: float
    if_other: float
    p_prediction: float
    p_other: float


def log_likelihood_ratio(
    counts: ArrayLike,
    prediction: ArrayLike,
    other: ArrayLike,
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> LikelihoodRatio:
    """Compares two predictions of independent multinomial groups, both fixed in advance.

    Args:
        counts: (groups, k) what was counted.
        prediction: (groups, k) probabilities, each row adding up to 1, all above 0.
        other: (groups, k) of the other prediction.
        rng: for the two p-values, each from tables that are drawn.
        draws: how many.
    """
    observed = np.asarray(counts, dtype=np.int64)
    one, two = np.asarray(prediction, dtype=float), np.asarray(other, dtype=float)
    logs, sizes = np.log(one / two), observed.sum(axis=1)

    def drawn(chances: FloatArray) -> NDArray[np.float64]:
        values = np.zeros(draws)
        for size, row, weights in zip(sizes.tolist(), chances, logs, strict=True):
            values += rng.multinomial(size, row, size=draws) @ weights
        return values

    value = float((observed * logs).sum())
    slack = 1e-9 * max(1.0, abs(value))  # equal but for rounding
    low, high = drawn(one) <= value + slack, drawn(two) >= value - slack
    return LikelihoodRatio(
        value,
        float((sizes[:, None] * one * logs).sum()),
        float((sizes[:, None] * two * logs).sum()),
        float((1 + low.sum()) / (1 + draws)),
        float((1 + high.sum()) / (1 + draws)),
    )


def smoothed(counts: ArrayLike) -> FloatArray:
    """(..., k) frequencies, half a count added to each cell so that none is 0 (Jeffreys)."""
    added = np.asarray(counts, dtype=float) + 0.5
    return np.asarray(added / added.sum(axis=-1, keepdims=True))

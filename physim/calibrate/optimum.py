"""The parameters at which surfaces of frequencies agree best with real counts.

Multinomial deviance of the real counts, a kind of table and a height of release at a time, plus a
normal prior on the parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from physim.calibrate.surface import Surface, features
from physim.values import ExactValue, FloatArray

Counts = NDArray[np.int64]
_STARTS = 12  # of the search, the middle of the region among them
_LEAST = 1e-12  # a frequency; keeps the logarithm finite far from what was sampled


@dataclass(frozen=True, eq=False)
class Prior(ExactValue):
    """A normal prior on scaled parameters.

    Attributes:
        mean, sd: (d,) in the surface's coordinates.
    """

    mean: FloatArray
    sd: FloatArray

    def penalty(self, x: FloatArray) -> float:
        """-2 log of its density, but for a constant."""
        return float((((x - self.mean) / self.sd) ** 2).sum())


@dataclass(frozen=True, eq=False)
class Real(ExactValue):
    """Real counts of one kind, with the surface that predicts them.

    Attributes:
        surface: from `fit_surface`.
        heights: (m,) as `surface.features` has them.
        counts: (m, k) in the surface's cells.
    """

    surface: Surface
    heights: FloatArray
    counts: Counts

    def probabilities(self, x: FloatArray) -> FloatArray:
        """(m, k) frequencies at a point (d,)."""
        points = np.repeat(x[None], len(self.heights), axis=0)
        return np.maximum(self.surface.probabilities(points, self.heights), _LEAST)


@dataclass(frozen=True, eq=False)
class Optimum(ExactValue):
    """Where the surfaces agree best.

    Attributes:
        x: (d,) the parameters, in the surface's coordinates.
        covariance: (d, d) from the real counts' information and the prior, and what the chance of
            the simulated counts adds to it.
        data_share: (d,) per parameter, how much of the prior's variance the data removed, 0 to 1.
        deviance: of the real counts, 2 sum O ln(O / E), without the prior.
        probabilities: for each kind (heights, k) there.
        at_border: (d,) per parameter, whether it lies on the region's border: there the covariance
            is that of the surface's curvature alone, as if the optimum were inside.
    """

    x: FloatArray
    covariance: FloatArray
    data_share: FloatArray
    deviance: float
    probabilities: tuple[FloatArray, ...]
    at_border: tuple[bool, ...]


def optimum(
    real: Sequence[Real],
    prior: Prior,
    low: FloatArray | float = -1.0,
    high: FloatArray | float = 1.0,
) -> Optimum:
    """The best parameters of a region in which the surfaces may be trusted.

    Args:
        real: counts and surfaces.
        prior: on x.
        low: (d,) or one for all, of the region.
        high: likewise.
    """
    d = len(prior.mean)
    low, high = np.broadcast_to(low, d), np.broadcast_to(high, d)

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        total = prior.penalty(x)
        slope = 2.0 * (x - prior.mean) / prior.sd**2
        for kind in real:
            for height, row, counts in zip(
                kind.heights, kind.probabilities(x), kind.counts, strict=True
            ):
                total += deviance(counts, row)
                slope -= 2.0 * (counts / row) @ kind.surface.gradient(x, float(height))
        return total, slope

    rng = np.random.default_rng(0)
    starts = [(low + high) / 2, *rng.uniform(low, high, (_STARTS - 1, d))]
    found = [
        minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=np.stack([low, high], axis=1),
        )
        for start in starts
    ]
    x = np.asarray(min(found, key=lambda one: float(one.fun)).x)
    information = np.diag(1.0 / prior.sd**2)
    noise = np.zeros((d, d))
    for kind in real:
        known, doubt = _information(kind, x)
        information, noise = information + known, noise + doubt
    inverse = np.linalg.inv(information)
    covariance = np.asarray(inverse + inverse @ noise @ inverse, dtype=np.float64)
    return Optimum(
        x,
        covariance,
        np.asarray(1.0 - np.diag(covariance) / prior.sd**2),
        sum(
            deviance(counts, row)
            for kind in real
            for row, counts in zip(kind.probabilities(x), kind.counts, strict=True)
        ),
        tuple(kind.probabilities(x) for kind in real),
        tuple((np.minimum(x - low, high - x) < 1e-6).tolist()),
    )


def _information(kind: Real, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(d, d) Fisher's, of the counts, and the covariance of their score by the surface's doubt."""
    d, cells = len(x), kind.surface.coefficients.shape[1]
    information, score = np.zeros((d, d)), np.zeros((d, kind.surface.coefficients.size))
    for height, p, counts in zip(kind.heights, kind.probabilities(x), kind.counts, strict=True):
        pigs, g = counts.sum(), kind.surface.gradient(x, float(height))
        information += pigs * (g.T / p) @ g
        # The score is g' (counts / p); a change of the log-odds of cell k moves it by n dp_k/dx.
        f = features(x[None], np.array([height]))
        score += pigs * np.kron(g[1:].T, f).reshape(d, cells * f.shape[1])
    return information, score @ kind.surface.covariance @ score.T


def deviance(counts: Counts, p: FloatArray) -> float:
    """2 sum O ln(O / E) of counts (k,) under frequencies (k,)."""
    seen = counts > 0
    expected = counts.sum() * p[seen]
    return float(2.0 * (counts[seen] * np.log(counts[seen] / expected)).sum())

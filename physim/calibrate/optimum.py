"""The parameters at which a surface of frequencies agrees best with real counts.

Multinomial deviance of the real counts, by height of release, plus a normal prior on the
parameters. The real counts enter by height with the pigs pooled, as one model rolls both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from physim.calibrate.surface import Surface
from physim.values import FloatArray

Counts = NDArray[np.int64]
_STARTS = 12  # of the search, the middle of the region among them


@dataclass(frozen=True)
class Prior:
    """A normal prior on scaled parameters.

    Attributes:
        mean, sd: (d,) in the surface's coordinates.
    """

    mean: FloatArray
    sd: FloatArray

    def penalty(self, x: FloatArray) -> float:
        """-2 log of its density, but for a constant."""
        return float((((x - self.mean) / self.sd) ** 2).sum())


@dataclass(frozen=True)
class Optimum:
    """Where the surface agrees best.

    Attributes:
        x: (d,) the parameters, in the surface's coordinates.
        covariance: (d, d) from the real counts' information and the prior.
        data_share: (d,) per parameter, how much of the prior's variance the data removed, 0 to 1.
        deviance: of the real counts, 2 sum O ln(O / E), without the prior.
        probabilities: (heights, k) there.
        at_bound: whether some parameter lies on the region's border.
    """

    x: FloatArray
    covariance: FloatArray
    data_share: FloatArray
    deviance: float
    probabilities: FloatArray
    at_bound: bool


def optimum(
    surface: Surface, heights: FloatArray, real: Counts, prior: Prior, bound: float = 1.0
) -> Optimum:
    """The best parameters within |x| <= bound.

    Args:
        surface: from `fit_surface`.
        heights: (m,) as `surface.features` has them.
        real: (m, k) counts in the surface's cells.
        prior: on x.
        bound: half-width of the region in which the surface may be trusted.
    """
    d = len(prior.mean)

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        total = prior.penalty(x)
        slope = 2.0 * (x - prior.mean) / prior.sd**2
        p = surface.probabilities(np.repeat(x[None], len(heights), axis=0), heights)
        for height, row, counts in zip(heights, p, real, strict=True):
            total += deviance(counts, row)
            slope -= 2.0 * (counts / row) @ surface.gradient(x, float(height))
        return total, slope

    rng = np.random.default_rng(0)
    starts = [np.zeros(d), *rng.uniform(-bound, bound, (_STARTS - 1, d))]
    found = [
        minimize(objective, start, jac=True, method="L-BFGS-B", bounds=[(-bound, bound)] * d)
        for start in starts
    ]
    x = np.asarray(min(found, key=lambda one: float(one.fun)).x)
    p = surface.probabilities(np.repeat(x[None], len(heights), axis=0), heights)
    information = np.diag(1.0 / prior.sd**2)
    for height, row, counts in zip(heights, p, real, strict=True):
        g = surface.gradient(x, float(height))
        information = information + counts.sum() * (g.T / row) @ g
    covariance = np.asarray(np.linalg.inv(information), dtype=np.float64)
    return Optimum(
        x,
        covariance,
        np.asarray(1.0 - np.diag(covariance) / prior.sd**2),
        sum(deviance(counts, row) for row, counts in zip(p, real, strict=True)),
        p,
        bool((np.abs(x) > bound - 1e-6).any()),
    )


def deviance(counts: Counts, p: FloatArray) -> float:
    """2 sum O ln(O / E) of counts (k,) under frequencies (k,)."""
    seen = counts > 0
    expected = counts.sum() * p[seen]
    return float(2.0 * (counts[seen] * np.log(counts[seen] / expected)).sum())

"""What stands in for the simulator where no rolls were made, and says how far it may be off.

A search needs no more than a quadratic near the optimum (`surface`). What the real rolls leave open
reaches farther, along combinations of parameters that hardly change a frequency, and there
frequencies bend as no quadratic does: about the fitted pig razorbacks are off by some 6 % of
themselves. So the log-odds have a second part, a Gaussian process of each cell,

    log p_k / p_0 = f(x, h) . B_k + g_k(x),
    cov(g_k(x), g_k(y)) = s_k^2 exp(-|x - y|^2 / 2 l^2),

with f the features of `surface`. The process is made, approximately, of waves: cosines and sines
of 64 random wave vectors, whose weights are independent normal variables. (Ten times as many gave
doubts at most a tenth larger with the samples of the shipped fits. With far more rolls they would
be too few, and the doubt too small.) The variances of slopes (that by height among them), of
curvatures (the products of height and parameters among them) and of waves are the counts' own,
cell by cell: those with the greatest evidence, by MacKay's iteration.
That g is smooth over l = 1.5 spreads of the priors, and alike at both heights, is an assumption (of
1 to 4 spreads this l had the greatest evidence with the samples of the shipped fits).

References:
    Kennedy and O'Hagan, "Bayesian calibration of computer models", J. R. Stat. Soc. B 63, 2001.
    Rahimi and Recht, "Random features for large-scale kernel machines", NIPS 2007.
    MacKay, "Bayesian interpolation", Neural Computation 4, 1992.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from physim.calibrate.surrogate import Counts, features, mode, softmax
from physim.types import ExactValue, FloatArray

LENGTH = 1.5  # l, in the priors' spreads
_MOST_WAVES, _WAVES_EACH = 64, 8  # wave vectors: at most, and for each parameter
_RIDGES = (10.0, 1e3, 300.0)  # of slopes, curvatures and waves, to begin with
_LEAST_RIDGE, _MOST_RIDGE = 0.3, 1e6
_ROUNDS, _SETTLED = 10, 0.005  # of the iteration; a change of log-odds at which it ends


@dataclass(frozen=True, eq=False)
class Emulator(ExactValue):
    """Log-odds as a normal variable at each point.

    Attributes:
        waves: (d, m) wave vectors.
        coefficients: (q, c) their mean; c + 1 cells.
        covariance: (q c, q c) of the coefficients, cell by cell.
        ridges: (3, c) inverse variances of slopes, curvatures and waves.
    """

    waves: FloatArray
    coefficients: FloatArray
    covariance: FloatArray
    ridges: FloatArray

    def log_odds(self, x: FloatArray, heights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of cells 1 to c against cell 0, at all heights of each point.

        Args:
            x: (n, d) points.
            heights: (m,) as `surface.features` has them.

        Returns:
            (n, m, c) means, and (n, m c, m c) covariances.
        """
        n, m = len(x), len(heights)
        q, c = self.coefficients.shape
        f = _basis(np.repeat(x, m, axis=0), np.tile(heights, n), self.waves)
        mean = (f @ self.coefficients).reshape(n, m, c)
        half = (f.astype(np.float32) @ self._flat).reshape(n, m, c, c, q)
        spread = np.einsum("nmabq,nkq->nmakb", half, f.reshape(n, m, q), optimize=True)
        covariance = spread.reshape(n, m * c, m * c).astype(float)
        return mean, 0.5 * (covariance + covariance.transpose(0, 2, 1))

    def probabilities(self, x: FloatArray, height: float) -> FloatArray:
        """(n, c + 1) frequencies at (n, d) points, by the mean of the coefficients."""
        return softmax(_basis(x, np.full(len(x), height), self.waves) @ self.coefficients)

    @cached_property
    def _flat(self) -> FloatArray:
        """(q, c c q) the covariance, in single precision: twice as fast, and exact enough."""
        q, c = self.coefficients.shape
        blocks = self.covariance.reshape(c, q, c, q).transpose(1, 0, 2, 3)
        return np.ascontiguousarray(blocks.reshape(q, c * c * q), dtype=np.float32)


def fit_emulator(x: FloatArray, height: FloatArray, counts: Counts) -> Emulator:
    """The emulator of these samples.

    Args:
        x: (n, d) parameters, in the priors' spreads.
        height: (n,) as `surface.features` has them.
        counts: (n, c + 1) pigs in each cell, no cell empty in all samples.
    """
    d, cells = x.shape[1], counts.shape[1] - 1
    rng = np.random.default_rng(0)  # the waves are part of the method, not of a fit
    waves = rng.normal(size=(d, min(_MOST_WAVES, _WAVES_EACH * d))) / LENGTH
    f, groups = _basis(x, height, waves), _groups(d, waves.shape[1])
    ridges = np.repeat(np.array(_RIDGES)[:, None], cells, axis=1)
    start = None
    for _ in range(_ROUNDS):
        found = mode(f, counts, _each(ridges, groups), start)
        start = found.b
        covariance = np.linalg.inv(found.information)
        better = _evident(ridges, groups, found.b, np.diag(covariance).reshape(cells, -1).T)
        used, ridges = ridges, better
        if np.abs(better**-0.5 - used**-0.5).max() < _SETTLED:
            break
    return Emulator(waves, found.b, np.asarray(covariance), used)


def _basis(x: FloatArray, height: FloatArray, waves: FloatArray) -> FloatArray:
    """(n, q) all that the log-odds are linear in."""
    phase = x @ waves
    scale = 1.0 / np.sqrt(waves.shape[1])
    return np.concatenate(
        [features(x, height), scale * np.cos(phase), scale * np.sin(phase)], axis=1
    )


def _groups(d: int, waves: int) -> list[FloatArray]:
    """(q,) for slopes, curvatures and waves: 1 where a coefficient is one of them."""
    pairs = d * (d + 1) // 2
    kinds = [-1, *[0] * d, *[1] * pairs, 0, *[1] * d, *[2] * (2 * waves)]
    return [(np.array(kinds) == group).astype(float) for group in range(3)]


def _each(ridges: FloatArray, groups: list[FloatArray]) -> FloatArray:
    """(q, c) ridge of each coefficient; none on the constants."""
    return np.asarray(np.stack(groups, axis=1) @ ridges)


def _evident(
    ridges: FloatArray, groups: list[FloatArray], b: FloatArray, variance: FloatArray
) -> FloatArray:
    """(3, c) the next ridges: for each group, the coefficients that are told over their squares."""
    members = np.stack(groups)
    told = members.sum(axis=1)[:, None] - ridges * (members @ variance)
    with np.errstate(divide="ignore"):
        better = told / (members @ b**2)
    return np.asarray(np.clip(better, _LEAST_RIDGE, _MOST_RIDGE))

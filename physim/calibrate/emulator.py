"""The surrogate: what stands in for the simulator where no rolls were made, with its uncertainty.

A candidate's frequencies cost thousands of rolls, since chance blurs them. They change smoothly
with the parameters, so all candidates together say more than each alone. The log-odds of a table's
cells are a quadratic and a Gaussian process of each cell,

    log p_k / p_0 = f(x, h) . B_k + g_k(x),   f = (1, x, x_i x_j (i <= j), h, h x),
    cov(g_k(x), g_k(y)) = s_k^2 exp(-|x - y|^2 / 2 l^2),

with h from -1/2 to 1/2 by the height of release. The process is made, approximately, of cosines
and sines of 64 random wave vectors, whose weights are independent normal variables. (Ten times as
many gave uncertainties at most a tenth larger with the samples of the shipped fits. With far more
rolls they would be too few.) Ridges hold back the coefficients: inverse variances of slopes (that
by height among them), of curvatures (the products of height and parameters among them) and of
waves, cell by cell those with the greatest evidence, by MacKay's iteration. That g is smooth over
l = 1.5 spreads of the priors, and alike at both heights, is an assumption (of 1 to 4 spreads this
l had the greatest evidence with the samples of the shipped fits).

References:
    Agresti, "Categorical Data Analysis", Wiley 2013, chapter 8 (baseline-category logits).
    Kennedy and O'Hagan, "Bayesian calibration of computer models", J. R. Stat. Soc. B 63, 2001.
    MacKay, "Bayesian interpolation", Neural Computation 4, 1992.
    Rahimi and Recht, "Random features for large-scale kernel machines", NIPS 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from physim.types import ExactValue, FloatArray

LENGTH = 1.5  # l, in the priors' spreads
_MOST_WAVES, _WAVES_EACH = 64, 8  # wave vectors: at most, and for each parameter
_RIDGES = (10.0, 1e3, 300.0)  # of slopes, curvatures and waves, to begin with
_LEAST_RIDGE, _MOST_RIDGE = 0.3, 1e6
_ROUNDS, _CONVERGED = 10, 0.005  # of the iteration; a change of log-odds at which it ends
_NEWTON_STEPS, _LEAST_STEP = 100, 1e-9  # at most; of a coefficient
_LEAST_GAIN = 1e-9  # of the log likelihood, relative, at which the method ends


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
        """Predicts cells 1 to c against cell 0, at all heights of each point.

        Args:
            x: (n, d) points.
            heights: (m,) from -1/2 to 1/2.

        Returns:
            (n, m, c) means, and (n, m c, m c) covariances.
        """
        n, m = len(x), len(heights)
        q, c = self.coefficients.shape
        f = _basis(np.repeat(x, m, axis=0), np.tile(heights, n), self.waves)
        mean = (f @ self.coefficients).reshape(n, m, c)
        half = (f.astype(np.float32) @ self._flat).reshape(n, m * c * c, q)
        spread = (half @ f.reshape(n, m, q).transpose(0, 2, 1)).reshape(n, m, c, c, m)
        covariance = spread.transpose(0, 1, 2, 4, 3).reshape(n, m * c, m * c)
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


def fit_emulator(x: FloatArray, height: FloatArray, counts: FloatArray) -> Emulator:
    """Fits the emulator to samples.

    Args:
        x: (n, d) parameters, in the priors' spreads.
        height: (n,) from -1/2 to 1/2.
        counts: (n, c + 1) pigs in each cell, no cell empty in all samples.
    """
    d, cells = x.shape[1], counts.shape[1] - 1
    rng = np.random.default_rng(0)  # the waves are part of the method, not of a fit
    waves = rng.normal(size=(d, min(_MOST_WAVES, _WAVES_EACH * d))) / LENGTH
    f, groups = _basis(x, height, waves), _groups(d, waves.shape[1])
    b = np.zeros((f.shape[1], cells))
    b[0] = np.log(counts[:, 1:].sum(axis=0) / counts[:, 0].sum())
    better = np.repeat(np.array(_RIDGES)[:, None], cells, axis=1)
    for _ in range(_ROUNDS):
        ridges = better
        b, covariance = _likeliest(f, counts, groups.T @ ridges, b)
        variance = np.diag(covariance).reshape(cells, -1).T
        identified = groups.sum(axis=1)[:, None] - ridges * (groups @ variance)
        with np.errstate(divide="ignore"):
            better = np.clip(identified / (groups @ b**2), _LEAST_RIDGE, _MOST_RIDGE)
        if np.abs(better**-0.5 - ridges**-0.5).max() < _CONVERGED:
            break
    return Emulator(waves, b, covariance, ridges)


def features(x: FloatArray, height: FloatArray) -> FloatArray:
    """(n, q) features of the quadratic at (n, d) points and (n,) heights."""
    first, second = np.triu_indices(x.shape[1])
    h = height[:, None]
    return np.concatenate([np.ones((len(x), 1)), x, x[:, first] * x[:, second], h, h * x], axis=1)


def _basis(x: FloatArray, height: FloatArray, waves: FloatArray) -> FloatArray:
    """(n, q) all that the log-odds are linear in."""
    phase, scale = x @ waves, waves.shape[1] ** -0.5
    return np.concatenate(
        [features(x, height), scale * np.cos(phase), scale * np.sin(phase)], axis=1
    )


def _groups(d: int, waves: int) -> FloatArray:
    """(3, q) for slopes, curvatures and waves: 1 where a coefficient is one of them."""
    pairs = d * (d + 1) // 2
    group = np.array([-1, *[0] * d, *[1] * pairs, 0, *[1] * d, *[2] * (2 * waves)])
    return np.array([group == number for number in range(3)], dtype=float)


def softmax(log_odds: FloatArray) -> FloatArray:
    """(..., c + 1) probabilities from (..., c) log-odds against the first cell."""
    full = np.concatenate([np.zeros((*log_odds.shape[:-1], 1)), log_odds], axis=-1)
    full -= full.max(axis=-1, keepdims=True)
    p = np.exp(full)
    return np.asarray(p / p.sum(axis=-1, keepdims=True))


def _likeliest(
    f: FloatArray, counts: FloatArray, ridges: FloatArray, b: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Finds the likeliest coefficients with given ridges, by Newton's method.

    Args:
        f: (n, q) features; the first is the constant.
        counts: (n, c + 1) of the cells, no cell of them empty in all.
        ridges: (q, c) of each coefficient.
        b: (q, c) coefficients to set out from.

    Returns:
        (q, c) coefficients, and their (q c, q c) covariance, cell by cell.
    """
    totals = counts.sum(axis=1)
    value = _log_likelihood(f, counts, ridges, b)
    for _ in range(_NEWTON_STEPS):
        p = softmax(f @ b)[:, 1:]
        slope = f.T @ (counts[:, 1:] - totals[:, None] * p) - ridges * b
        information = _information(f, p, totals) + np.diag(ridges.T.ravel())
        step = np.linalg.solve(information, slope.T.ravel()).reshape(b.T.shape).T
        new = _log_likelihood(f, counts, ridges, b + step)
        while new < value and np.abs(step).max() > _LEAST_STEP:
            step = 0.5 * step
            new = _log_likelihood(f, counts, ridges, b + step)
        gain = new - value
        if gain > 0:
            b, value = b + step, new
        if gain <= _LEAST_GAIN * abs(value):
            break
    information = _information(f, softmax(f @ b)[:, 1:], totals) + np.diag(ridges.T.ravel())
    return b, np.asarray(np.linalg.inv(information))


def _log_likelihood(f: FloatArray, counts: FloatArray, ridges: FloatArray, b: FloatArray) -> float:
    """Gives the log of likelihood and ridges, but for a constant."""
    return float((counts * np.log(softmax(f @ b))).sum() - 0.5 * (ridges * b * b).sum())


def _information(f: FloatArray, p: FloatArray, totals: FloatArray) -> FloatArray:
    """Sums n (diag p - p p') x f f' over all samples, cell by cell."""
    q, cells = f.shape[1], p.shape[1]
    blocks = np.zeros((cells, q, cells, q))
    for a in range(cells):
        for c in range(a, cells):
            w = totals * p[:, a] * ((a == c) - p[:, c])
            block = (f * w[:, None]).T @ f
            blocks[a, :, c, :] = block
            blocks[c, :, a, :] = block.T
    return blocks.reshape(cells * q, cells * q)

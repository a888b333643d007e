"""How pose frequencies depend on parameters: a smooth surface through many simulated samples.

A candidate's frequencies cost thousands of rolls, since chance blurs them. Near the optimum they
change smoothly with the parameters, so all candidates together say more than each alone: the
log-odds of the poses are taken as quadratic in the parameters,

    log p_k / p_0 = f(x, h) . B_k,   f = (1, x, x_i x_j (i <= j), h, h x),

with h = -1/2 and +1/2 at the lower and the higher release, and B is fitted to all counts at once
by maximum likelihood with two ridges, a weak one on the slopes (of x and h) and one on the
curvatures (all products). A quadratic in ten parameters has more coefficients than the rare poses
can tell, and an optimum would seek out their errors; so the curvatures are held back as the counts
themselves speak for: by the ridge with the greatest evidence, the probability of the counts with
all B integrated out (Laplace's approximation). It is an assumption that a quadratic is enough in
the region that was sampled: `misfit` says how much more the samples scatter about the surface than
chance allows (1 if it holds).

References:
    MacKay, "Bayesian interpolation", Neural Computation 4, 1992 (ridges by evidence).
    Myers, Montgomery and Anderson-Cook, "Response Surface Methodology", Wiley 2016.

Baseline-category logits: counts in cells whose log-odds are linear in features.

    log p_k / p_0 = f . B_k,  k = 1 ... c,

with a normal prior of mean 0 on each coefficient but the constants, whose precision is called its
ridge.

Reference:
    Agresti, "Categorical Data Analysis", Wiley 2013, chapter 8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from physim.types import ExactValue, FloatArray

# A ridge of r means: a coefficient is expected to be some 1 / sqrt(r).
_SLOPE, _CURVATURES = 1.0, (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)


def features(x: FloatArray, height: FloatArray) -> FloatArray:
    """(n, q) what the log-odds are linear in.

    Args:
        x: (n, d) parameters, centred and scaled to the region's half-width.
        height: (n,) -1/2 for the lower release, 1/2 for the higher, 0 for both alike.
    """
    first, second = np.triu_indices(x.shape[1])
    h = height[:, None]
    return np.concatenate([np.ones((len(x), 1)), x, x[:, first] * x[:, second], h, h * x], axis=1)


def feature_gradients(x: FloatArray, height: float) -> FloatArray:
    """(q, d) derivatives of the features of one point (d,)."""
    d = len(x)
    first, second = np.triu_indices(d)
    pairs = np.zeros((len(first), d))
    rows = np.arange(len(first))
    np.add.at(pairs, (rows, first), x[second])
    np.add.at(pairs, (rows, second), x[first])
    return np.concatenate(
        [np.zeros((1, d)), np.eye(d), pairs, np.zeros((1, d)), height * np.eye(d)]
    )


@dataclass(frozen=True, eq=False)
class Surface(ExactValue):
    """A fitted surface.

    Attributes:
        coefficients: (q, k - 1) B; the log-odds of cells 1 to k - 1 against cell 0.
        covariance: (q (k - 1), q (k - 1)) of the coefficients, cell by cell, from the simulated
            counts' information, times `misfit` where that is above 1.
        misfit: Pearson chi-square of the samples about the surface over its degrees of freedom.
        pigs: simulated, in all samples.
        ridges: on the squares of slopes and of curvatures.
    """

    coefficients: FloatArray
    covariance: FloatArray
    misfit: float
    pigs: int
    ridges: tuple[float, float]

    def probabilities(self, x: FloatArray, height: FloatArray) -> FloatArray:
        """(n, k) frequencies at (n, d) points."""
        return softmax(features(x, height) @ self.coefficients)

    def gradient(self, x: FloatArray, height: float) -> FloatArray:
        """(k, d) derivatives of the frequencies at one point."""
        p = self.probabilities(x[None], np.array([height]))[0]
        logits = np.zeros((len(p), len(x)))
        logits[1:] = (feature_gradients(x, height).T @ self.coefficients).T
        return np.asarray(p[:, None] * (logits - p @ logits))


def fit_surface(
    x: FloatArray,
    height: FloatArray,
    counts: Counts,
    ridges: tuple[float, float] | None = None,
) -> Surface:
    """The surface through these samples.

    Args:
        x: (n, d) parameters, centred and scaled to the region's half-width.
        height: (n,) see `features`.
        counts: (n, k) pigs in each cell.
        ridges: on the squares of slopes and of curvatures; None for those by evidence.

    Raises:
        ValueError: a cell that no sample has a pig in.
    """
    if (counts.sum(axis=0) == 0).any():
        raise ValueError("a cell is empty in all samples: there is no surface for it")
    f, start = features(x, height), None
    tried = []
    for pair in [ridges] if ridges else [(_SLOPE, curvature) for curvature in _CURVATURES]:
        weights = _weights(x.shape[1], counts.shape[1] - 1, pair)
        one = mode(f, counts, weights, start)
        start = one.b
        tried.append((_evidence(one, weights), one, pair))
    _, found, chosen = max(tried, key=lambda entry: entry[0])
    totals = counts.sum(axis=1)
    expected = totals[:, None] * softmax(f @ found.b)
    covariance = np.asarray(np.linalg.inv(found.information), dtype=np.float64)
    held = _weights(x.shape[1], counts.shape[1] - 1, chosen).T.ravel() @ np.diag(covariance)
    degrees = counts.size - len(counts) - (found.b.size - held)  # coefficients that are free
    misfit = float(((counts - expected) ** 2 / expected).sum() / max(1.0, degrees))
    covariance *= max(1.0, misfit)
    return Surface(found.b, covariance, misfit, int(totals.sum()), chosen)


def _weights(d: int, cells: int, ridges: tuple[float, float]) -> FloatArray:
    """(q, cells) ridge of each coefficient; none on the constants."""
    slope, curvature = ridges
    pairs = d * (d + 1) // 2
    column = [0.0, *[slope] * d, *[curvature] * pairs, slope, *[curvature] * d]
    return np.repeat(np.array(column)[:, None], cells, axis=1)


def _evidence(found: Mode, ridges: FloatArray) -> float:
    """Log of it, but for a constant."""
    determinant = np.linalg.slogdet(found.information).logabsdet
    return float(found.value + 0.5 * (np.log(ridges[ridges > 0]).sum() - determinant))


Counts = NDArray[np.int64] | FloatArray
_STEPS = 100  # of Newton's method, at most
_SMALL = 1e-9  # a relative gain of the log likelihood at which it ends


@dataclass(frozen=True, eq=False)
class Mode(ExactValue):
    """The likeliest coefficients with given ridges.

    Attributes:
        b: (q, c).
        information: (q c, q c) of the coefficients, cell by cell, the ridges included.
        value: log of likelihood and prior there, but for constants.
    """

    b: FloatArray
    information: FloatArray
    value: float


def mode(f: FloatArray, counts: Counts, ridges: FloatArray, start: FloatArray | None) -> Mode:
    """By Newton's method.

    Args:
        f: (n, q) features; the first is the constant.
        counts: (n, c + 1) of the cells, no cell of them empty in all.
        ridges: (q, c) of each coefficient.
        start: (q, c) coefficients to set out from; None for constants alone.
    """
    q, cells = ridges.shape
    totals = counts.sum(axis=1)
    b = np.zeros((q, cells)) if start is None else start
    if start is None:
        b[0] = np.log((counts[:, 1:].sum(axis=0)) / counts[:, 0].sum())
    value = _penalized(f, counts, b, ridges)
    for _ in range(_STEPS):
        p = softmax(f @ b)
        slope = f.T @ (counts[:, 1:] - totals[:, None] * p[:, 1:]) - ridges * b
        information = _information(f, p[:, 1:], totals) + np.diag(ridges.T.ravel())
        step = np.linalg.solve(information, slope.T.ravel()).reshape(cells, q).T
        length = 1.0
        while (new := _penalized(f, counts, b + length * step, ridges)) < value and length > 1e-6:
            length *= 0.5
        gain = new - value
        if gain > 0:
            b, value = b + length * step, new
        if gain <= _SMALL * abs(value):
            break
    information = _information(f, softmax(f @ b)[:, 1:], totals) + np.diag(ridges.T.ravel())
    return Mode(b, information, value)


def softmax(logits: FloatArray) -> FloatArray:
    """(..., c + 1) probabilities from (..., c) log-odds against the first cell."""
    full = np.concatenate([np.zeros((*logits.shape[:-1], 1)), logits], axis=-1)
    full -= full.max(axis=-1, keepdims=True)
    p = np.exp(full)
    return np.asarray(p / p.sum(axis=-1, keepdims=True))


def _penalized(f: FloatArray, counts: Counts, b: FloatArray, ridges: FloatArray) -> float:
    likelihood = (counts * np.log(softmax(f @ b))).sum()
    return float(likelihood - 0.5 * (ridges * b * b).sum())


def _information(f: FloatArray, p: FloatArray, totals: Counts) -> FloatArray:
    """Of the coefficients, cell by cell: sums of n (diag p - p p') x f f'."""
    q, cells = f.shape[1], p.shape[1]
    blocks = np.zeros((cells, q, cells, q))
    for a in range(cells):
        for c in range(a, cells):
            w = totals * p[:, a] * ((a == c) - p[:, c])
            block = (f * w[:, None]).T @ f
            blocks[a, :, c, :] = block
            blocks[c, :, a, :] = block.T
    return blocks.reshape(cells * q, cells * q)

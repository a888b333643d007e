"""Baseline-category logits: counts in cells whose log-odds are linear in features.

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

from physim.values import ExactValue, FloatArray

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

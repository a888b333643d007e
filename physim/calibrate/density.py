"""How likely parameters are, given the real counts and all samples of a fit.

The density of parameters x given the real counts is that of the prior times the probability of the
counts, where an `Emulator` of all samples stands in for the simulator: its log-odds are uncertain,
so they are integrated out (Laplace's approximation at each x).

Reference:
    Kennedy and O'Hagan, "Bayesian calibration of computer models", J. R. Stat. Soc. B 63, 2001.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from physim.calibrate.emulator import Emulator, fit_emulator
from physim.calibrate.fit import Fit, Problem
from physim.calibrate.kinds import Point, kinds
from physim.calibrate.logits import softmax
from physim.calibrate.parameters import Space
from physim.values import ExactValue, FloatArray

REACH = 2.5  # spreads of the priors to each side of the fit: where samples are used, and x may be
_JITTER = 1e-9  # variance added to log-odds: keeps Cholesky's method going where they are certain
_NEWTON, _HALVINGS, _STILL = 30, 20, 1e-4
_LEAST = 1e-300  # a frequency


@dataclass(frozen=True, eq=False)
class Observed(ExactValue):
    """Real counts of one kind, with the emulator that predicts them.

    Attributes:
        emulator: of the simulated counts.
        heights: (m,) as `surface.features` has them.
        counts: (m, c + 1) in the emulator's cells.
    """

    emulator: Emulator
    heights: FloatArray
    counts: NDArray[np.int64]

    def log_probability(self, x: FloatArray) -> FloatArray:
        """(n,) of the counts at (n, d) points, but for a constant; the log-odds integrated out.

        They are `mean + factor @ u` with u standard normal; Newton's method finds the likeliest u.
        """
        mean, covariance = self.emulator.log_odds(x, self.heights)
        n, m, c = mean.shape
        factor = np.linalg.cholesky(covariance + _JITTER * np.eye(m * c))
        back, totals = factor.transpose(0, 2, 1), self.counts.sum(axis=1)

        def at(u: FloatArray) -> tuple[FloatArray, FloatArray]:
            """(n, m, c + 1) frequencies, and (n,) log of the probability of counts and u."""
            p = softmax(mean + (factor @ u).reshape(n, m, c))
            counted = (self.counts * np.log(np.maximum(p, _LEAST))).sum(axis=(1, 2))
            return p, counted - 0.5 * (u**2).sum(axis=(1, 2))

        u = np.zeros((n, m * c, 1))
        p, value = at(u)
        settled = np.zeros(n, dtype=bool)
        for _ in range(_NEWTON):
            score = (self.counts[:, 1:] - totals[:, None] * p[..., 1:]).reshape(n, m * c, 1)
            information = np.eye(m * c) + back @ _information(p[..., 1:], totals) @ factor
            step = np.linalg.solve(information, back @ score - u)
            settled = np.abs(step).max(axis=(1, 2)) < _STILL
            if settled.all():
                break
            length = np.ones((n, 1, 1))
            for _ in range(_HALVINGS):
                new_p, new = at(u + length * step)
                if not (worse := new < value).any():
                    break
                length[worse] *= 0.5
            u, p, value = u + length * step, new_p, new
        determinant = np.linalg.slogdet(information).logabsdet
        return np.asarray(np.where(settled, value - 0.5 * determinant, -np.inf))


@dataclass(frozen=True, eq=False)
class Density(ExactValue):
    """The posterior's, in the priors' spreads about the fit.

    Attributes:
        observed: real counts, a kind at a time.
        prior: (d,) mean of the prior, whose spreads are 1.
        low, high: (d,) where it is not 0.
    """

    observed: Sequence[Observed]
    prior: FloatArray
    low: FloatArray
    high: FloatArray

    def log(self, x: FloatArray) -> FloatArray:
        """(n,) of (n, d) points, but for a constant."""
        density = -0.5 * ((x - self.prior) ** 2).sum(axis=1)
        for kind in self.observed:
            density = density + kind.log_probability(x)
        inside = ((x >= self.low) & (x <= self.high)).all(axis=1)
        return np.where(inside & np.isfinite(density), density, -np.inf)


def density_about(problem: Problem, fit: Fit) -> Density:
    """The density about a fit, in the priors' spreads.

    Args:
        problem: what was fitted, with the samples of earlier fits.
        fit: what was found, with the samples of its own.
    """
    space = problem.space
    spread, there = spreads(space), space.to_unit(fit.values)
    rolled = [(space.to_unit(values), sample) for values, sample in fit.estimates()]
    near: list[Point] = [
        ((point - there) / spread, sample)
        for point, sample in [*problem.earlier, *fit.candidates(), *rolled]
        if (np.abs(point - there) <= REACH * spread + 1e-12).all()
    ]
    return Density(
        [
            Observed(fit_emulator(*kind.simulated), kind.heights, kind.real)
            for kind in kinds(near, problem.objective)
            if kind.real.shape[1] > 1  # else they tell nothing
        ],
        prior=(space.to_unit({p.name: p.prior_mean for p in space.parameters}) - there) / spread,
        low=np.maximum(-REACH, -there / spread),
        high=np.minimum(REACH, (1.0 - there) / spread),
    )


def spreads(space: Space) -> FloatArray:
    """(n,) of the priors, in the unit cube."""
    return np.array([parameter.prior_sd for parameter in space.parameters]) / space.span


def _information(p: FloatArray, totals: NDArray[np.int64]) -> FloatArray:
    """(n, m c, m c) of the log-odds: n (diag p - p p') at each height."""
    n, m, c = p.shape
    blocks = np.zeros((n, m, c, m, c))
    for height in range(m):
        one = p[:, height]
        blocks[:, height, :, height] = totals[height] * (
            one[:, :, None] * np.eye(c) - one[:, :, None] * one[:, None, :]
        )
    return blocks.reshape(n, m * c, m * c)

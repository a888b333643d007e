"""What the real rolls leave open of the parameters, all samples of a fit considered.

The density is sampled, and not taken for a normal one about its mode: some combinations of twelve
parameters are told ten times as sharp as others, and since frequencies are not linear in the
parameters, what is sharp at one point is another combination half a spread away. An ellipsoid
about the mode leaves most of that out.

References:
    Foreman-Mackey et al., "emcee: the MCMC hammer", PASP 125, 2013.
    Ter Braak, "A Markov chain Monte Carlo version of the genetic algorithm differential evolution",
    Statistics and Computing 16, 2006 (four proposals in five).
    Goodman and Weare, "Ensemble samplers with affine invariance", CAMCoS 5, 2010 (the fifth).

How likely parameters are, given the real counts and all samples of a fit.

The density of parameters x given the real counts is that of the prior times the probability of the
counts, where an `Emulator` of all samples stands in for the simulator: its log-odds are uncertain,
so they are integrated out (Laplace's approximation at each x).

Reference:
    Kennedy and O'Hagan, "Bayesian calibration of computer models", J. R. Stat. Soc. B 63, 2001.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from physim.calibrate.emulator import Emulator, fit_emulator
from physim.calibrate.fit import Fit, Problem
from physim.calibrate.priors import Space
from physim.calibrate.search import Posterior
from physim.calibrate.surrogate import softmax
from physim.calibrate.target import Point, kinds
from physim.errors import optional
from physim.types import ExactValue, FloatArray

# For each parameter; it takes some 5 steps each to forget a place. With twelve, four times as many
# steps of twice as many walkers gave the same standard deviations (5 %).
_WALKERS_EACH, _BURN_EACH, _STEPS_EACH = 4, 80, 130
_LEAST_WALKERS, _LEAST_BURN, _LEAST_STEPS = 24, 400, 800
_LEAST_SPREAD = 1e-3  # of walkers at the start, in the priors' spreads: none may lie on another
_PIECE = 10  # steps between looks at the progress

Progress = Callable[[int, int], None]


def find_posterior(problem: Problem, fit: Fit, progress: Progress | None = None) -> Posterior:
    """The posterior of a fit that is done.

    Args:
        problem: what was fitted, with the samples of earlier fits.
        fit: the result.
        progress: called with steps made and to be made.

    Raises:
        ConfigError: the sampler is not installed.
    """
    sampler = require_sampler()
    spread, there = spreads(problem.space), problem.space.to_unit(fit.values)
    density = density_about(problem, fit)
    covariance = fit.estimate.covariance / np.outer(spread, spread)
    draws = _drawn(sampler, density, covariance, problem.schedule.seed, progress)
    return Posterior(there + draws * spread)


def require_sampler() -> Any:
    """The sampling library.

    Raises:
        ConfigError: it is not installed.
    """
    return optional("emcee", "calibrate", "the posterior's sampler")


def _drawn(
    emcee: Any, density: Density, covariance: FloatArray, seed: int, progress: Progress | None
) -> FloatArray:
    """(m, d) draws: walkers that set out about the middle."""
    d = len(density.prior)
    rng = np.random.default_rng((seed, 1))
    walkers = max(_LEAST_WALKERS, _WALKERS_EACH * d)
    variances, axes = np.linalg.eigh(covariance)
    reach = 0.5 * np.sqrt(np.clip(variances, _LEAST_SPREAD**2, 1.0))  # the prior's own at most
    about = (reach * rng.normal(size=(walkers, d))) @ axes.T
    start = _folded(about, density.low, density.high)
    # The library's snooker move weighs its stretch by the root of what it should: draws in twelve
    # dimensions came out 6 % too narrow. In one it divides 0 by 0 where two walkers meet.
    moves = [(emcee.moves.DEMove(), 0.8), (emcee.moves.StretchMove(), 0.2)]
    sampler = emcee.EnsembleSampler(walkers, d, density.log, vectorize=True, moves=moves)
    burn, steps = max(_LEAST_BURN, _BURN_EACH * d), max(_LEAST_STEPS, _STEPS_EACH * d)
    random = np.random.RandomState(rng.integers(2**32)).get_state()
    first = emcee.State(start, random_state=random)
    for done, _ in enumerate(sampler.sample(first, iterations=burn + steps)):
        if progress and done % _PIECE == 0:
            progress(done, burn + steps)
    if progress:
        progress(burn + steps, burn + steps)
    return np.asarray(sampler.get_chain(discard=burn, flat=True))


def _folded(points: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """(n, d) points thrown back at the bounds, as often as it takes.

    Points apart stay apart. Clipped ones would lie on one another at a bound, where the moves,
    which live on differences of walkers, have nothing to go by.
    """
    span = high - low
    way = np.mod(points - low, 2.0 * span)
    return np.clip(low + np.minimum(way, 2.0 * span - way), low, high)  # clips rounding alone


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

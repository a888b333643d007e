"""What the real rolls leave open of the parameters, all samples of a fit considered.

The density of parameters x given the real counts is that of the prior times the probability of the
counts, where an `Emulator` of the samples stands in for the simulator: its log-odds are uncertain,
so they are integrated out (Laplace's approximation at each x).

The density is sampled, and not taken for a normal one about its mode: some combinations of twelve
parameters are identified ten times as sharply as others, and since frequencies are not linear in
the parameters, what is sharp at one point is another combination half a spread away.

References:
    Kennedy and O'Hagan, "Bayesian calibration of computer models", J. R. Stat. Soc. B 63, 2001.
    Foreman-Mackey et al., "emcee: the MCMC hammer", PASP 125, 2013.
    Ter Braak, "A Markov chain Monte Carlo version of the genetic algorithm differential evolution",
    Statistics and Computing 16, 2006 (four proposals in five).
    Goodman and Weare, "Ensemble samplers with affine invariance", CAMCoS 5, 2010 (the fifth).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from physim.calibrate.emulator import Emulator, fit_emulator, softmax
from physim.calibrate.target import Objective, Point, Progress, contingency_tables
from physim.errors import optional
from physim.types import ExactValue, FloatArray

REACH = 2.5  # spreads of the priors to each side of the fit: where samples are used, and x may be
_JITTER = 1e-9  # variance added to log-odds: keeps Cholesky's method going where they are certain
_NEWTON_STEPS, _HALVINGS, _CONVERGED = 30, 20, 1e-4
_LEAST = 1e-300  # a frequency
_DIFFERENCE = 1e-3  # of a derivative, in the priors' spreads
_OPTIMIZER_STEPS, _STARTS = 100, 4
# For each parameter; it takes some 5 steps each to forget a place. With twelve, four times as many
# steps of twice as many walkers gave the same standard deviations (5 %).
_WALKERS_EACH, _BURN_EACH, _STEPS_EACH = 4, 80, 130
_LEAST_WALKERS, _LEAST_BURN, _LEAST_STEPS = 24, 400, 800
_LEAST_SPREAD = 1e-3  # of walkers at the start, in the priors' spreads: none may lie on another
_BETWEEN_PROGRESS = 10  # steps


@dataclass(frozen=True, eq=False)
class Observed(ExactValue):
    """Real counts of one kind, with the emulator that predicts them.

    Attributes:
        emulator: of the simulated counts.
        heights: (m,) from -1/2 to 1/2.
        counts: (m, c + 1) in the emulator's cells.
    """

    emulator: Emulator
    heights: FloatArray
    counts: NDArray[np.int64]

    def log_probability(self, x: FloatArray) -> FloatArray:
        """(n,) log probability of the counts at (n, d) points, the log-odds integrated out.

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
        for _ in range(_NEWTON_STEPS):
            score = (self.counts[:, 1:] - totals[:, None] * p[..., 1:]).reshape(n, m * c, 1)
            information = np.eye(m * c) + back @ _information(p[..., 1:], totals) @ factor
            step = np.linalg.solve(information, back @ score - u)
            settled = np.abs(step).max(axis=(1, 2)) < _CONVERGED
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


@dataclass(frozen=True, eq=False)
class LogPosterior(ExactValue):
    """The log density of parameters, in the priors' spreads about a center.

    Attributes:
        observed: real counts, a kind at a time.
        prior: (d,) mean of the prior, whose spreads are 1.
        low, high: (d,) where it is above minus infinity.
    """

    observed: Sequence[Observed]
    prior: FloatArray
    low: FloatArray
    high: FloatArray

    def __call__(self, x: FloatArray) -> FloatArray:
        """(n,) at (n, d) points, but for a constant."""
        inside = ((x >= self.low) & (x <= self.high)).all(axis=1)
        return np.where(inside, self.anywhere(x), -np.inf)

    def anywhere(self, x: FloatArray) -> FloatArray:
        """Gives the same, but without an end at the bounds."""
        density = -0.5 * ((x - self.prior) ** 2).sum(axis=1)
        for kind in self.observed:
            density = density + kind.log_probability(x)
        return np.asarray(density)

    def optimum(self) -> FloatArray:
        """(d,) the likeliest parameters."""
        d = len(self.prior)

        def objective(x: FloatArray) -> tuple[float, FloatArray]:
            return -float(self.anywhere(x[None])[0]), -self._slopes(x[None])[0]

        rng = np.random.default_rng(0)
        starts = [np.zeros(d), self.prior, *rng.normal(scale=0.5, size=(_STARTS - 2, d))]
        found = [
            minimize(
                objective,
                np.clip(start, self.low, self.high),
                jac=True,
                method="L-BFGS-B",
                bounds=np.stack([self.low, self.high], axis=1),
                options={"maxiter": _OPTIMIZER_STEPS},
            )
            for start in starts
        ]
        return np.asarray(min(found, key=lambda one: float(one.fun)).x)

    def covariance(self, x: FloatArray) -> FloatArray:
        """(d, d) covariance of the normal density with the curvature at x; at most the prior's."""
        steps = _DIFFERENCE * np.eye(len(x))
        hessian = (self._slopes(x - steps) - self._slopes(x + steps)) / (2.0 * _DIFFERENCE)
        curvatures, axes = np.linalg.eigh(0.5 * (hessian + hessian.T))
        return np.asarray(axes / np.maximum(curvatures, 1.0) @ axes.T)

    def _slopes(self, x: FloatArray) -> FloatArray:
        """(n, d) derivatives at (n, d) points."""
        steps = _DIFFERENCE * np.eye(x.shape[1])
        points = np.concatenate([x[:, None] + steps, x[:, None] - steps], axis=1)
        log = self.anywhere(points.reshape(-1, x.shape[1])).reshape(len(x), 2, -1)
        return (log[:, 0] - log[:, 1]) / (2.0 * _DIFFERENCE)


def log_posterior_about(
    center: FloatArray, samples: Iterable[Point], objective: Objective, reach: float = REACH
) -> LogPosterior:
    """The density about a point of the unit cube.

    Args:
        center: (d,) the point.
        samples: points of the unit cube and the rolls there; those within `REACH` spreads count.
        objective: with the real rolls.
        reach: spreads of the priors to each side of the center in which x may be.
    """
    space = objective.space
    near = [
        ((point - center) / space.spreads, sample)
        for point, sample in samples
        if (np.abs(point - center) <= REACH * space.spreads + 1e-12).all()
    ]
    return LogPosterior(
        [
            Observed(fit_emulator(*kind.simulated), kind.heights, kind.real)
            for kind in contingency_tables(near, objective)
            if kind.real.shape[1] > 1  # else they tell nothing
        ],
        prior=(space.prior_means - center) / space.spreads,
        low=np.maximum(-reach, -center / space.spreads),
        high=np.minimum(reach, (1.0 - center) / space.spreads),
    )


def require_sampler() -> Any:
    """The sampling library, or a `ConfigError` that says how to install it."""
    return optional("emcee", "calibrate", "the posterior's sampler")


def draw(
    log_posterior: LogPosterior,
    covariance: FloatArray,
    seed: int,
    progress: Progress | None = None,
) -> FloatArray:
    """(m, d) draws in the priors' spreads; the walkers start with the (d, d) covariance."""
    emcee, d = require_sampler(), len(log_posterior.prior)
    rng = np.random.default_rng((seed, 1))
    walkers = max(_LEAST_WALKERS, _WALKERS_EACH * d)
    variances, axes = np.linalg.eigh(covariance)
    reach = 0.5 * np.sqrt(np.clip(variances, _LEAST_SPREAD**2, 1.0))  # the prior's own at most
    about = (reach * rng.normal(size=(walkers, d))) @ axes.T
    # The library's snooker move weighs its stretch by the root of what it should: draws in twelve
    # dimensions came out 6 % too narrow. In one it divides 0 by 0 where two walkers meet.
    moves = [(emcee.moves.DEMove(), 0.8), (emcee.moves.StretchMove(), 0.2)]
    sampler = emcee.EnsembleSampler(walkers, d, log_posterior, vectorize=True, moves=moves)
    burn, steps = max(_LEAST_BURN, _BURN_EACH * d), max(_LEAST_STEPS, _STEPS_EACH * d)
    random = np.random.RandomState(rng.integers(2**32)).get_state()
    start = _folded(about, log_posterior.low, log_posterior.high)
    first = emcee.State(start, random_state=random)
    if progress:
        progress(0, burn + steps, "steps")
    for done, _ in enumerate(sampler.sample(first, iterations=burn + steps), 1):
        if progress and (done % _BETWEEN_PROGRESS == 0 or done == burn + steps):
            progress(done, burn + steps, "steps")
    return np.asarray(sampler.get_chain(discard=burn, flat=True))


def _folded(points: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """(n, d) points thrown back at the bounds, as often as it takes; points apart stay apart."""
    span = high - low
    way = np.mod(points - low, 2.0 * span)
    return np.clip(low + np.minimum(way, 2.0 * span - way), low, high)  # clips rounding alone

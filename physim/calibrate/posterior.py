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
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from physim.calibrate.density import Density, density_about, spreads
from physim.calibrate.fit import Fit, Problem
from physim.calibrate.search import Posterior
from physim.extras import optional
from physim.values import FloatArray

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

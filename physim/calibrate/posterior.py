"""What the real rolls leave open of the parameters, all samples of a fit considered.

The density is sampled, and not taken for a normal one about its mode: some combinations of twelve
parameters are told ten times as sharp as others, and since frequencies are not linear in the
parameters, what is sharp at one point is another combination half a spread away. An ellipsoid
about the mode leaves most of that out.

References:
    Foreman-Mackey et al., "emcee: the MCMC hammer", PASP 125, 2013.
    Ter Braak, "A Markov chain Monte Carlo version of the genetic algorithm differential evolution",
    Statistics and Computing 16, 2006 (the proposals).
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
    about = 0.5 * rng.multivariate_normal(np.zeros(d), covariance, size=walkers)
    margin = 1e-6 * (density.high - density.low)
    start = np.clip(about, density.low + margin, density.high - margin)
    moves = [(emcee.moves.DEMove(), 0.8), (emcee.moves.DESnookerMove(), 0.2)]
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

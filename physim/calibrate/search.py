"""Two searches in the unit cube: they ask for candidates, and are told what these are worth.

A search is a deterministic function of its seed and of what it was told. One that is told again
what was found goes on as if it had never been stopped, so no state of it is kept.

References:
    N. Hansen, "The CMA Evolution Strategy: A Tutorial", 2016 (as in the library `cmaes`).
    Box and Wilson, "On the experimental attainment of optimum conditions", J. R. Stat. Soc. B 13,
    1951.
    Sobol' points, scrambled by Owen's method, as in `scipy.stats.qmc`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import qmc

from physim.calibrate.posterior import REACH, log_posterior_about
from physim.calibrate.target import HeightCounts, Objective, Point
from physim.errors import ConfigError, optional
from physim.types import ExactValue, FloatArray

LEAST_POPULATION = 12  # the mean of the better half averages the noise of its members
_LATE = 1 / 3  # share of the generations that tell estimate and spread
_FIRST_REACH = 1.0  # half-width of the first region, in the priors' spreads
_NARROWER = 0.8  # each later one
# Log-odds are almost linear that far; narrower, samples tell less. So narrow at once where prior
# runs have told the optimum already.
_LEAST_REACH = 0.5
_BORDER = 1e-3  # of a region, in the priors' spreads


@dataclass(frozen=True)
class Schedule:
    """How a search goes.

    Attributes:
        seed: of the search and of the rolls.
        rolls: a candidate in the first generation.
        population: candidates a generation.
        growth: factor on the rolls from one generation to the next: near the optimum candidates
            differ by less, and only more rolls tell them apart.
        most_rolls: a candidate, however late.
        sigma: standard deviation of CMA-ES's first generation, sides of the cube being 1.
    """

    seed: int
    rolls: int
    population: int
    growth: float = 1.15
    most_rolls: int = 100_000
    sigma: float = 0.2

    def rolls_in(self, generation: int) -> int:
        """Rolls a candidate; even, so that both heights come up equally often."""
        wanted = min(self.rolls * self.growth ** min(generation, 1000), self.most_rolls)
        return 2 * math.ceil(wanted / 2)

    def first_in(self, generation: int) -> int:
        """Index of a generation's first roll: each one sees rolls that none saw before."""
        return sum(self.rolls_in(before) for before in range(generation))


@dataclass(frozen=True)
class Evaluation:
    """What one candidate came to.

    Attributes:
        point: (n,) in the unit cube.
        loss: small is good.
        sample: its rolls; None where it was not rolled.
        problem: why it was refused.
    """

    point: tuple[float, ...]
    loss: float
    sample: HeightCounts | None = None
    problem: str = ""


Generation = Sequence[Evaluation]


@dataclass(frozen=True, eq=False)
class Estimate(ExactValue):
    """Where a search is.

    Attributes:
        mean: (n,) of CMA-ES, averaged over the last third of the generations: near the optimum it
            wanders with the noise, and the best candidate is but the luckiest. Of surfaces, the
            optimum.
        covariance: (n, n) of CMA-ES, of the points of those generations about their generation's
            mean; of surfaces, by the curvature at the optimum.
        generations: that were made.
        finished: whether the search has nothing left to narrow down.
        at_border: (n,) whether each parameter lies on the border of the region sampled last.
    """

    mean: FloatArray
    covariance: FloatArray
    generations: int
    finished: bool
    at_border: tuple[bool, ...]


def default_population(parameters: int) -> int:
    """The tutorial's 4 + 3 ln n, or `LEAST_POPULATION`."""
    return max(LEAST_POPULATION, 4 + int(3 * math.log(parameters)))


def require_optimizer() -> Any:
    """The class of the library's CMA-ES, or a `ConfigError` that says how to install it."""
    return optional("cmaes", "calibrate", "the search").CMA


class CmaSearch:
    """CMA-ES, from a point of the cube."""

    def __init__(self, start: FloatArray, schedule: Schedule) -> None:
        seed = np.random.SeedSequence(schedule.seed).generate_state(1)[0]  # of 32 bits
        self._optimizer = require_optimizer()(
            # A mean on the border would make half of all candidates fall outside.
            mean=np.clip(start, 0.02, 0.98),
            sigma=schedule.sigma,
            bounds=np.tile([0.0, 1.0], (len(start), 1)),
            seed=int(seed),
            population_size=schedule.population,
        )
        self._population = schedule.population
        self._means: list[FloatArray] = []
        self._points: list[FloatArray] = []  # of each generation, (p, n)

    def ask(self) -> list[FloatArray]:
        return [self._optimizer.ask() for _ in range(self._population)]

    def tell(self, generation: Generation) -> None:
        self._points.append(np.array([one.point for one in generation]))
        self._optimizer.tell([(np.array(one.point), one.loss) for one in generation])
        self._means.append(np.array(self._optimizer.mean))

    def estimate(self) -> Estimate:
        late = max(1, math.ceil(_LATE * len(self._means)))
        about = np.concatenate([p - p.mean(axis=0) for p in self._points[-late:]])
        freedom = max(1, sum(len(p) - 1 for p in self._points[-late:]))
        mean = np.clip(np.mean(self._means[-late:], axis=0), 0.0, 1.0)
        return Estimate(
            mean=mean,
            covariance=about.T @ about / freedom,
            generations=len(self._means),
            finished=bool(self._optimizer.should_stop()),
            at_border=(False,) * len(mean),
        )


def surface_population(parameters: int) -> int:
    """Candidates a generation: more than twice what a quadratic has coefficients, or a bit less."""
    coefficients = (parameters + 1) * (parameters + 2) // 2 + parameters + 1
    return int(max(32, 2 ** np.ceil(np.log2(1.5 * coefficients))))


def least_samples(parameters: int) -> int:
    """Without as many no surrogate is fitted."""
    return 2 * parameters


class SurfaceSearch:
    """The search near the optimum: designs of candidates in a region that narrows down.

    Each generation is a design of points that fill a region evenly. All samples in and about the
    region go into a surrogate, and the next region lies about the parameters that it holds for
    the likeliest. All samples together tell the optimum, so far fewer rolls are needed near it
    than by comparing candidates with each other.

    Args:
        start: (n,) the point of the cube to set out from.
        schedule: how it goes; `sigma` is not used.
        objective: with real rolls and parameters.
        prior_runs: samples by their points; if enough of them are near the start, the first
            region lies about the optimum that they tell.
    """

    def __init__(
        self,
        start: FloatArray,
        schedule: Schedule,
        objective: Objective,
        prior_runs: Sequence[Point] = (),
    ) -> None:
        self._schedule, self._objective = schedule, objective
        self._spreads = objective.space.spreads
        self._points, self._generations = list(prior_runs), 0
        self._center, self._reach = np.asarray(start, dtype=float), _FIRST_REACH
        self._estimate: Estimate | None = None
        if self._near() >= least_samples(len(self._spreads)):
            self._move()
            self._reach = _LEAST_REACH

    def ask(self) -> list[FloatArray]:
        half = self._reach * self._spreads
        low = np.clip(self._center - half, 0.0, 1.0 - half)
        high = np.clip(self._center + half, half, 1.0)
        seed = np.random.SeedSequence((self._schedule.seed, self._generations))
        sobol = qmc.Sobol(len(half), rng=np.random.default_rng(seed))
        return list(low + sobol.random(self._schedule.population) * (high - low))

    def tell(self, generation: Generation) -> None:
        self._generations += 1
        self._points += [(np.array(e.point), e.sample) for e in generation if e.sample is not None]
        if (near := self._near()) < least_samples(len(self._spreads)):
            raise ConfigError(
                f"only {near} candidates of the last region make pigs that can be rolled; "
                "start elsewhere, or choose other parameters"
            )
        self._move()
        self._reach = max(_NARROWER * self._reach, _LEAST_REACH)

    def estimate(self) -> Estimate:
        if self._estimate is None:
            raise ConfigError(
                "too few samples of prior runs are near the start; start where they are, or make "
                "a generation"
            )
        return self._estimate

    def _near(self) -> int:
        """How many samples there are in and about the region."""
        reach = REACH * self._reach * self._spreads + 1e-12
        return sum(bool((np.abs(point - self._center) <= reach).all()) for point, _ in self._points)

    def _move(self) -> None:
        """To the optimum within the region that was sampled last."""
        log_posterior = log_posterior_about(
            self._center, self._points, self._objective, self._reach
        )
        x = log_posterior.optimum()
        margin = np.minimum(x - log_posterior.low, log_posterior.high - x)
        self._center = np.clip(self._center + x * self._spreads, 0.0, 1.0)
        self._estimate = Estimate(
            mean=self._center,
            covariance=log_posterior.covariance(x) * np.outer(self._spreads, self._spreads),
            generations=self._generations,
            finished=False,
            at_border=tuple((margin < _BORDER).tolist()),
        )

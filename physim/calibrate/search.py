"""CMA-ES in the unit cube: ask for candidates, tell what they are worth, a generation at a time.

The search keeps no state but its history, the plain list of what was tried and found. A search
that goes on from a history is the same as one that was never stopped: the optimiser, a
deterministic function of its seed and of what it was told, is told all of it again.

References:
    N. Hansen, "The CMA Evolution Strategy: A Tutorial", 2016 (as in the library `cmaes`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from physim.errors import ConfigError, optional
from physim.types import ExactValue, FloatArray

LEAST_POPULATION = 12  # the mean of the better half averages the noise of its members
_LATE = 1 / 3  # share of the generations that tell the estimate and the spread


@dataclass(frozen=True)
class Schedule:
    """How a search goes.

    Attributes:
        seed: of the search and of the rolls.
        rolls: a candidate in the first generation.
        growth: factor on them from one generation to the next: near the optimum candidates differ
            by less, and only more rolls tell them apart.
        most_rolls: a candidate, however late.
        population: candidates a generation.
        sigma: standard deviation of the first generation, sides of the cube being 1.
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
        return sum(self.rolls_in(earlier) for earlier in range(generation))


@dataclass(frozen=True)
class Found:
    """What one candidate came to.

    Attributes:
        point: (n,) in the unit cube.
        loss: small is good.
        record: what the loss was computed from, as plain JSON values.
    """

    point: tuple[float, ...]
    loss: float
    record: Any = None


Generation = tuple[Found, ...]
Evaluate = Callable[[int, Sequence[FloatArray]], Sequence[tuple[float, Any]]]
"""Gives loss and record of each point of a generation, from its number and the points."""


@dataclass(frozen=True, eq=False)
class Estimate(ExactValue):
    """Where a search is.

    Attributes:
        mean: (n,) of its distribution, averaged over the last third of the generations: near the
            optimum it wanders with the noise of the rolls, and the best candidate is but the
            luckiest.
        covariance: (n, n) of the points of those generations about their generation's mean; of
            surfaces, what they tell of the optimum. A guide to the search: how well the data fix
            the parameters is the posterior's to tell.
        generations: that were made.
        stopped: whether the search has nothing left to narrow down.
        at_border: (n,) whether each parameter lies on the border of the region that was sampled
            last; empty where a search has no regions.
    """

    mean: FloatArray
    covariance: FloatArray
    generations: int
    stopped: bool
    at_border: tuple[bool, ...] = ()


@dataclass(frozen=True, eq=False)
class Posterior(ExactValue):
    """Draws of the parameters, as likely as the real rolls and the prior leave them.

    Attributes:
        draws: (m, n) in the unit cube; those that follow each other are alike.
    """

    draws: FloatArray

    @property
    def mean(self) -> FloatArray:
        """(n,) in the unit cube."""
        return np.asarray(self.draws.mean(axis=0))

    @property
    def covariance(self) -> FloatArray:
        """(n, n) in the unit cube."""
        return np.atleast_2d(np.cov(self.draws.T))

    def interval(self, share: float = 0.95) -> FloatArray:
        """(2, n) ends of the intervals that leave out as many draws on either side."""
        tail = 50.0 * (1.0 - share)
        return np.asarray(np.percentile(self.draws, [tail, 100.0 - tail], axis=0))


def default_population(parameters: int) -> int:
    """The tutorial's 4 + 3 ln n, or `LEAST_POPULATION`."""
    return max(LEAST_POPULATION, 4 + int(3 * math.log(parameters)))


class Generations(ABC):
    """What every search does: it asks for a generation and is told what came of it.

    Args:
        population: candidates a generation.
    """

    def __init__(self, population: int) -> None:
        self.history: list[Generation] = []
        self._population = population

    def generations(self, count: int, evaluate: Evaluate) -> Iterator[int]:
        """Goes on until there are so many generations, or nothing is left to narrow down.

        Yields:
            The number of each new generation, once it is in the history.
        """
        while len(self.history) < count and not self._over():
            number, points = len(self.history), self._asked()
            found = evaluate(number, points)
            self._tell(
                tuple(
                    Found(tuple(point.tolist()), loss, record)
                    for point, (loss, record) in zip(points, found, strict=True)
                )
            )
            yield number

    @property
    @abstractmethod
    def estimate(self) -> Estimate:
        """Where the search is now; it needs a generation."""

    @abstractmethod
    def _asked(self) -> list[FloatArray]:
        """The points of the next generation."""

    @abstractmethod
    def _told(self, generation: Generation) -> None:
        """Learns from a generation."""

    def _over(self) -> bool:
        """Whether nothing is left to narrow down."""
        return False

    def _tell(self, generation: Generation) -> None:
        if len(generation) != self._population:
            raise ConfigError(
                f"a generation of {len(generation)} candidates is no part of a search with "
                f"{self._population}"
            )
        self._told(generation)
        self.history.append(generation)


class Search(Generations):
    """A search from a point of the cube.

    Args:
        start: (n,) the point.
        schedule: how it goes.
        history: what it has found already.

    Raises:
        ConfigError: the optimiser is not installed, or the history is of another population.
    """

    def __init__(
        self, start: FloatArray, schedule: Schedule, history: Sequence[Generation] = ()
    ) -> None:
        super().__init__(schedule.population)
        self._means: list[FloatArray] = []
        self._optimizer = _optimizer(start, schedule)
        for generation in history:
            self._asked()  # moves the random numbers on
            self._tell(generation)

    @property
    def estimate(self) -> Estimate:
        """Where the search is now; it needs a generation."""
        count = max(1, math.ceil(_LATE * len(self.history)))
        late = self.history[-count:]
        points = [np.array([found.point for found in generation]) for generation in late]
        about = np.concatenate([p - p.mean(axis=0) for p in points])
        freedom = max(1, sum(len(p) - 1 for p in points))
        return Estimate(
            mean=np.clip(np.mean(self._means[-count:], axis=0), 0.0, 1.0),
            covariance=about.T @ about / freedom,
            generations=len(self.history),
            stopped=self._over(),
        )

    def _asked(self) -> list[FloatArray]:
        return [self._optimizer.ask() for _ in range(self._population)]

    def _over(self) -> bool:
        return bool(self._optimizer.should_stop())

    def _told(self, generation: Generation) -> None:
        self._optimizer.tell([(np.array(found.point), found.loss) for found in generation])
        self._means.append(np.array(self._optimizer.mean))


def require_optimizer() -> Any:
    """The optimiser's class.

    Raises:
        ConfigError: it is not installed.
    """
    return optional("cmaes", "calibrate", "the search").CMA


def _optimizer(start: FloatArray, schedule: Schedule) -> Any:
    seed = np.random.SeedSequence(schedule.seed).generate_state(1)[0]  # the library takes 32 bits
    return require_optimizer()(
        # A mean on the border would make half of all candidates fall outside.
        mean=np.clip(start, 0.02, 0.98),
        sigma=schedule.sigma,
        bounds=np.tile([0.0, 1.0], (len(start), 1)),
        seed=int(seed),
        population_size=schedule.population,
    )

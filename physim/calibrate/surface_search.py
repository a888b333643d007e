"""The search by response surfaces: designs of candidates in a region that narrows down.

Each generation is a design of points that fill a region evenly. The frequencies of all samples in
and about the region are regressed on the parameters (`surface`), and the next region lies about
the parameters at which the regression agrees best with the real rolls (`optimum`). All samples
together tell the optimum, so far fewer rolls are needed near it than by comparing candidates with
each other.

Like `search.Search` it keeps no state but its history.

References:
    Box and Wilson, "On the experimental attainment of optimum conditions", J. R. Stat. Soc. B 13,
    1951.
    Sobol' points, scrambled by Owen's method, as in `scipy.stats.qmc`.

The parameters at which surfaces of frequencies agree best with real counts.

Multinomial deviance of the real counts, a kind of table and a height of release at a time, plus a
normal prior on the parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import qmc

from physim.calibrate.sample import Sample
from physim.calibrate.search import Estimate, Generation, Generations, Schedule
from physim.calibrate.surrogate import Surface, features, fit_surface
from physim.calibrate.target import Objective, Point, kinds
from physim.errors import ConfigError
from physim.types import ExactValue, FloatArray

REACH = 1.0  # half-width of the first region, in the priors' standard deviations
_NARROWER = 0.8  # each later one
# Log-odds are almost linear that far; narrower, samples tell less. So narrow at once where samples
# of other fits have told the optimum already.
_LEAST_REACH = 0.5
_NEAR = 2.0  # half-widths: how far about a region samples are used


def surface_population(parameters: int) -> int:
    """Candidates a generation: more than twice what a quadratic has coefficients, or a bit less."""
    coefficients = (parameters + 1) * (parameters + 2) // 2 + parameters + 1
    return int(max(32, 2 ** np.ceil(np.log2(1.5 * coefficients))))


def least_samples(parameters: int) -> int:
    """Without as many nothing is fitted."""
    return 2 * parameters


class SurfaceSearch(Generations):
    """A search from a point of the cube.

    Args:
        start: (n,) the point.
        schedule: how it goes; `sigma` is not used.
        objective: with the real rolls and the parameters.
        history: what it has found already.
        earlier: samples of other fits with the same parameters, by their points; if enough of
            them are near the start, the first region lies about the optimum that they tell.

    Raises:
        ConfigError: the history is of another population.
    """

    def __init__(
        self,
        start: FloatArray,
        schedule: Schedule,
        objective: Objective,
        history: Sequence[Generation] = (),
        earlier: Sequence[Point] = (),
    ) -> None:
        super().__init__(schedule.population)
        self._schedule, self._objective = schedule, objective
        self._spread = np.array(
            [parameter.prior_sd for parameter in objective.space.parameters]
        ) / np.asarray(objective.space.span)
        self._points: list[Point] = list(earlier)
        self._center = np.asarray(start, dtype=float)
        self._found: Optimum | None = None
        self._reach = REACH
        if len(self._near(self._half())) >= least_samples(len(self._spread)):
            self._move()
            self._reach = _LEAST_REACH
        for generation in history:
            self._tell(generation)

    @property
    def estimate(self) -> Estimate:
        """The optimum by all samples.

        The covariance is what real and simulated chance leave, if a quadratic is taken for exact,
        and for a plane about the optimum: too small (see `posterior`), but a guide.
        """
        found = self._optimum()
        return Estimate(
            mean=self._center,
            covariance=found.covariance * np.outer(self._last_half, self._last_half),
            generations=len(self.history),
            stopped=False,
            at_border=found.at_border,
        )

    def _half(self) -> FloatArray:
        """(n,) half-width of the region of the generation that comes."""
        return np.asarray(self._reach * self._spread)

    def _asked(self) -> list[FloatArray]:
        half = self._half()
        low = np.clip(self._center - half, 0.0, 1.0 - half)
        high = np.clip(self._center + half, half, 1.0)
        seed = np.random.SeedSequence((self._schedule.seed, len(self.history)))
        sobol = qmc.Sobol(len(half), rng=np.random.default_rng(seed))
        unit = sobol.random(self._schedule.population)
        return list(low + unit * (high - low))

    def _told(self, generation: Generation) -> None:
        self._points += [
            (np.array(found.point), Sample.from_json(found.record["sample"]))
            for found in generation
            if "sample" in found.record
        ]
        self._move()
        self._reach = max(_NARROWER * self._reach, _LEAST_REACH)

    def _move(self) -> None:
        """To the optimum within the region that was sampled last."""
        self._last_half = self._half()
        self._found = self._fitted()
        self._center = np.clip(self._center + self._last_half * self._found.x, 0.0, 1.0)

    def _optimum(self) -> Optimum:
        if self._found is None:
            raise ConfigError(
                "too few samples of earlier fits are near the start; start where they are, or make "
                "a generation"
            )
        return self._found

    def _near(self, half: FloatArray) -> list[Point]:
        """The samples in and about the region, scaled to it."""
        return [
            ((point - self._center) / half, sample)
            for point, sample in self._points
            if (np.abs(point - self._center) <= _NEAR * half + 1e-12).all()
        ]

    def _fitted(self) -> Optimum:
        half, center = self._last_half, self._center
        near = self._near(half)
        if len(near) < least_samples(len(self._spread)):
            raise ConfigError(
                f"only {len(near)} candidates of the last region make pigs that can be rolled; "
                "start elsewhere, or choose other parameters"
            )
        space = self._objective.space
        mean = space.to_unit({p.name: p.prior_mean for p in space.parameters})
        return optimum(
            surfaces(near, self._objective),
            Prior((mean - center) / half, self._spread / half),
            low=np.maximum(-1.0, -center / half),
            high=np.minimum(1.0, (1.0 - center) / half),
        )


def surfaces(points: Sequence[Point], objective: Objective) -> list[Real]:
    """The surfaces through samples, one a kind of table, with the real counts.

    Args:
        points: (d,) parameters, centred and scaled to the region's half-width, and the rolls there.
        objective: with the real rolls.
    """
    return [
        Real(fit_surface(*kind.simulated), kind.heights, kind.real)
        for kind in kinds(points, objective)
    ]


Counts = NDArray[np.int64]
_STARTS = 12  # of the search, the middle of the region among them
_LEAST = 1e-12  # a frequency; keeps the logarithm finite far from what was sampled


@dataclass(frozen=True, eq=False)
class Prior(ExactValue):
    """A normal prior on scaled parameters.

    Attributes:
        mean, sd: (d,) in the surface's coordinates.
    """

    mean: FloatArray
    sd: FloatArray

    def penalty(self, x: FloatArray) -> float:
        """-2 log of its density, but for a constant."""
        return float((((x - self.mean) / self.sd) ** 2).sum())


@dataclass(frozen=True, eq=False)
class Real(ExactValue):
    """Real counts of one kind, with the surface that predicts them.

    Attributes:
        surface: from `fit_surface`.
        heights: (m,) as `surface.features` has them.
        counts: (m, k) in the surface's cells.
    """

    surface: Surface
    heights: FloatArray
    counts: Counts

    def probabilities(self, x: FloatArray) -> FloatArray:
        """(m, k) frequencies at a point (d,)."""
        points = np.repeat(x[None], len(self.heights), axis=0)
        return np.maximum(self.surface.probabilities(points, self.heights), _LEAST)


@dataclass(frozen=True, eq=False)
class Optimum(ExactValue):
    """Where the surfaces agree best.

    Attributes:
        x: (d,) the parameters, in the surface's coordinates.
        covariance: (d, d) from the real counts' information and the prior, and what the chance of
            the simulated counts adds to it.
        data_share: (d,) per parameter, how much of the prior's variance the data removed, 0 to 1.
        deviance: of the real counts, 2 sum O ln(O / E), without the prior.
        probabilities: for each kind (heights, k) there.
        at_border: (d,) per parameter, whether it lies on the region's border: there the covariance
            is that of the surface's curvature alone, as if the optimum were inside.
    """

    x: FloatArray
    covariance: FloatArray
    data_share: FloatArray
    deviance: float
    probabilities: tuple[FloatArray, ...]
    at_border: tuple[bool, ...]


def optimum(
    real: Sequence[Real],
    prior: Prior,
    low: FloatArray | float = -1.0,
    high: FloatArray | float = 1.0,
) -> Optimum:
    """The best parameters of a region in which the surfaces may be trusted.

    Args:
        real: counts and surfaces.
        prior: on x.
        low: (d,) or one for all, of the region.
        high: likewise.
    """
    d = len(prior.mean)
    low, high = np.broadcast_to(low, d), np.broadcast_to(high, d)

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        total = prior.penalty(x)
        slope = 2.0 * (x - prior.mean) / prior.sd**2
        for kind in real:
            for height, row, counts in zip(
                kind.heights, kind.probabilities(x), kind.counts, strict=True
            ):
                total += deviance(counts, row)
                slope -= 2.0 * (counts / row) @ kind.surface.gradient(x, float(height))
        return total, slope

    rng = np.random.default_rng(0)
    starts = [(low + high) / 2, *rng.uniform(low, high, (_STARTS - 1, d))]
    found = [
        minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=np.stack([low, high], axis=1),
        )
        for start in starts
    ]
    x = np.asarray(min(found, key=lambda one: float(one.fun)).x)
    information = np.diag(1.0 / prior.sd**2)
    noise = np.zeros((d, d))
    for kind in real:
        known, doubt = _information(kind, x)
        information, noise = information + known, noise + doubt
    inverse = np.linalg.inv(information)
    covariance = np.asarray(inverse + inverse @ noise @ inverse, dtype=np.float64)
    return Optimum(
        x,
        covariance,
        np.asarray(1.0 - np.diag(covariance) / prior.sd**2),
        sum(
            deviance(counts, row)
            for kind in real
            for row, counts in zip(kind.probabilities(x), kind.counts, strict=True)
        ),
        tuple(kind.probabilities(x) for kind in real),
        tuple((np.minimum(x - low, high - x) < 1e-6).tolist()),
    )


def _information(kind: Real, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(d, d) Fisher's, of the counts, and the covariance of their score by the surface's doubt."""
    d, cells = len(x), kind.surface.coefficients.shape[1]
    information, score = np.zeros((d, d)), np.zeros((d, kind.surface.coefficients.size))
    for height, p, counts in zip(kind.heights, kind.probabilities(x), kind.counts, strict=True):
        pigs, g = counts.sum(), kind.surface.gradient(x, float(height))
        information += pigs * (g.T / p) @ g
        # The score is g' (counts / p); a change of the log-odds of cell k moves it by n dp_k/dx.
        f = features(x[None], np.array([height]))
        score += pigs * np.kron(g[1:].T, f).reshape(d, cells * f.shape[1])
    return information, score @ kind.surface.covariance @ score.T


def deviance(counts: Counts, p: FloatArray) -> float:
    """2 sum O ln(O / E) of counts (k,) under frequencies (k,)."""
    seen = counts > 0
    expected = counts.sum() * p[seen]
    return float(2.0 * (counts[seen] * np.log(counts[seen] / expected)).sum())

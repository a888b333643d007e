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
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import qmc

from physim.calibrate.kinds import Point, kinds
from physim.calibrate.objective import Objective
from physim.calibrate.optimum import Optimum, Prior, Real, optimum
from physim.calibrate.sample import Sample
from physim.calibrate.search import Estimate, Generation, Generations, Schedule
from physim.calibrate.surface import fit_surface
from physim.errors import ConfigError
from physim.values import FloatArray

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

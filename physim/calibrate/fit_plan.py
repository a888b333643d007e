"""A fit by name: what the command line says, and the setup, the problem and the start it means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from physim.calibrate.earlier import earlier_samples
from physim.calibrate.evaluate import Evaluator, Progress
from physim.calibrate.export import read_fit, write_fit, write_models, write_toss
from physim.calibrate.fit import CMA, METHODS, SURFACE, Fit, Problem, Tell, run
from physim.calibrate.posterior import find_posterior, require_sampler
from physim.calibrate.priors import (
    COM_DIFFERENCE,
    DEFAULT,
    SHAPE,
    Space,
    Values,
    known_parameters,
    values_of,
)
from physim.calibrate.sample import heights_mm
from physim.calibrate.screening import Screening
from physim.calibrate.search import (
    Posterior,
    Schedule,
    Search,
    default_population,
    require_optimizer,
)
from physim.calibrate.surface_search import least_samples, surface_population
from physim.calibrate.target import TABLE, Objective, load_target
from physim.calibrate.waves import refine, widen
from physim.dataset.plan import resolve
from physim.errors import ConfigError, shown_name
from physim.simulator import Setup
from physim.types import FloatArray

MODEL, PRIOR, RANDOM, QUASI_STATIC = STARTS = ("model", "prior", "random", "quasi-static")
_QUASI_STATIC_GENERATIONS = 15
_REFINEMENTS = _WAVES = 1
_GENERATIONS = {CMA: 30, SURFACE: 5}
_NO_PIG = 1e6  # quasi-static loss of what cannot be rolled


@dataclass(frozen=True)
class FitPlan:
    """A fit by name.

    Attributes:
        parameters: names of those to fit.
        start: one of `STARTS`, or the path of an earlier fit.
        method: of the search, one of `METHODS`.
        samples: folders of earlier fits with the same base and parameters, whose samples the
            method `surface` is to use too.
        seed: of start, search and rolls.
        generations: of the search, at most; None for what suits the method.
        rolls: a candidate in the first generation; later ones roll more.
        population: candidates a generation; None for what suits the parameters.
        final_rolls: of the estimate, after the search, and of each refinement.
        refinements: of the estimate of surfaces; None for one.
        waves: of candidates from the posterior of surfaces; None for one.
        table: of real rolls: a name, or a CSV file.
        half: fits 1 or 2 of two halves of the table; None for all of it.
        by_pig: compares each pig apart, as is done anyway where the two are to differ.
        model, toss: what the fit sets out from.
    """

    parameters: Sequence[str] = DEFAULT
    start: str = MODEL
    method: str = CMA
    samples: Sequence[Path] = ()
    seed: int = 0
    generations: int | None = None
    rolls: int = 400
    population: int | None = None
    final_rolls: int = 20_000
    refinements: int | None = None
    waves: int | None = None
    table: str = TABLE
    half: int | None = None
    by_pig: bool = False
    # The priors of a shape stand around it, so not the pig that was fitted to these rolls already.
    model: str = "standard_before_fit"
    toss: str = "trapdoor_before_fit"

    @cached_property
    def base(self) -> Setup:
        """The setup that candidates change."""
        return Setup.named(self.model, toss=self.toss)

    @cached_property
    def problem(self) -> Problem:
        """What is fitted.

        Raises:
            ConfigError: no optimiser, an unknown name, or a toss from other heights than the
                real rolls'.
        """
        self._check_method()  # before anything takes long
        base, target = self.base, load_target(self.table, self.half)
        if set(heights_mm(base.toss)) != set(target.sample.heights_mm):
            raise ConfigError(
                f"the toss `{self.toss}` is from {_listed(heights_mm(base.toss))}, the real rolls "
                f"from {_listed(target.sample.heights_mm)}; take a toss with the same heights"
            )
        space = Space.of(self.parameters, known_parameters(base))
        by_pig = self.by_pig or any(name in COM_DIFFERENCE for name in space.names)
        by_default = default_population if self.method == CMA else surface_population
        generations = self.generations
        problem = Problem(
            objective=Objective(target, space, by_pig),
            schedule=Schedule(
                self.seed, self.rolls, self.population or by_default(len(space.names))
            ),
            generations=_GENERATIONS[self.method] if generations is None else generations,
            final_rolls=2 * -(-self.final_rolls // 2),
            about={"base": resolve(self.seed, base.settle, base), "start": self._start_spec()},
            method=self.method,
        )
        if not self.samples:
            least = least_samples(len(space.names))
            if self.method == SURFACE and problem.schedule.population < least:
                raise ConfigError(
                    f"{problem.schedule.population} candidates are too few for surfaces of "
                    f"{len(space.names)} parameters; ask for {least} or more"
                )
            return problem
        there = values_of(base, space.names)
        points, digests = earlier_samples(self.samples, problem, there)
        return replace(problem, earlier=points, about={**problem.about, "samples": digests})

    def values_at_start(
        self, screen: Callable[[Sequence[Values]], list[Screening | str]]
    ) -> Values:
        """From where the search sets out.

        Args:
            screen: gives the quasi-static rests of candidates.
        """
        space = self.problem.space
        if self.start == PRIOR:
            return {parameter.name: parameter.prior_mean for parameter in space.parameters}
        if self.start == RANDOM:
            return _drawn(space, self.seed)
        of_model = values_of(self.base, space.names)
        if self.start == MODEL:
            return of_model
        if self.start == QUASI_STATIC:
            return _quasi_static(self.problem, of_model, screen)
        return {**of_model, **self._earlier(space)}

    def run(
        self,
        out: Path,
        workers: int,
        *,
        progress: Progress | None = None,
        tell: Tell | None = None,
        steps: Progress | None = None,
    ) -> tuple[Fit, Problem]:
        """Makes the fit, or goes on with it, and writes its files into the folder `out`.

        Args:
            out: made if need be.
            workers: processes.
            progress: called with rolls made and to be made, a generation at a time.
            tell: called with a line after each generation, and before the posterior.
            steps: called with the sampler's steps made and to be made.

        Raises:
            PhysimError: see `fit.run` and `result`.
        """
        problem = self.problem
        with Evaluator(self.base, workers) as evaluator:
            fit = run(
                problem,
                evaluator,
                out,
                lambda: self.values_at_start(evaluator.screen),
                progress=progress,
                tell=tell,
            )
            if problem.method == SURFACE:
                fit = self._told(problem, evaluator, out, fit, progress, tell, steps)
        write_fit(out, fit, problem, {"model": self.model, "toss": self.toss})
        write_toss(out, self.base, fit.values)
        write_models(out, self.base, fit.values)
        return fit, problem

    def _told(
        self,
        problem: Problem,
        evaluator: Evaluator,
        out: Path,
        fit: Fit,
        progress: Progress | None,
        tell: Tell | None,
        steps: Progress | None,
    ) -> Fit:
        """What follows a search by surfaces: refinements, waves, and the posterior."""

        def posterior_of(fit: Fit) -> Posterior:
            if tell:
                tell("drawing what the real rolls leave open of the parameters")
            return find_posterior(problem, fit, steps)

        refinements = _REFINEMENTS if self.refinements is None else self.refinements
        waves = _WAVES if self.waves is None else self.waves
        fit = refine(problem, evaluator, out, fit, refinements, progress=progress, tell=tell)
        fit = widen(problem, evaluator, out, fit, waves, posterior_of, progress=progress, tell=tell)
        return replace(fit, posterior=posterior_of(fit))

    def _check_method(self) -> None:
        if self.method not in METHODS:
            raise ConfigError(f"unknown method `{self.method}` (valid: {', '.join(METHODS)})")
        if self.samples and self.method != SURFACE:
            raise ConfigError(f"samples of earlier fits are of use to the method `{SURFACE}` alone")
        if (self.refinements or self.waves) and self.method != SURFACE:
            raise ConfigError(f"refinements and waves are of use to the method `{SURFACE}` alone")
        if self.generations == 0 and not self.samples:
            raise ConfigError("a fit of no generations needs the samples of earlier ones")
        if self.method == SURFACE:
            require_sampler()
        if self.method == CMA or self.start == QUASI_STATIC:
            require_optimizer()

    def _start_spec(self) -> Any:
        if self.start in STARTS:
            return self.start
        path = Path(self.start)
        if not path.exists():
            raise ConfigError(
                f"unknown start `{shown_name(self.start)}` (valid: {', '.join(STARTS)}, or the "
                "path of an earlier fit)"
            )
        return read_fit(path)

    def _earlier(self, space: Space) -> dict[str, float]:
        earlier = read_fit(Path(self.start))
        return {name: value for name, value in earlier.items() if name in space.names}


def _listed(heights: Iterable[int]) -> str:
    return " and ".join(map(str, sorted(set(heights)))) + " mm"


def _drawn(space: Space, seed: int) -> dict[str, float]:
    """A draw from the prior, cut off at the bounds."""
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(1,))))
    values = {}
    for parameter in space.parameters:
        value = rng.normal(parameter.prior_mean, parameter.prior_sd)
        while not parameter.low <= value <= parameter.high:
            value = rng.normal(parameter.prior_mean, parameter.prior_sd)
        values[parameter.name] = float(value)
    return values


def _quasi_static(
    problem: Problem,
    start: Values,
    screen: Callable[[Sequence[Values]], list[Screening | str]],
) -> Values:
    """Where rest probabilities without dynamics come nearest to the real frequencies."""
    space, real = problem.space, problem.objective.target.sample

    def evaluate(number: int, points: Sequence[FloatArray]) -> list[tuple[float, Any]]:
        del number
        losses = []
        candidates = [space.from_unit(point) for point in points]
        for values, screened in zip(candidates, screen(candidates), strict=True):
            if isinstance(screened, str):
                losses.append(10 * _NO_PIG)
            elif screened.problem:
                losses.append(_NO_PIG * (1 + screened.severity))
            else:
                losses.append(screened.deviance(real) + space.penalty(values))
        return [(loss, None) for loss in losses]

    search = Search(
        space.to_unit(start),
        Schedule(problem.schedule.seed, 2, default_population(len(space.names))),
    )
    for _ in search.generations(_QUASI_STATIC_GENERATIONS, evaluate):
        pass
    best = min(
        (found for generation in search.history for found in generation),
        key=lambda found: found.loss,
    )
    # Without rolls nothing is learnt of contact and release.
    told = {
        name: value
        for name, value in space.from_unit(best.point).items()
        if name.startswith((SHAPE, "com_"))
    }
    return {**start, **told}

"""What is fitted, and how; and from where its search sets out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from physim.calibrate.evaluate import Evaluator
from physim.calibrate.posterior import require_sampler
from physim.calibrate.priors import (
    SHAPE,
    Space,
    Values,
    known_parameters,
    read_fit,
    values_of,
)
from physim.calibrate.search import (
    CmaSearch,
    Evaluation,
    Schedule,
    SurfaceSearch,
    default_population,
    least_samples,
    require_optimizer,
    surface_population,
)
from physim.calibrate.target import TABLE, Objective, Point, heights_mm, load_target
from physim.config import COMPILED
from physim.dataset.plan import resolve
from physim.errors import ConfigError, shown_name
from physim.simulator import Setup

Json = dict[str, Any]
CMA, SURFACE = METHODS = ("cma", "surface")
MODEL, PRIOR, RANDOM, QUASI_STATIC = STARTS = ("model", "prior", "random", "quasi-static")
INFEASIBLE = 1e9  # loss of a candidate that was not rolled, times 1 + its severity
_GENERATIONS = {CMA: 30, SURFACE: 5}
_QUASI_STATIC_GENERATIONS = 15


@dataclass(frozen=True)
class FitProblem:
    """What is fitted, and how.

    Attributes:
        objective: with the real rolls and the parameters.
        schedule: of the search.
        generations: of the search, at most.
        final_rolls: of each estimate, after the search.
        base: the setup that candidates change.
        names: of the base's `model` and `toss`.
        start: one of `STARTS`, or values of parameters.
        method: of the search, one of `METHODS`.
        refinements: times that the estimate of surfaces moves.
        waves: of candidates from the posterior of surfaces.
        prior_runs: samples of other fits, for the surfaces.
        about: what else the result depends on.
    """

    objective: Objective
    schedule: Schedule
    generations: int
    final_rolls: int
    base: Setup
    names: Mapping[str, str] = field(default_factory=dict)
    start: str | Values = MODEL
    method: str = CMA
    refinements: int = 0
    waves: int = 0
    prior_runs: Sequence[Point] = field(default=(), repr=False)
    about: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def named(
        cls,
        *,
        parameters: Sequence[str] | None = None,
        start: str = MODEL,
        method: str = CMA,
        seed: int = 0,
        generations: int | None = None,
        rolls: int = 400,
        population: int | None = None,
        final_rolls: int = 20_000,
        refinements: int | None = None,
        waves: int | None = None,
        table: str = TABLE,
        # The priors of a shape stand around it, so not the pig that was fitted to these rolls.
        model: str = "standard_before_fit",
        toss: str = "trapdoor_before_fit",
        engine: str = COMPILED,
    ) -> FitProblem:
        """The problem that the options of the command line stand for; None is what suits.

        Raises:
            ConfigError: an unknown name, options that do not go together, a library that is not
                installed, or a toss from other heights than the real rolls'.
        """
        if method == CMA and (refinements or waves):
            raise ConfigError(f"refinements and waves are of use to the method `{SURFACE}` alone")
        if method == SURFACE:
            require_sampler()
        if method == CMA or start == QUASI_STATIC:
            require_optimizer()
        base, real = Setup.named(model, toss=toss, engine=engine), load_target(table)
        heights = set(heights_mm(base.toss))
        if heights != set(real.heights_mm):
            raise ConfigError(
                f"the toss `{toss}` is from {_listed(heights)}, the real rolls from "
                f"{_listed(real.heights_mm)}; take a toss with the same heights"
            )
        space = Space.of(parameters, known_parameters(base))
        count, on_surfaces = len(space.names), int(method == SURFACE)
        population = population or (surface_population if on_surfaces else default_population)(
            count
        )
        if on_surfaces and population < least_samples(count):
            raise ConfigError(
                f"{population} candidates are too few for surfaces of {count} parameters; ask for "
                f"{least_samples(count)} or more"
            )
        return cls(
            objective=Objective(real, space, table),
            schedule=Schedule(seed, rolls, population),
            generations=generations or _GENERATIONS[method],
            final_rolls=2 * -(-final_rolls // 2),
            base=base,
            names={"model": model, "toss": toss},
            start=_start_of(start),
            method=method,
            refinements=on_surfaces if refinements is None else refinements,
            waves=on_surfaces if waves is None else waves,
        )

    @property
    def space(self) -> Space:
        return self.objective.space

    def configuration(self) -> Json:
        """All that the search depends on; more generations go on with the same search."""
        hidden = ("name", "description")
        return {
            "base": resolve(self.schedule.seed, self.base.settle, self.base),
            "start": self.start,
            **self.about,
            "method": self.method,
            "parameters": {
                one.name: {key: value for key, value in asdict(one).items() if key not in hidden}
                for one in self.space.parameters
            },
            "schedule": asdict(self.schedule),
            "target": {"name": self.objective.name, "counts": self.objective.real.to_json()},
        }

    def search(self, start: Values) -> CmaSearch | SurfaceSearch:
        """The search from these values."""
        point = self.space.to_unit(start)
        if self.method == CMA:
            return CmaSearch(point, self.schedule)
        return SurfaceSearch(point, self.schedule, self.objective, self.prior_runs)


def _listed(heights: Iterable[int]) -> str:
    return " and ".join(map(str, sorted(set(heights)))) + " mm"


def _start_of(start: str) -> str | Values:
    """One of `STARTS`, or the values of an earlier fit."""
    if start in STARTS:
        return start
    if not Path(start).exists():
        raise ConfigError(
            f"unknown start `{shown_name(start)}` (valid: {', '.join(STARTS)}, or the path of an "
            "earlier fit)"
        )
    return read_fit(Path(start))


def start_values(problem: FitProblem, evaluator: Evaluator) -> dict[str, float]:
    """From where the search sets out; the evaluator screens candidates of a quasi-static search."""
    space, start = problem.space, problem.start
    if start == PRIOR:
        return {one.name: one.prior_mean for one in space.parameters}
    if start == RANDOM:
        return _drawn(space, problem.schedule.seed)
    given = {} if isinstance(start, str) else {n: v for n, v in start.items() if n in space.names}
    values = given | values_of(problem.base, [name for name in space.names if name not in given])
    return values | (_quasi_static(problem, values, evaluator) if start == QUASI_STATIC else {})


def _drawn(space: Space, seed: int) -> dict[str, float]:
    """A draw from the prior, cut off at the bounds."""
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(1,))))
    values = {}
    for one in space.parameters:
        values[one.name] = math.inf
        while not one.low <= values[one.name] <= one.high:
            values[one.name] = float(rng.normal(one.prior_mean, one.prior_sd))
    return values


def _quasi_static(problem: FitProblem, start: Values, evaluator: Evaluator) -> dict[str, float]:
    """Shape and centre of mass whose rests without dynamics are nearest to the real frequencies."""
    space, best = problem.space, Evaluation((), math.inf)
    schedule = Schedule(problem.schedule.seed, 2, default_population(len(space.names)))
    search = CmaSearch(space.to_unit(start), schedule)
    for _ in range(_QUASI_STATIC_GENERATIONS):
        points = search.ask()
        candidates = [space.from_unit(point) for point in points]
        generation = []
        for point, values, rests in zip(
            points, candidates, evaluator.screen(candidates), strict=True
        ):
            if rests.problem:
                loss = INFEASIBLE * (1 + rests.severity)
            else:
                loss = rests.deviance(problem.objective.real) + space.penalty(values)
            generation.append(Evaluation(tuple(point.tolist()), loss))
        search.tell(generation)
        best = min([best, *generation], key=lambda one: one.loss)
        if search.estimate().finished:
            break
    found = space.from_unit(best.point)  # without rolls nothing is learnt of contact and release
    return {name: v for name, v in found.items() if name.startswith((SHAPE, "com_"))}

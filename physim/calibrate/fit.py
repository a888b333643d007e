"""A fit from start to result: the search over candidates, then fresh rolls of its estimate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from physim.calibrate.checkpoint import Checkpoint, Wave, open_checkpoint
from physim.calibrate.evaluate import Block, Progress, Trial
from physim.calibrate.priors import Space, Values
from physim.calibrate.sample import Sample
from physim.calibrate.search import (
    Estimate,
    Generation,
    Generations,
    Posterior,
    Schedule,
    Search,
)
from physim.calibrate.surface_search import SurfaceSearch
from physim.calibrate.target import Distance, Objective, Point
from physim.errors import ConfigError
from physim.types import FloatArray

Json = dict[str, Any]
CMA, SURFACE = METHODS = ("cma", "surface")
Tell = Callable[[str], None]

REFUSED = 1e9  # loss of a candidate that was not rolled, times 1 + its severity
FINAL_FIRST = 2**40  # index of the first roll after the search: no generation comes that far
_DIGITS = 3  # a fitted value is kept to a thousandth of its prior's spread


class Rolls(Protocol):
    """What rolls candidates: an `Evaluator`."""

    def roll(
        self, candidates: Sequence[Values], block: Block, progress: Progress | None = None
    ) -> list[Trial]:
        """The block's rolls of each candidate."""
        ...


@dataclass(frozen=True)
class Fit:
    """The result.

    Attributes:
        values: of the parameters, rounded.
        estimate: of the search, in the unit cube.
        distance: of the rolls after the search from the real ones.
        sample: those rolls.
        search_rolls: all rolls of the search.
        refused: candidates that were not rolled.
        checkpoint: with the history; it may hold more generations and refinements than this fit.
        refinements: of the estimate.
        waves: of candidates drawn from the posterior.
        posterior: of a search by surfaces, once it was sampled (`posterior.find_posterior`).
    """

    values: Mapping[str, float]
    estimate: Estimate
    distance: Distance
    sample: Sample
    search_rolls: int
    refused: int
    checkpoint: Checkpoint
    refinements: int = 0
    waves: int = 0
    posterior: Posterior | None = None

    def estimates(self) -> list[tuple[dict[str, float], Sample]]:
        """The search's estimate and its refinements: values and rolls."""
        return list(self.checkpoint.estimates())[: 1 + self.refinements]

    @property
    def after(self) -> tuple[int, int, int]:
        """What its posterior goes by: generations, final rolls, refinements."""
        return self.estimate.generations, self.sample.rolls, self.refinements

    def kept_waves(self) -> list[Wave]:
        """All waves in the checkpoint that were drawn from this fit's posterior."""
        return [wave for wave in self.checkpoint.waves if wave.after == self.after]

    def candidates(self) -> list[Point]:
        """Every candidate that was rolled, of the search and of the waves."""
        history = self.checkpoint.history[: self.estimate.generations]
        waves = self.kept_waves()[: self.waves]
        return list(replace(self.checkpoint, history=history, waves=waves).samples())


@dataclass(frozen=True)
class Problem:
    """What is fitted, and how.

    Attributes:
        objective: with the real rolls and the parameters.
        schedule: of the search.
        generations: of the search, at most.
        final_rolls: of the estimate, after the search.
        about: what else the result depends on: the setup that candidates change.
        method: of the search, one of `METHODS`.
        earlier: samples of other fits, for the surfaces.
    """

    objective: Objective
    schedule: Schedule
    generations: int
    final_rolls: int
    about: Mapping[str, Any]
    method: str = CMA
    earlier: Sequence[Point] = field(default=(), repr=False)

    @property
    def space(self) -> Space:
        return self.objective.space

    def configuration(self) -> Json:
        """All that the search depends on; more generations go on with the same search."""
        target = self.objective.target
        return {
            **self.about,
            "method": self.method,
            "parameters": {
                parameter.name: {
                    key: value
                    for key, value in asdict(parameter).items()
                    if key not in ("name", "description")
                }
                for parameter in self.space.parameters
            },
            "schedule": asdict(self.schedule),
            "target": {
                "name": target.name,
                "half": target.half,
                "counts": target.sample.to_json(),
                "by_pig": self.objective.by_pig,
            },
        }

    def search(self, start: Values, history: Sequence[Generation]) -> Generations:
        """The search from these values, after what it has found already."""
        point = self.space.to_unit(start)
        if self.method == CMA:
            return Search(point, self.schedule, history)
        return SurfaceSearch(point, self.schedule, self.objective, history, self.earlier)


def run(
    problem: Problem,
    rolls: Rolls,
    folder: Path,
    start: Callable[[], Values],
    *,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Fit:
    """Makes a fit, or goes on with the one in the folder.

    Args:
        problem: what is fitted.
        rolls: makes them.
        folder: of the checkpoint.
        start: gives the values to set out from; called once a fit.
        progress: called with rolls made and to be made, a generation at a time.
        tell: called with a line after each generation.

    Raises:
        ConfigError: no optimiser, or an estimate that cannot be rolled.
        DatasetError: a checkpoint of another fit, or a folder that cannot be written to.
    """
    checkpoint = open_checkpoint(folder, problem.configuration())
    if not checkpoint.start:
        checkpoint.start = dict(start())
        checkpoint.write(folder)
    elif tell and checkpoint.history:
        tell(f"{len(checkpoint.history)} generations were there already")
    space, schedule = problem.space, problem.schedule
    search = problem.search(checkpoint.start, checkpoint.history[: problem.generations])
    evaluate = partial(_evaluate, problem, rolls, progress)
    for number in search.generations(problem.generations, evaluate):
        checkpoint.history = search.history
        checkpoint.write(folder)
        if tell:
            tell(_line(problem, search, number))
    estimate = search.estimate
    values = rounded(space, estimate.mean)
    final = {
        "generations": estimate.generations,
        "rolls": problem.final_rolls,
        "values": values,
    }
    if not checkpoint.turn_to(final):
        block = Block(schedule.seed, FINAL_FIRST, problem.final_rolls)
        (trial,) = rolls.roll([values], block, progress)
        if trial.problem:
            raise ConfigError(
                f"the fitted values make no pig that can be rolled: {trial.problem}; more rolls or "
                "generations, or another start, may help"
            )
        checkpoint.final = {**final, "sample": trial.sample.to_json()}
        checkpoint.write(folder)
    assert checkpoint.final is not None
    sample = Sample.from_json(checkpoint.final["sample"])
    losses = [found.loss for generation in search.history for found in generation]
    return Fit(
        values=values,
        estimate=estimate,
        distance=problem.objective(sample, values),
        sample=sample,
        search_rolls=sum(
            Sample.from_json(found.record["sample"]).rolls
            for generation in search.history
            for found in generation
            if "sample" in found.record
        ),
        refused=sum(loss >= REFUSED for loss in losses),
        checkpoint=checkpoint,
    )


def _evaluate(
    problem: Problem,
    rolls: Rolls,
    progress: Progress | None,
    generation: int,
    points: Sequence[FloatArray],
) -> list[tuple[float, Json]]:
    schedule = problem.schedule
    first, rolls_each = schedule.first_in(generation), schedule.rolls_in(generation)
    block = Block(schedule.seed, first, rolls_each)
    if problem.method == SURFACE:  # a regression has no use for errors that its samples share
        block = Block(schedule.seed, first * schedule.population, rolls_each, apart=True)
    return rolled(problem, rolls, progress, block, points)


def rolled(
    problem: Problem,
    rolls: Rolls,
    progress: Progress | None,
    block: Block,
    points: Sequence[FloatArray],
) -> list[tuple[float, Json]]:
    """Loss and record of each point of the unit cube, after these rolls of it."""
    candidates = [problem.space.from_unit(point) for point in points]
    found: list[tuple[float, Json]] = []
    for values, trial in zip(candidates, rolls.roll(candidates, block, progress), strict=True):
        if trial.problem:
            found.append((REFUSED * (1 + trial.severity), {"problem": trial.problem}))
        else:
            distance = problem.objective(trial.sample, values)
            found.append((distance.loss, {"g": distance.g, "sample": trial.sample.to_json()}))
    return found


def rounded(space: Space, point: FloatArray) -> dict[str, float]:
    """The values of a point of the unit cube, to a thousandth of the priors' spreads."""
    values = space.from_unit(point)
    for parameter in space.parameters:
        digits = _DIGITS - math.floor(math.log10(parameter.prior_sd))
        near = round(values[parameter.name], digits)
        values[parameter.name] = min(max(near, parameter.low), parameter.high)
    return values


def _line(problem: Problem, search: Generations, number: int) -> str:
    generation = search.history[number]
    g = [found.record["g"] for found in generation if found.loss < REFUSED]
    refused = len(generation) - len(g)
    estimate = search.estimate
    spread = np.sqrt(np.diag(estimate.covariance)).mean()
    return (
        f"generation {number + 1} of {problem.generations}: {len(g)} candidates x "
        f"{problem.schedule.rolls_in(number):,} rolls"
        + (f", {refused} refused" if refused else "")
        + (f"; G {min(g):.0f} to {max(g):.0f}" if g else "")
        + f"; spread {spread:.3f} of the bounds"
        + ("; the estimate lies on the border of the region" if any(estimate.at_border) else "")
    )

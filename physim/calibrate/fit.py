"""A fit from start to posterior.

A search over candidates ends at an estimate, which is rolled afresh. After a search by surfaces,
the surrogate has those many rolls at one point too: it says better where the real frequencies are
met, so the estimate moves there and is rolled again. Where the real rolls are few, parameters far
from the estimate are likely too. So waves of candidates are drawn from the posterior and rolled:
the next posterior is told by them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from physim.calibrate.checkpoint import (
    Checkpoint,
    estimate_step,
    generation_step,
    open_checkpoint,
)
from physim.calibrate.evaluate import Block, Evaluator
from physim.calibrate.posterior import REACH, LogPosterior, draw, log_posterior_about
from physim.calibrate.priors import Space, Values
from physim.calibrate.problem import INFEASIBLE, SURFACE, FitProblem, start_values
from physim.calibrate.search import Estimate, Evaluation, Generation
from physim.calibrate.target import Discrepancy, HeightCounts, Progress
from physim.errors import ConfigError
from physim.types import ExactValue, FloatArray

_DIGITS = 3  # a fitted value is kept to a thousandth of its prior's spread
_SHARES = (1.0, 0.5, 0.25, 0.125)  # of the way to a new estimate, where farther on is no pig
_BORDER = 2e-3  # of where samples are used, in the priors' spreads: values are rounded

# Index of the first roll after the search, of each estimate after the first, of each wave.
FINAL_FIRST, _ESTIMATE_APART = 2**40, 2**30
_WAVE_FIRST, _WAVE_APART = FINAL_FIRST + 2**48, 2**40

Tell = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Fit(ExactValue):
    """The result.

    Attributes:
        values: of the parameters, rounded.
        estimate: in the unit cube; after the first one, its covariance stays.
        distance: of the rolls of the estimate from the real ones.
        searched: the candidates of the search.
        estimates: the search's own and those that followed it.
        waves: of candidates that were drawn from the posterior.
        checkpoint: that it was made with; it may hold more.
        draws: (m, n) in the unit cube from the posterior of surfaces, once it was sampled; those
            that follow each other are alike.
    """

    values: Mapping[str, float]
    estimate: Estimate
    distance: Discrepancy
    searched: Generation
    estimates: Generation
    waves: Sequence[Generation]
    checkpoint: Checkpoint
    draws: FloatArray | None = None

    @property
    def sample(self) -> HeightCounts:
        """The rolls of the estimate."""
        sample = self.estimates[-1].sample
        assert sample is not None
        return sample

    def log_posterior(self, problem: FitProblem) -> LogPosterior:
        """The density about the estimate, by all samples."""
        rolled = [*self.searched, *(one for wave in self.waves for one in wave), *self.estimates]
        points = [(np.array(one.point), one.sample) for one in rolled if one.sample is not None]
        center = problem.space.to_unit(self.values)
        return log_posterior_about(center, [*problem.prior_runs, *points], problem.objective)

    def with_posterior(
        self, problem: FitProblem, progress: Progress | None = None, tell: Tell | None = None
    ) -> Fit:
        """The fit with draws from its posterior."""
        if tell:
            tell("drawing what the real rolls leave open of the parameters")
        spreads = problem.space.spreads
        draws = draw(
            self.log_posterior(problem),
            self.estimate.covariance / np.outer(spreads, spreads),
            problem.schedule.seed,
            progress,
        )
        center = problem.space.to_unit(self.values)
        return replace(self, draws=center + draws * spreads)


def run(
    problem: FitProblem,
    evaluator: Evaluator,
    folder: Path,
    *,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Fit:
    """Makes a fit but for its posterior, or goes on with the one in the folder.

    Args:
        problem: what is fitted.
        evaluator: makes the rolls.
        folder: of the checkpoint.
        progress: called with what is done and to be done, a generation at a time.
        tell: called with a line after each generation, estimate and wave.

    Raises:
        ConfigError: no optimiser, or an estimate that cannot be rolled.
        DatasetError: a checkpoint of another fit, or a folder that cannot be written to.
    """
    checkpoint = open_checkpoint(folder, problem.configuration())
    steps = _Steps(problem, evaluator, folder, checkpoint, progress, tell)
    if not checkpoint.start:
        checkpoint.start = start_values(problem, evaluator)
        checkpoint.write(folder)
    fit = steps.searched()
    for number in range(1, problem.refinements + 1):
        if (moved := steps.refined(fit, number)) is None:
            steps.tell(f"refinement {number}: there is no pig where the samples point to")
            break
        fit = moved
        steps.tell(f"refinement {number}: G {fit.distance.g:.0f} of {fit.sample.rolls:,} rolls")
    for number in range(1, problem.waves + 1):
        fit = steps.wave(fit, number)
        refused = sum(one.sample is None for one in fit.waves[-1])
        steps.tell(
            f"wave {number}: {len(fit.waves[-1]) - refused} candidates of the posterior"
            + (f", {refused} refused" if refused else "")
        )
    return fit


@dataclass(frozen=True)
class _Steps:
    """The steps of a fit; what was rolled for one of them is not rolled again."""

    problem: FitProblem
    evaluator: Evaluator
    folder: Path
    checkpoint: Checkpoint
    progress: Progress | None
    told: Tell | None

    def tell(self, line: str) -> None:
        if self.told:
            self.told(line)

    def evaluated(
        self, step: str, block: Block, candidates: Sequence[Values] | Callable[[], Sequence[Values]]
    ) -> Generation:
        """What the candidates of a step came to; they are asked for if it is a new one."""
        if step not in self.checkpoint.steps:
            problem, found = self.problem, []
            asked = candidates() if callable(candidates) else candidates
            trials = self.evaluator.roll(asked, block, self.progress)
            for values, trial in zip(asked, trials, strict=True):
                point = tuple(problem.space.to_unit(values).tolist())
                if trial.problem:
                    loss = INFEASIBLE * (1 + trial.severity)
                    found.append(Evaluation(point, loss, None, trial.problem))
                else:
                    loss = problem.objective(trial.sample, values).loss
                    found.append(Evaluation(point, loss, trial.sample))
            self.checkpoint.steps[step] = tuple(found)
            self.checkpoint.write(self.folder)
        return self.checkpoint.steps[step]

    def searched(self) -> Fit:
        """The fit after the search and the rolls of its estimate."""
        problem, schedule = self.problem, self.problem.schedule
        search = problem.search(self.checkpoint.start)
        searched: list[Evaluation] = []
        apart = problem.method == SURFACE  # a regression has no use for errors that samples share
        there = sum(step.startswith("generation") for step in self.checkpoint.steps)
        if there := min(there, problem.generations):
            self.tell(f"{there} generations were there already")
        for number in range(problem.generations):
            first, each = schedule.first_in(number), schedule.rolls_in(number)
            block = Block(schedule.seed, first * (schedule.population if apart else 1), each, apart)
            asked = [problem.space.from_unit(point) for point in search.ask()]
            generation = self.evaluated(generation_step(number), block, asked)
            search.tell(generation)
            searched += generation
            if number >= there:
                self.tell(_line(problem, number, generation, search.estimate()))
            if search.estimate().finished:
                break
        estimate = search.estimate()
        step = estimate_step(estimate.generations, problem.final_rolls)
        block = Block(schedule.seed, FINAL_FIRST, problem.final_rolls)
        (final,) = self.evaluated(step, block, [rounded(problem.space, estimate.mean)])
        if final.sample is None:
            raise ConfigError(
                f"the fitted values make no pig that can be rolled: {final.problem}; more rolls or "
                "generations, or another start, may help"
            )
        return self._at(final, estimate, searched, [], [])

    def refined(self, fit: Fit, number: int) -> Fit | None:
        """The fit at the surrogate's optimum, or nearer, where there is a pig; None if nowhere."""
        problem, space = self.problem, self.problem.space
        center = space.to_unit(fit.values)

        @cache
        def optimum() -> FloatArray:
            return fit.log_posterior(problem).optimum() * space.spreads

        def toward(share: float) -> list[Values]:
            return [rounded(space, center + share * optimum())]

        first = FINAL_FIRST + number * _ESTIMATE_APART
        block = Block(problem.schedule.seed, first, problem.final_rolls)
        for share in _SHARES:
            step = estimate_step(fit.estimate.generations, problem.final_rolls, number, share)
            (found,) = self.evaluated(step, block, partial(toward, share))
            if found.sample is not None:
                way = np.abs(np.array(found.point) - center) / space.spreads
                border = tuple((way > REACH - _BORDER).tolist())
                estimate = replace(fit.estimate, at_border=border)
                return self._at(found, estimate, fit.searched, fit.estimates, fit.waves)
        return None

    def wave(self, fit: Fit, number: int) -> Fit:
        """The fit with one more wave of candidates; the estimate stays."""
        schedule = self.problem.schedule

        def drawn() -> list[Values]:
            draws = fit.with_posterior(self.problem, self.progress, self.told).draws
            assert draws is not None
            chosen = np.linspace(0, len(draws) - 1, schedule.population).astype(int)
            return [self.problem.space.from_unit(draw) for draw in draws[chosen]]

        after = estimate_step(
            fit.estimate.generations, self.problem.final_rolls, len(fit.estimates) - 1
        )
        first = _WAVE_FIRST + (number - 1) * _WAVE_APART
        block = Block(schedule.seed, first, schedule.rolls_in(0), apart=True)
        wave = self.evaluated(f"wave {number} about {after}", block, drawn)
        return replace(fit, waves=[*fit.waves, wave])

    def _at(
        self,
        found: Evaluation,
        estimate: Estimate,
        searched: Generation,
        before: Generation,
        waves: Sequence[Generation],
    ) -> Fit:
        assert found.sample is not None
        mean = np.array(found.point)
        values = rounded(self.problem.space, mean)
        return Fit(
            values=values,
            estimate=replace(estimate, mean=mean),
            distance=self.problem.objective(found.sample, values),
            searched=searched,
            estimates=[*before, found],
            waves=waves,
            checkpoint=self.checkpoint,
        )


def rounded(space: Space, point: FloatArray) -> dict[str, float]:
    """The values of a point of the unit cube, to a thousandth of the priors' spreads."""
    values = space.from_unit(point)
    for one in space.parameters:
        digits = _DIGITS - math.floor(math.log10(one.prior_sd))
        values[one.name] = min(max(round(values[one.name], digits), one.low), one.high)
    return values


def _line(problem: FitProblem, number: int, generation: Generation, estimate: Estimate) -> str:
    g = [
        one.loss - problem.space.penalty(problem.space.from_unit(one.point))
        for one in generation
        if one.sample is not None
    ]
    refused = len(generation) - len(g)
    spread = np.sqrt(np.diag(estimate.covariance)).mean()
    return (
        f"generation {number + 1} of {problem.generations}: {len(g)} candidates x "
        f"{problem.schedule.rolls_in(number):,} rolls"
        + (f", {refused} refused" if refused else "")
        + (f"; G {min(g):.0f} to {max(g):.0f}" if g else "")
        + f"; spread {spread:.3f} of the bounds"
        + ("; the estimate lies on the border of the region" if any(estimate.at_border) else "")
    )

"""Widening a fit: candidates are drawn from its posterior and rolled.

A search samples where it looks for the optimum. Where the real rolls are few, parameters far from
it are likely too, and there the emulator goes by what it saw elsewhere. So candidates are drawn
from the posterior, and their rolls show it what is there: the next posterior is told by them.

Refining a fit: the estimate moves to where all samples together say, and is rolled there.

A search ends at the optimum of quadratic surfaces. The `Emulator` bends with the samples and has
those of the estimate among them, many rolls at one point: it says better where the real
frequencies are met. Its own optimum is rolled, and tells it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from physim.calibrate.checkpoint import Wave
from physim.calibrate.evaluate import Block, Progress
from physim.calibrate.fit import (
    FINAL_FIRST,
    REFUSED,
    Fit,
    Json,
    Problem,
    Rolls,
    Tell,
    rolled,
    rounded,
)
from physim.calibrate.posterior import Density, density_about, spreads
from physim.calibrate.sample import Sample
from physim.calibrate.search import Found, Posterior
from physim.types import FloatArray

_FIRST = FINAL_FIRST + 2**48  # index of the first roll: refinements do not come that far
_WAVE_APART = 2**40  # indices between waves


def widen(
    problem: Problem,
    rolls: Rolls,
    folder: Path,
    fit: Fit,
    count: int,
    posterior_of: Callable[[Fit], Posterior],
    *,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Fit:
    """Rolls so many waves of candidates, or goes on with that.

    Args:
        problem: what is fitted.
        rolls: makes them.
        folder: of the checkpoint.
        fit: the estimate that stands.
        count: waves.
        posterior_of: draws from the posterior of a fit.
        progress: called with rolls made and to be made.
        tell: called with a line after each wave.

    Raises:
        DatasetError: a folder that cannot be written to.
    """
    schedule = problem.schedule
    for number in range(count):
        if number >= len(fit.kept_waves()):
            draws = posterior_of(fit).draws
            chosen = np.linspace(0, len(draws) - 1, schedule.population).astype(int)
            points = [draws[index] for index in chosen]
            block = Block(schedule.seed, _FIRST + number * _WAVE_APART, schedule.rolls, apart=True)
            found = tuple(
                Found(tuple(point.tolist()), loss, record)
                for point, (loss, record) in zip(
                    points, rolled(problem, rolls, progress, block, points), strict=True
                )
            )
            fit.checkpoint.waves.append(Wave(fit.after, found))
            fit.checkpoint.write(folder)
        fit = replace(fit, waves=number + 1)
        if tell:
            wave = fit.kept_waves()[number].found
            refused = sum(one.loss >= REFUSED for one in wave)
            tell(
                f"wave {number + 1}: {len(wave) - refused} candidates of the posterior"
                + (f", {refused} refused" if refused else "")
            )
    return fit


_APART = 2**30  # indices of rolls between refinements
_SHORTER = (1.0, 0.5, 0.25, 0.125)  # of the way, where farther on there is no pig
_AT_BORDER = 1e-3  # of what is sampled, in the priors' spreads
_DIFFERENCE = 1e-4  # of a derivative, in the priors' spreads
_STEPS, _STARTS = 100, 4  # of the optimiser


def refine(
    problem: Problem,
    rolls: Rolls,
    folder: Path,
    fit: Fit,
    count: int,
    *,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Fit:
    """Moves the estimate so many times, or goes on with that.

    Args:
        problem: what is fitted.
        rolls: makes them.
        folder: of the checkpoint.
        fit: as the search left it.
        count: refinements.
        progress: called with rolls made and to be made.
        tell: called with a line after each refinement.

    Raises:
        DatasetError: a folder that cannot be written to.
    """
    kept = fit.checkpoint  # in the folder; it may hold more refinements than are asked for
    for number in range(count):
        if number >= len(kept.refined):
            step = _rolled(problem, rolls, fit, number, progress)
            if step is None:
                if tell:
                    tell(f"refinement {number + 1}: there is no pig where the samples point to")
                break
            kept.refined.append(step)
            kept.write(folder)
        fit = _moved(problem, fit, kept.refined[number])
        if tell:
            tell(f"refinement {number + 1}: G {fit.distance.g:.0f} of {fit.sample.rolls:,} rolls")
    return fit


def optimum_of(density: Density) -> FloatArray:
    """(d,) the likeliest parameters, in the priors' spreads about the fit."""
    d = len(density.prior)
    axes = _DIFFERENCE * np.eye(d)

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        log = density.log(np.concatenate([x[None], x + axes, x - axes]))
        return -float(log[0]), (log[d + 1 :] - log[1 : d + 1]) / (2.0 * _DIFFERENCE)

    low, high = density.low + 2.0 * _DIFFERENCE, density.high - 2.0 * _DIFFERENCE
    rng = np.random.default_rng(0)
    starts = [np.zeros(d), density.prior, *rng.normal(scale=0.5, size=(_STARTS - 2, d))]
    found = [
        minimize(
            objective,
            np.clip(start, low, high),
            jac=True,
            method="L-BFGS-B",
            bounds=np.stack([low, high], axis=1),
            options={"maxiter": _STEPS},
        )
        for start in starts
    ]
    return np.asarray(min(found, key=lambda one: float(one.fun)).x)


def _rolled(
    problem: Problem, rolls: Rolls, fit: Fit, number: int, progress: Progress | None
) -> Json | None:
    """The emulator's optimum, or a nearer place on the way to it where there is a pig, rolled."""
    space = problem.space
    density = density_about(problem, fit)
    step, there = optimum_of(density), space.to_unit(fit.values)
    block = Block(problem.schedule.seed, FINAL_FIRST + (number + 1) * _APART, problem.final_rolls)
    for share in _SHORTER:
        unit = np.clip(there + share * step * spreads(space), 0.0, 1.0)
        values = rounded(space, unit)
        (trial,) = rolls.roll([values], block, progress)
        if not trial.problem:
            margin = np.minimum(step - density.low, density.high - step)
            return {
                "values": values,
                "at_border": (margin < _AT_BORDER).tolist(),
                "sample": trial.sample.to_json(),
            }
    return None


def _moved(problem: Problem, fit: Fit, step: Json) -> Fit:
    """The fit after one more refinement."""
    values, at_border = step["values"], tuple(step["at_border"])
    sample = Sample.from_json(step["sample"])
    return replace(
        fit,
        values=values,
        estimate=replace(fit.estimate, mean=problem.space.to_unit(values), at_border=at_border),
        distance=problem.objective(sample, values),
        sample=sample,
        refinements=fit.refinements + 1,
    )

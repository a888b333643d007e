"""Widening a fit: candidates are drawn from its posterior and rolled.

A search samples where it looks for the optimum. Where the real rolls are few, parameters far from
it are likely too, and there the emulator goes by what it saw elsewhere. So candidates are drawn
from the posterior, and their rolls show it what is there: the next posterior is told by them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from physim.calibrate.checkpoint import Wave
from physim.calibrate.evaluate import Block, Progress
from physim.calibrate.fit import FINAL_FIRST, REFUSED, Fit, Problem, Rolls, Tell, rolled
from physim.calibrate.search import Found, Posterior

_FIRST = FINAL_FIRST + 2**48  # index of the first roll: refinements do not come that far
_APART = 2**40  # indices between waves


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
            block = Block(schedule.seed, _FIRST + number * _APART, schedule.rolls, apart=True)
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

"""Parameters and fits as plain text for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from physim.calibrate.fit import Fit, Problem
from physim.calibrate.plausible import Parameter
from physim.statistics.pairs import NAMED_POSES


def list_text(parameters: Mapping[str, Parameter]) -> str:
    """One line a parameter: name, unit, bounds and prior."""
    lines = [f"{'parameter':31}{'unit':>6}{'low':>9}{'high':>9}{'prior':>9}{'sd':>8}"]
    lines += [
        f"{p.name:31}{p.unit:>6}{p.low:>9.4g}{p.high:>9.4g}{p.prior_mean:>9.4g}{p.prior_sd:>8.3g}"
        for p in parameters.values()
    ]
    return "\n".join(lines)


def list_values(parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """The same as plain values, by name."""
    return {
        name: {key: value for key, value in asdict(parameter).items() if key != "name"}
        for name, parameter in parameters.items()
    }


def fit_text(fit: Fit, problem: Problem, out: Path) -> str:
    """The fitted values and the frequencies beside the real ones."""
    spread = "95 % of draws" if fit.posterior else "search sd"
    lines = [f"{'parameter':31}{'unit':>6}{'value':>10}{'start':>10}{spread:>20}"]
    lines += [
        f"{p.name:31}{p.unit:>6}{fit.values[p.name]:>10.4g}"
        f"{fit.checkpoint.start[p.name]:>10.4g}{known:>20}"
        for p, known in zip(problem.space.parameters, _spreads(fit, problem), strict=True)
    ]
    real, simulated = problem.objective.target.sample.poses(), fit.sample.poses()
    pigs = [sum(counts[pose] for pose in NAMED_POSES) for counts in (real, simulated)]
    lines += ["", f"{'pose':31}{'real %':>10}{'fitted %':>10}{'diff':>8}"]
    for pose in NAMED_POSES:
        one, two = 100 * real[pose] / pigs[0], 100 * simulated[pose] / max(pigs[1], 1)
        lines.append(f"{pose.value:31}{one:>10.2f}{two:>10.2f}{two - one:>+8.2f}")
    distance = fit.distance
    lines += [
        "",
        f"{fit.sample.rolls:,} rolls: total variation distance {distance.tv:.4f}, "
        f"G = {distance.g:.1f}, df = {distance.df}, p = {distance.p:.3g}",
        f"after {fit.search_rolls:,} rolls of {fit.estimate.generations} generations; "
        f"the prior's penalty is {distance.penalty:.1f}",
    ]
    if border := [
        name for name, on in zip(problem.space.names, fit.estimate.at_border, strict=False) if on
    ]:
        lines.append(
            f"on the border of the region that was sampled last: {', '.join(border)}; more "
            "generations may find a better optimum"
        )
    lines.append(f"{out}: fit.yaml, the fitted pig and toss")
    return "\n".join(lines)


def _spreads(fit: Fit, problem: Problem) -> list[str]:
    """How far each parameter is told: an interval of the posterior, or the search's spread."""
    space = problem.space
    if fit.posterior is None:
        sds = np.sqrt(np.diag(fit.estimate.covariance)) * space.span
        return [f"{sd:.2g}" for sd in sds.tolist()]
    low, high = (space.from_unit(end) for end in fit.posterior.interval())
    return [f"{low[name]:.3g} to {high[name]:.3g}" for name in space.names]

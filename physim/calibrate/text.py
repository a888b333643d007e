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

_UNLIKELY = 0.01
_TWO_SIDED = 1.96  # standard deviations to each side: 95 % of a normal distribution
_HARDLY = 0.85  # of the prior's standard deviation is left


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
    lines = [f"{'parameter':27}{'unit':>6}{'value':>9}{spread:>20}{'of the prior':>18}"]
    lines += [
        f"{p.name:27}{p.unit:>6}{fit.values[p.name]:>9.4g}{known:>20}{_prior(p):>18}"
        for p, known in zip(problem.space.parameters, _spreads(fit, problem), strict=True)
    ]
    if untold := _untold(fit, problem):
        lines.append(f"hardly told by these rolls: {', '.join(untold)}")
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
        f"after {sum(sample.rolls for _, sample in fit.candidates()):,} rolls of candidates and "
        f"{sum(sample.rolls for _, sample in fit.estimates()):,} of estimates; "
        f"the prior's penalty is {distance.penalty:.1f}",
    ]
    if distance.p < _UNLIKELY:
        lines.append(
            "the fitted pig does not agree with the real rolls: more generations, or parameters, "
            "or another start"
        )
    if border := [
        name for name, on in zip(problem.space.names, fit.estimate.at_border, strict=False) if on
    ]:
        lines.append(
            f"on the border of the region that was sampled last: {', '.join(border)}; more "
            "generations may find a better optimum"
        )
    lines.append(f"{out}: fit.yaml, the fitted pig and toss")
    return "\n".join(lines)


def _prior(parameter: Parameter) -> str:
    """Its 95 % interval, cut off at the bounds."""
    reach = _TWO_SIDED * parameter.prior_sd
    low = max(parameter.low, parameter.prior_mean - reach)
    return f"{low:.3g} to {min(parameter.high, parameter.prior_mean + reach):.3g}"


def _untold(fit: Fit, problem: Problem) -> list[str]:
    """Parameters whose draws spread about as far as the prior."""
    if fit.posterior is None:
        return []
    sds = np.sqrt(np.diag(fit.posterior.covariance)) * problem.space.span
    return [
        p.name
        for p, sd in zip(problem.space.parameters, sds.tolist(), strict=True)
        if sd > _HARDLY * p.prior_sd
    ]


def _spreads(fit: Fit, problem: Problem) -> list[str]:
    """How far each parameter is told: an interval of the posterior, or the search's spread."""
    space = problem.space
    if fit.posterior is None:
        sds = np.sqrt(np.diag(fit.estimate.covariance)) * space.span
        return [f"{sd:.2g}" for sd in sds.tolist()]
    low, high = (space.from_unit(end) for end in fit.posterior.interval())
    return [f"{low[name]:.3g} to {high[name]:.3g}" for name in space.names]

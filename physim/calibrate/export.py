"""What a fit leaves: its YAML, the fitted pig as a model folder, the fitted toss, and a text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from physim import config
from physim.calibrate.fit import Fit
from physim.calibrate.priors import (
    FIT_YAML,
    SHAPE,
    TOSS,
    Parameter,
    Values,
    changed_shape,
    factors,
    offset_mm,
    setup,
)
from physim.calibrate.problem import FitProblem
from physim.dataset.manifest import make_folder, write_whole
from physim.errors import ModelError
from physim.files import read_plain
from physim.pigs.model import MTL_NAME, build_folder
from physim.pigs.model_file import FILE_NAME as MODEL_YAML
from physim.pigs.model_file import model_folder, read_model_file
from physim.simulator import Setup, write_precomputed
from physim.statistics.counts import NAMED_POSES
from physim.tosses.release import yaml_values
from physim.types import FloatArray

Json = dict[str, Any]
TOSS_YAML, MODEL = "toss.yaml", "model"
_AT_BOUND = 0.01  # of the bounds' distance
_UNLIKELY = 0.01
_TWO_SIDED = 1.96  # standard deviations to each side: 95 % of a normal distribution
_HARDLY = 0.85  # of the prior's standard deviation is left


def write_result(folder: Path, fit: Fit, problem: FitProblem) -> None:
    """Writes `fit.yaml`, the fitted pig and the fitted toss.

    Raises:
        DatasetError: a full disk, or a folder that cannot be written to.
        ConfigError, ModelError: values that make no pig, or a folder that cannot be written to.
    """
    head = "# Made by `physim calibrate`; docs/calibration.md says what each entry means.\n"
    data = {"base": dict(problem.names), **summary(fit, problem)}
    write_whole(folder / FIT_YAML, (head + config.dumped(data)).encode())
    write_toss(folder, problem.base, fit.values)
    write_models(folder, problem.base, fit.values)


def summary(fit: Fit, problem: FitProblem) -> Json:
    """The result as plain values."""
    covariance, spread = _covariance(fit), "search" if fit.draws is None else "posterior"
    sds = np.sqrt(np.diag(covariance))
    scale = np.where(sds > 0, sds, 1.0)
    posterior = _posterior(fit, problem)
    parameters: Json = {}
    for one, point, sd, span, at_border in zip(
        problem.space.parameters,
        fit.estimate.mean,
        sds,
        problem.space.span,
        fit.estimate.at_border,
        strict=True,
    ):
        parameters[one.name] = {
            "value": fit.values[one.name],
            "unit": one.unit,
            f"{spread}_sd": float(f"{sd * span:.3g}"),
            **posterior.get(one.name, {}),
            "start": float(fit.checkpoint.start[one.name]),
            **{key: getattr(one, key) for key in ("low", "high", "prior_mean", "prior_sd")},
            "at_bound": bool(min(point, 1 - point) < _AT_BOUND),
            "at_region_border": at_border,
        }
    rolls, estimate = _rolls(fit), fit.estimate
    return {
        "method": problem.method,
        "parameters": parameters,
        f"{spread}_correlation": np.round(covariance / np.outer(scale, scale), 3).tolist(),
        "target": {"table": problem.objective.name, "rolls": problem.objective.real.rolls},
        "goodness_of_fit": fit.distance.to_json(),
        "budget": {
            "search_rolls": rolls["search"],
            "earlier_rolls": sum(sample.rolls for _, sample in problem.prior_runs),
            "final_rolls": rolls["estimates"],
            "refinements": len(fit.estimates) - 1,
            "waves": len(fit.waves),
            "wave_rolls": rolls["waves"],
            "generations": estimate.generations,
            "ended_by_itself": estimate.finished,
            "candidates": len(fit.searched),
            "refused": sum(one.sample is None for one in fit.searched),
        },
        "samples": list(problem.about.get("samples", ())),
        "schedule": asdict(problem.schedule),
        "final_sample": fit.sample.to_json(),
        "made_with": fit.checkpoint.made_with,
    }


def _covariance(fit: Fit) -> FloatArray:
    """(n, n) of the draws, or as the search had narrowed down, in the unit cube."""
    return fit.estimate.covariance if fit.draws is None else np.atleast_2d(np.cov(fit.draws.T))


def _rolls(fit: Fit) -> dict[str, int]:
    """Rolls of candidates and of estimates."""
    made = {
        "search": fit.searched,
        "estimates": fit.estimates,
        "waves": [one for wave in fit.waves for one in wave],
    }
    return {
        name: sum(one.sample.rolls for one in step if one.sample is not None)
        for name, step in made.items()
    }


def _posterior(fit: Fit, problem: FitProblem) -> dict[str, Json]:
    """For each parameter the mean of the posterior and its 95 % interval."""
    if fit.draws is None:
        return {}
    space = problem.space
    ends = (fit.draws.mean(axis=0), *np.percentile(fit.draws, [2.5, 97.5], axis=0))
    mean, low, high = (space.from_unit(end) for end in ends)
    told = {}
    for one in space.parameters:
        name, digits = one.name, 2 - math.floor(math.log10(one.prior_sd))
        told[name] = {
            "posterior_mean": round(mean[name], digits),
            "posterior_95": [round(low[name], digits), round(high[name], digits)],
        }
    return told


def write_models(folder: Path, base: Setup, values: Values) -> list[Path]:
    """Writes the fitted pigs as folders for `--model`: one, or two where the base's pigs differ."""
    if base.black is base.pink:
        return [write_model(folder / MODEL, base.black.name, values)]
    return [
        write_model(folder / f"{MODEL}_{pig}", model.name, values)
        for pig, model in (("black", base.black), ("pink", base.pink))
    ]


def write_model(folder: Path, model: str, values: Values) -> Path:
    """Writes a model folder with fitted values; what is not fitted is as in the model given.

    Raises:
        ConfigError, ModelError: values that make no pig, or a folder that cannot be written to.
    """
    source = model_folder(model)
    file, data = read_model_file(source), config.load(source / MODEL_YAML)
    fitted = [name for name in values if not name.startswith(TOSS)]
    data["description"] = f"{data.get('description', model)}; fitted by physim calibrate"
    data["assumption"] = (
        f"Fitted to counts of real rolls, within plausible bounds: {', '.join(fitted)}. "
        f"All else is as in the model it was fitted from, {source.name}."
    )
    offset = file.axes.T @ offset_mm(file, values)  # the YAML's is along the mesh's axes
    data["center_of_mass_offset_mm"] = [round(x, 6) + 0.0 for x in offset.tolist()]
    data.update(factors(values))
    sculpted = file.shape is not None and any(name.startswith(SHAPE) for name in values)
    if file.shape is not None and sculpted:
        data["shape"] = asdict(changed_shape(file.shape, values))
        for derived in ("shape_of", "shape_scale"):
            data.pop(derived, None)
    make_folder(folder)
    if not sculpted:
        for path in (file.mesh, file.parts, source / MTL_NAME):
            if path.is_file():
                write_whole(
                    folder / path.name, read_plain(path, ModelError, "see to its permissions")
                )
        data.update(mesh=file.mesh.name, parts=file.parts.name)
    write_whole(folder / MODEL_YAML, config.dumped(data).encode())
    if sculpted:
        build_folder(folder)
    write_precomputed(folder)
    return folder


def write_toss(folder: Path, base: Setup, values: Values) -> None:
    """Writes the fitted toss as an entry of `tosses.yaml`, if a number of it was fitted."""
    fitted = {name: value for name, value in values.items() if name.startswith(TOSS)}
    if fitted:
        entry = {"fitted": yaml_values(setup(base, fitted).toss)}
        write_whole(folder / TOSS_YAML, config.dumped(entry).encode())


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


def fit_text(fit: Fit, problem: FitProblem, out: Path) -> str:
    """The fitted values and the frequencies beside the real ones."""
    distance, rolls = fit.distance, _rolls(fit)
    lines = [
        *_parameter_lines(fit, problem),
        "",
        *_pose_lines(fit, problem),
        "",
        f"{fit.sample.rolls:,} rolls: total variation distance {distance.tv:.4f}, "
        f"G = {distance.g:.1f}, df = {distance.df}, p = {distance.p:.3g}",
        f"after {rolls['search'] + rolls['waves']:,} rolls of candidates and "
        f"{rolls['estimates']:,} of estimates; the prior's penalty is {distance.penalty:.1f}",
    ]
    if distance.p < _UNLIKELY:
        lines.append(
            "the fitted pig does not agree with the real rolls: more generations, or parameters, "
            "or another start"
        )
    names = problem.space.names
    if border := [name for name, on in zip(names, fit.estimate.at_border, strict=True) if on]:
        lines.append(
            f"on the border of the region that was sampled last: {', '.join(border)}; more "
            "generations may find a better optimum"
        )
    return "\n".join([*lines, f"{out}: fit.yaml, the fitted pig and toss"])


def _parameter_lines(fit: Fit, problem: FitProblem) -> list[str]:
    space, posterior = problem.space, _posterior(fit, problem)
    sds = np.sqrt(np.diag(_covariance(fit))) * space.span
    spread = "95 % of draws" if posterior else "width of search"
    lines = [f"{'parameter':27}{'unit':>6}{'value':>9}{spread:>20}{'of the prior':>18}"]
    weak = []
    for p, sd in zip(space.parameters, sds.tolist(), strict=True):
        known = f"{sd:.2g}"
        if posterior:
            known = "{:.3g} to {:.3g}".format(*posterior[p.name]["posterior_95"])
            weak += [p.name] if sd > _HARDLY * p.prior_sd else []
        low = max(p.low, p.prior_mean - _TWO_SIDED * p.prior_sd)
        prior = f"{low:.3g} to {min(p.high, p.prior_mean + _TWO_SIDED * p.prior_sd):.3g}"
        lines.append(f"{p.name:27}{p.unit:>6}{fit.values[p.name]:>9.4g}{known:>20}{prior:>18}")
    if not posterior:
        lines.append(
            "the width of the search is how far it had narrowed down (standard deviation), not an\n"
            "uncertainty; `--method surface` reports posterior intervals"
        )
    if weak:
        lines.append(f"weakly identified by these rolls: {', '.join(weak)}")
    return lines


def _pose_lines(fit: Fit, problem: FitProblem) -> list[str]:
    real, simulated = problem.objective.real.poses(), fit.sample.poses()
    pigs = [sum(counts[pose] for pose in NAMED_POSES) for counts in (real, simulated)]
    lines = [f"{'pose':31}{'real %':>10}{'fitted %':>10}{'diff':>8}"]
    for pose in NAMED_POSES:
        one, two = 100 * real[pose] / pigs[0], 100 * simulated[pose] / max(pigs[1], 1)
        lines.append(f"{pose.value:31}{one:>10.2f}{two:>10.2f}{two - one:>+8.2f}")
    return lines

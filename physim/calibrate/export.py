"""What a fit leaves: its YAML, the fitted pig as a model folder, and the fitted toss.

Parameters and fits as plain text for the terminal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from physim import config
from physim.calibrate.fit import Fit, Problem
from physim.calibrate.priors import (
    COM_DIFFERENCE,
    SHAPE,
    TOSS,
    Parameter,
    Values,
    changed_shape,
    factors,
    offset_mm,
    registry,
    setup,
)
from physim.calibrate.search import Posterior
from physim.dataset.manifest import make_folder, write_whole
from physim.errors import ConfigError, ModelError
from physim.files import read_plain
from physim.pigs.model import MTL_NAME, build_folder
from physim.pigs.model_file import FILE_NAME as MODEL_YAML
from physim.pigs.model_file import model_folder, read_model_file
from physim.pigs.shape import PigShape
from physim.seeding import MAX_SEED
from physim.simulator import Setup, keep
from physim.statistics.counts import NAMED_POSES
from physim.tosses.library import yaml_values

Json = dict[str, Any]
FIT_YAML, TOSS_YAML, MODEL = "fit.yaml", "toss.yaml", "model"
_AT_BOUND = 0.01  # of the bounds' distance


def summary(fit: Fit, problem: Problem) -> Json:
    """The result as plain values."""
    known = fit.posterior or fit.estimate
    sds = np.sqrt(np.diag(known.covariance))
    scale = np.where(sds > 0, sds, 1.0)
    correlation = known.covariance / np.outer(scale, scale)
    spread = "posterior" if fit.posterior else "search"
    told = _told(fit.posterior, problem)
    parameters: Json = {}
    border = fit.estimate.at_border or [False] * len(sds)
    for parameter, point, sd, span, at_border in zip(
        problem.space.parameters, fit.estimate.mean, sds, problem.space.span, border, strict=True
    ):
        parameters[parameter.name] = {
            "value": fit.values[parameter.name],
            "unit": parameter.unit,
            f"{spread}_sd": float(f"{sd * span:.3g}"),
            **told.get(parameter.name, {}),
            "start": float(fit.checkpoint.start[parameter.name]),
            **{
                key: value
                for key, value in asdict(parameter).items()
                if key in ("low", "high", "prior_mean", "prior_sd")
            },
            "at_bound": bool(min(point, 1 - point) < _AT_BOUND),
            "at_region_border": at_border,
        }
    schedule, target = problem.schedule, problem.objective.target
    return {
        "method": problem.method,
        "parameters": parameters,
        f"{spread}_correlation": np.round(correlation, 3).tolist(),
        "target": {
            "table": target.name,
            "half": target.half,
            "rolls": target.sample.rolls,
            "by_pig": problem.objective.by_pig,
        },
        "goodness_of_fit": fit.distance.to_json(),
        "budget": {
            "search_rolls": fit.search_rolls,
            "earlier_rolls": sum(sample.rolls for _, sample in problem.earlier),
            "final_rolls": sum(sample.rolls for _, sample in fit.estimates()),
            "refinements": fit.refinements,
            "waves": fit.waves,
            "wave_rolls": sum(sample.rolls for _, sample in fit.candidates()) - fit.search_rolls,
            "generations": fit.estimate.generations,
            "ended_by_itself": fit.estimate.stopped,
            "candidates": fit.estimate.generations * schedule.population,
            "refused": fit.refused,
        },
        "samples": list(problem.about.get("samples", ())),
        "schedule": asdict(schedule),
        "final_sample": fit.sample.to_json(),
        "made_with": fit.checkpoint.made_with,
    }


def _told(posterior: Posterior | None, problem: Problem) -> dict[str, Json]:
    """For each parameter the mean of the posterior and its 95 % interval."""
    if posterior is None:
        return {}
    space = problem.space
    low, high = (space.from_unit(end) for end in posterior.interval())
    mean = space.from_unit(posterior.mean)
    told = {}
    for parameter in space.parameters:
        name, digits = parameter.name, 2 - math.floor(math.log10(parameter.prior_sd))
        told[name] = {
            "posterior_mean": round(mean[name], digits),
            "posterior_95": [round(low[name], digits), round(high[name], digits)],
        }
    return told


def write_fit(folder: Path, fit: Fit, problem: Problem, base: Mapping[str, str]) -> Path:
    """Writes `fit.yaml`.

    Args:
        folder: that holds the checkpoint.
        fit: the result.
        problem: what was fitted.
        base: names of the model and the toss that it set out from.

    Raises:
        DatasetError: a full disk, or a folder that cannot be written to.
    """
    data = {"base": dict(base), **summary(fit, problem)}
    head = "# Made by `physim calibrate`; docs/calibration.md says what each entry means.\n"
    write_whole(folder / FIT_YAML, (head + config.dumped(data)).encode())
    return folder / FIT_YAML


def read_origin(path: Path) -> tuple[dict[str, str], int | None]:
    """The model and the toss that a fit set out from, and its seed, as far as it tells them.

    Args:
        path: of its YAML, or the folder of that.

    Raises:
        ConfigError: no such file, or names or a seed that are none.
    """
    path, data = _loaded(path)
    base, schedule = data.get("base", {}), data.get("schedule", {})
    if not isinstance(base, dict) or not isinstance(schedule, dict):
        raise ConfigError(f"{path}: `base` and `schedule` must be mappings")
    names = {
        key: config.text(f"{path}: base: `{key}`", base[key])
        for key in ("model", "toss")
        if key in base
    }
    seed = None
    if "seed" in schedule:
        seed = config.whole(f"{path}: schedule: `seed`", schedule["seed"], 0, MAX_SEED)
    return names, seed


def read_fit(path: Path) -> dict[str, float]:
    """The values of a fit.

    Args:
        path: of its YAML, or the folder of that.

    Raises:
        ConfigError: no such file, another one, or a value that no fit can have.
    """
    path, data = _loaded(path)
    parameters = data.get("parameters")
    if (
        not isinstance(parameters, dict)
        or not parameters
        or not all(isinstance(entry, dict) for entry in parameters.values())
    ):
        raise ConfigError(f"{path}: is no result of a fit: it has no `parameters`")
    bounds = {name: (one.low, one.high) for name, one in registry(None).items()}
    shapes = [SHAPE + entry.name for entry in fields(PigShape)]  # bounds: those it was fitted in
    config.check_keys(parameters, [*bounds, *shapes], f"{path}: parameters")
    values = {}
    for name, entry in parameters.items():
        where = f"{path}: {name}"
        if name not in bounds and {"low", "high"} <= set(entry):
            bounds[name] = (
                config.number_at(entry, "low", where),
                config.number_at(entry, "high", where),
            )
        values[name] = config.number_at(entry, "value", where, *bounds.get(name, ()))
    return values


def _loaded(path: Path) -> tuple[Path, Json]:
    """The path of a fit's YAML, which may be given as its folder, and what is in it."""
    if path.is_dir():
        path = path / FIT_YAML
        if not path.exists():
            raise ConfigError(
                f"{path.parent}: holds no result of a fit (no {FIT_YAML}); name another folder, or "
                "bring a fit there to its end with `physim calibrate`"
            )
    return path, config.load(path)


def write_models(folder: Path, base: Setup, values: Values) -> list[Path]:
    """The fitted pigs as folders for `--model`: one, or two where the pigs differ.

    Raises:
        ConfigError, ModelError: values that make no pig, or a folder that cannot be written to.
    """
    if base.black is base.pink and not any(values.get(name) for name in COM_DIFFERENCE):
        return [write_model(folder / MODEL, base.black.name, values)]
    return [
        write_model(folder / f"{MODEL}_{pig}", model.name, values, side)
        for pig, model, side in (("black", base.black, 0.5), ("pink", base.pink, -0.5))
    ]


def write_model(folder: Path, model: str, values: Values, side: float = 0.0) -> Path:
    """A model folder with fitted values; what is not fitted is as in the model given.

    Args:
        folder: made if need be.
        model: name or folder of the model that the fit set out from.
        values: parameters; those of the toss are left out.
        side: of the difference of the two pigs that this one gets: 0.5 black, -0.5 pink.

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
    offset = file.axes.T @ offset_mm(file, values, side)  # the YAML's is along the mesh's axes
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
    keep(folder)
    return folder


def write_toss(folder: Path, base: Setup, values: Values) -> Path | None:
    """The fitted toss as an entry of `tosses.yaml`; None if no number of it was fitted."""
    fitted = {name: value for name, value in values.items() if name.startswith(TOSS)}
    if not fitted:
        return None
    entry = {"fitted": yaml_values(setup(base, fitted).toss)}
    write_whole(folder / TOSS_YAML, config.dumped(entry).encode())
    return folder / TOSS_YAML


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

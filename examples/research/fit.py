"""`physim calibrate` with what only research asks for: halves, castings apart, prior runs.

    python examples/research/fit.py --half 1 --samples calibration/fits/one ... --out out/half1

All other options are those of `physim calibrate`. README.md in this folder says how the shipped
fits were made with it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from castings import APART, EachPig, casting, castings

from physim.calibrate import export
from physim.calibrate.checkpoint import Checkpoint, read_checkpoint
from physim.calibrate.export import write_model
from physim.calibrate.priors import (
    DEFAULT,
    Space,
    known_parameters,
    values_of,
)
from physim.calibrate.problem import MODEL, QUASI_STATIC, SURFACE, FitProblem
from physim.calibrate.target import Objective, Point, load_target
from physim.cli.calibrate import calibrate, make_fit
from physim.cli.options import file_path, listed
from physim.cli.output import clean_stdout, print_json
from physim.dataset.plan import differences
from physim.dataset.workers import cores
from physim.errors import ConfigError, PhysimError
from physim.types import PIG_NAMES


def prior_runs(folders: Sequence[Path], problem: FitProblem) -> tuple[list[Point], list[str]]:
    """Points and samples of the fits in these folders, and a digest of each fit's samples.

    The real rolls, the seed, the schedule and the priors may have been others: samples do not
    depend on them. A parameter that a fit did not change has the base's value in them.
    """
    points: list[Point] = []
    digests = []
    for folder in folders:
        checkpoint = read_checkpoint(folder)
        if checkpoint is None:
            raise ConfigError(f"{folder}: holds no fit (no checkpoint.json)")
        here, there = rolled(problem.configuration()), rolled(checkpoint.configuration)
        ours = {
            name: one for name, one in here["parameters"].items() if name in there["parameters"]
        }
        if unlike := differences(there, {**here, "parameters": ours}):
            raise ConfigError(f"{folder}: its samples are of other rolls ({'; '.join(unlike[:5])})")
        found = list(points_of(checkpoint, problem))
        content = [[point.tolist(), sample.to_json()] for point, sample in found]
        digests.append(hashlib.sha256(json.dumps(content).encode()).hexdigest())
        points += found
    return points, digests


def points_of(checkpoint: Checkpoint, problem: FitProblem) -> Iterator[Point]:
    """The samples of a checkpoint, at points of the problem's space."""
    space, names = problem.space, tuple(checkpoint.configuration["parameters"])
    missing = [name for name in space.names if name not in names]
    base = Space.of(missing, {one.name: one for one in space.parameters}) if missing else None
    fixed = (
        {}
        if base is None
        else dict(zip(missing, base.to_unit(values_of(problem.base, missing)), strict=True))
    )
    for one in checkpoint.evaluations():
        if one.sample is not None:
            unit = {**fixed, **dict(zip(names, one.point, strict=True))}
            yield np.array([unit[name] for name in space.names]), one.sample


def rolled(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """What a sample depends on, but for its seed."""
    plain = json.loads(json.dumps(configuration))
    return {
        "base": {key: value for key, value in plain["base"].items() if key != "seed"},
        "parameters": {
            name: {key: one[key] for key in ("low", "high")}
            for name, one in plain["parameters"].items()
        },
    }


def problem_of(
    half: int | None,
    by_pig: bool,
    samples: Sequence[Path],
    generations: int | None = None,
    parameters: Sequence[str] = DEFAULT,
    **names: Any,
) -> FitProblem:
    """The problem of `physim calibrate`, with what only research asks for."""
    if samples and names.get("method") != SURFACE:
        raise ConfigError("samples of earlier fits are of use to the method `surface` alone")
    known = [name for name in parameters if name not in APART]
    names.setdefault("engine", "pybullet")  # of the shipped samples
    problem = FitProblem.named(parameters=known, generations=generations or None, **names)
    space = Space.of(parameters, {**known_parameters(problem.base), **APART})
    apart = [name for name in space.names if name in APART]
    table = names.get("table", problem.objective.name)
    objective = (EachPig if by_pig or apart else Objective)(
        problem.objective.real if half is None else load_target(table, half),
        space,
        table if half is None else f"{table}, half {half}",
    )
    start = problem.start
    if apart and start == QUASI_STATIC:
        raise ConfigError("a quasi-static start knows no castings; take another one")
    if apart and (start == MODEL or not isinstance(start, str)):
        start = {**dict.fromkeys(apart, 0.0), **({} if isinstance(start, str) else start)}
    problem = replace(problem, objective=objective, start=start)
    if generations == 0:
        problem = replace(problem, generations=0)
    if samples:
        points, digests = prior_runs(samples, problem)
        problem = replace(problem, prior_runs=points, about={"samples": digests})
    return problem


@contextmanager
def refusing() -> Iterator[None]:
    """Meanwhile bad input ends the script with one message and exit code 2."""
    try:
        yield
    except PhysimError as error:
        click.echo(f"fit.py: {error}", err=True)
        sys.exit(2)


OWN = ("listing", "generations")


@click.command(params=[option for option in calibrate.params if option.name not in OWN])
@click.option("--generations", type=click.IntRange(0), help="0 goes by the samples alone.")
@click.option("--half", type=click.Choice(["1", "2"]), help="Fit this half of the real rolls.")
@click.option("--by-pig", is_flag=True, help="Compare each of the two pigs apart.")
@click.option("--samples", type=file_path, multiple=True, help="An earlier fit to learn from.")
def main(
    out: Path,
    parameters: str | None,
    half: str | None,
    workers: int | None,
    as_json: bool,
    **names: Any,
) -> None:
    """Fit as `physim calibrate` does, with halves, castings apart and prior runs."""
    if parameters is not None:
        names["parameters"] = listed(parameters)
    with clean_stdout() as stdout, refusing():
        problem = problem_of(None if half is None else int(half), **names)
        apart = any(name in APART for name in problem.space.names)
        change = {"change": castings} if apart else {}
        fit = make_fit(problem, out, workers or cores(), **change)
        if as_json:
            print_json({"out": str(out), **export.summary(fit, problem)}, stdout)
        else:
            stdout.write(export.fit_text(fit, problem, out) + "\n")
        if apart:
            for pig, side in zip(PIG_NAMES, (0.5, -0.5), strict=True):
                write_model(out / f"model_{pig}", problem.names["model"], casting(fit.values, side))


if __name__ == "__main__":
    main()

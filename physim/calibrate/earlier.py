"""Samples of earlier fits, for the surfaces of another one: what was rolled once tells again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from physim.calibrate.checkpoint import FILE_NAME, read_checkpoint
from physim.calibrate.fit import Problem
from physim.calibrate.priors import Space, Values
from physim.calibrate.target import Point
from physim.dataset.plan import differences
from physim.errors import ConfigError, DatasetError
from physim.types import FloatArray

_SHOWN = 5  # differences


def earlier_samples(
    folders: Sequence[Path], problem: Problem, base: Values
) -> tuple[tuple[Point, ...], list[str]]:
    """Points and samples of the fits in these folders, and a digest of each fit's samples.

    They are those of its generations and of its estimate. The real rolls, the seed, the schedule
    and the priors may have been others: samples do not depend on them. A parameter that a fit did
    not change has the base's value in them.

    Args:
        folders: of the fits.
        problem: that the samples are for.
        base: the base's value of each of the problem's parameters.

    Raises:
        ConfigError: no fit there, or one with another base or with a parameter that this one
            does not change.
        DatasetError: a checkpoint that cannot be read.
    """
    points: list[Point] = []
    digests = []
    here = _rolled(problem.configuration())
    unchanged = dict(zip(problem.space.names, problem.space.to_unit(base), strict=True))
    for folder in folders:
        checkpoint = read_checkpoint(folder)
        if checkpoint is None:
            raise ConfigError(f"{folder}: holds no fit (no {FILE_NAME})")
        there = _rolled(checkpoint.configuration, folder)
        names = tuple(there["parameters"])
        bounds = {name: here["parameters"][name] for name in names if name in here["parameters"]}
        if unlike := differences(there, {**here, "parameters": bounds}):
            raise ConfigError(
                f"{folder}: its samples are of other rolls ({'; '.join(unlike[:_SHOWN])}); leave "
                "it out, or set out from the same model and toss with the same parameters"
            )
        found = [
            (_point({**unchanged, **dict(zip(names, point, strict=True))}, problem.space), sample)
            for point, sample in checkpoint.samples()
        ]
        found += [  # many rolls near an optimum: they tell the most
            (problem.space.to_unit({**base, **values}), estimate)
            for values, estimate in checkpoint.estimates()
        ]
        points += found
        content = [[point.tolist(), sample.to_json()] for point, sample in found]
        digests.append(hashlib.sha256(json.dumps(content).encode()).hexdigest())
    return tuple(points), digests


def _point(unit: Mapping[str, float], space: Space) -> FloatArray:
    """(n,) in the space's order."""
    return np.array([unit[name] for name in space.names])


def _rolled(configuration: dict[str, Any], folder: Path | None = None) -> dict[str, Any]:
    """What a sample depends on, but for its seed."""
    plain = json.loads(json.dumps(configuration))
    try:
        base = {key: value for key, value in plain["base"].items() if key != "seed"}
        bounds = {
            name: {key: entry[key] for key in ("low", "high")}
            for name, entry in plain["parameters"].items()
        }
    except (KeyError, TypeError, AttributeError):
        raise DatasetError(
            f"{folder}: its checkpoint does not say what was rolled; leave it out"
        ) from None
    return {"base": base, "parameters": bounds}

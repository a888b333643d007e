"""Samples of earlier fits, for the surfaces of another one: what was rolled once tells again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from physim.batch.configuration import differences
from physim.calibrate.checkpoint import FILE_NAME, read_checkpoint
from physim.calibrate.fit import Problem
from physim.calibrate.surface_search import Point
from physim.errors import ConfigError

_SHOWN = 5  # differences


def earlier_samples(
    folders: Sequence[Path], problem: Problem
) -> tuple[tuple[Point, ...], list[str]]:
    """Points and samples of the fits in these folders, and a digest of each fit's samples.

    The real rolls, the seed, the schedule and the priors may have been others: samples do not
    depend on them.

    Raises:
        ConfigError: no fit there, or one with another base or other parameters.
        DatasetError: a checkpoint that cannot be read.
    """
    points: list[Point] = []
    digests = []
    for folder in folders:
        checkpoint = read_checkpoint(folder)
        if checkpoint is None:
            raise ConfigError(f"{folder}: holds no fit (no {FILE_NAME})")
        there, here = (_rolled(c) for c in (checkpoint.configuration, problem.configuration()))
        if unlike := differences(there, here):
            raise ConfigError(
                f"{folder}: its samples are of other rolls ({'; '.join(unlike[:_SHOWN])}); leave "
                "it out, or set out from the same model and toss with the same parameters"
            )
        found = [(np.array(point), sample) for point, sample in checkpoint.samples()]
        points += found
        content = [[point.tolist(), sample.to_json()] for point, sample in found]
        digests.append(hashlib.sha256(json.dumps(content).encode()).hexdigest())
    return tuple(points), digests


def _rolled(configuration: dict[str, Any]) -> dict[str, Any]:
    """What a sample depends on, but for its seed."""
    plain = json.loads(json.dumps(configuration))
    base = {key: value for key, value in plain["base"].items() if key != "seed"}
    bounds = {
        name: {key: entry[key] for key in ("low", "high")}
        for name, entry in plain["parameters"].items()
    }
    return {"base": base, "parameters": bounds}

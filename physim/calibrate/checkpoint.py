"""What a fit has rolled so far, as one JSON file that is whole after every generation.

A fit follows from its configuration and from what its candidates came to. So these are kept, by the
step of the fit that asked for them, and a fit that goes on takes the same steps again without a
roll. Steps of other numbers of generations, rolls or estimates stay in the file, to come back to.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from physim import config
from physim.calibrate.search import Evaluation, Generation
from physim.calibrate.target import HeightCounts
from physim.dataset.manifest import write_whole
from physim.dataset.plan import differences, these_versions, this_platform
from physim.errors import DatasetError, PhysimError
from physim.files import read_plain

Json = dict[str, Any]
FILE_NAME = "checkpoint.json"
_FORMAT, _WITHOUT_STEPS = 2, 1
_MAX_BYTES = 10**9  # of the file, packed or not
_SHOWN = 5  # differences


def generation_step(number: int) -> str:
    """The name of a generation of the search, from 0."""
    return f"generation {number}"


def estimate_step(generations: int, rolls: int, number: int = 0, share: float = 1.0) -> str:
    """The name of an estimate: the search's own, or one that moved a share of the way."""
    step = f"estimate {number} after {generations} generations, {rolls} rolls"
    return step if share == 1.0 else f"{step}, {share:g} of the way"


@dataclass
class Checkpoint:
    """A fit under way.

    Attributes:
        configuration: all that its result depends on, but for the number of generations.
        start: value of each parameter from where the search set out.
        steps: what the candidates of each step of the fit came to.
        made_with: each platform and set of versions that worked on it; bits differ among them.
    """

    configuration: Json
    start: Mapping[str, float] = field(default_factory=dict)
    steps: dict[str, Generation] = field(default_factory=dict)
    made_with: list[Json] = field(default_factory=list)

    def evaluations(self) -> Iterator[Evaluation]:
        """Every candidate and every estimate that was rolled."""
        for step in self.steps.values():
            yield from (one for one in step if one.sample is not None)

    def write(self, folder: Path) -> None:
        """Writes the file; a kill leaves the old one or the new one.

        Raises:
            DatasetError: a full disk, or a folder that cannot be written to.
        """
        here = {"platform": this_platform(), "versions": these_versions()}
        if here not in self.made_with:
            self.made_with.append(here)
        content = {
            "format": _FORMAT,
            "configuration": self.configuration,
            "made_with": self.made_with,
            "start": dict(self.start),
            "steps": {name: [_plain(one) for one in step] for name, step in self.steps.items()},
        }
        text = json.dumps(content, indent=1, allow_nan=False) + "\n"
        write_whole(folder / FILE_NAME, text.encode())


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """Reads the checkpoint of a folder, if there is one; it may be packed with gzip.

    Raises:
        DatasetError: it cannot be read.
    """
    path, packed = folder / FILE_NAME, folder / f"{FILE_NAME}.gz"
    if not path.exists():
        if not packed.exists():
            return None
        path = packed
    content = read_plain(path, DatasetError, "choose another folder", _MAX_BYTES)
    try:
        data = json.loads(gzip.decompress(content) if path == packed else content)
        return _checkpoint(data)
    except (
        *(OSError, EOFError, zlib.error, RecursionError, PhysimError),
        *(ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError),
    ) as error:
        why = f"no `{error.args[0]}`" if isinstance(error, KeyError) else error
        raise DatasetError(
            f"{path}: no usable checkpoint ({why}); choose another folder, or remove the file to "
            "begin anew"
        ) from error


def open_checkpoint(folder: Path, configuration: Json) -> Checkpoint:
    """The checkpoint of a folder, or a new one.

    Raises:
        DatasetError: it cannot be read, or is of another configuration.
    """
    configuration = json.loads(json.dumps(configuration))
    found = read_checkpoint(folder)
    if found is None:
        return Checkpoint(configuration)
    if unlike := differences(found.configuration, configuration):
        more = f" and {len(unlike) - _SHOWN} more" if len(unlike) > _SHOWN else ""
        raise DatasetError(
            f"{folder / FILE_NAME}: is of another fit ({'; '.join(unlike[:_SHOWN])}{more}); run "
            "the same command as before, or choose another folder"
        )
    return found


def _plain(one: Evaluation) -> Json:
    plain: Json = {"point": list(one.point), "loss": one.loss}
    if one.sample is None:
        return {**plain, "problem": one.problem}
    return {**plain, "sample": one.sample.to_json()}


def _checkpoint(data: Json) -> Checkpoint:
    """Checks all that a fit takes from the file."""
    configuration, parameters = dict(data["configuration"]), data["configuration"]["parameters"]
    start = {name: config.number(name, value) for name, value in data["start"].items()}
    if start and set(start) != set(parameters):
        raise ValueError("a start of other parameters")
    if data["format"] == _WITHOUT_STEPS:
        steps = _steps_of_format_1(data)
    elif data["format"] == _FORMAT:
        steps = data["steps"]
    else:
        raise ValueError(f"format {data['format']}, this physim reads {_FORMAT}")
    heights = HeightCounts.from_json(configuration["target"]["counts"]).heights_mm
    read: dict[str, Generation] = {
        name: tuple(_evaluation(one, len(parameters), heights) for one in step)
        for name, step in steps.items()
    }
    population = configuration["schedule"]["population"]
    for name, step in read.items():
        if len(step) != (1 if name.startswith("estimate") else population) or not start:
            raise ValueError(f"{name}: {len(step)} candidates, or no start")
    return Checkpoint(configuration, start, read, list(data["made_with"]))


def _evaluation(plain: Json, parameters: int, heights: tuple[int, ...]) -> Evaluation:
    point = tuple(config.number("a point", x) for x in plain["point"])
    loss = config.number("a loss", plain["loss"])
    if len(point) != parameters or not all(0.0 <= x <= 1.0 for x in point):
        raise ValueError("a point that is none of the unit cube")
    if "problem" in plain:
        return Evaluation(point, loss, None, config.text("problem", plain["problem"]))
    sample = HeightCounts.from_json(plain["sample"])
    if sample.heights_mm != heights:
        raise ValueError("a sample from other heights than the real rolls'")
    return Evaluation(point, loss, sample)


def _steps_of_format_1(data: Json) -> Json:
    """The steps of a fit from before physim 2, such as those that are shipped."""
    if data.get("refined") or data.get("waves"):
        raise ValueError(
            "of an earlier physim, which cannot be gone on with; give its fit.yaml to --start"
        )
    steps: Json = {
        generation_step(number): [{**one, **one["record"]} for one in generation]
        for number, generation in enumerate(data["generations"])
    }
    if data["final"] is not None:
        final, parameters = data["final"], data["configuration"]["parameters"]
        point = [
            (final["values"][name] - one["low"]) / (one["high"] - one["low"])
            for name, one in parameters.items()
        ]
        step = estimate_step(final["generations"], final["rolls"])
        steps[step] = [{"point": point, "loss": 0.0, "sample": final["sample"]}]
    return steps

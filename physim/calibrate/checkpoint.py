"""What a fit has found so far, as one JSON file that is whole after every generation."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from physim.calibrate.sample import Sample
from physim.calibrate.search import Found, Generation
from physim.dataset.manifest import write_whole
from physim.dataset.plan import differences, these_versions, this_platform
from physim.errors import DatasetError
from physim.files import read_plain
from physim.types import FloatArray

Json = dict[str, Any]
FILE_NAME = "checkpoint.json"
_FORMAT = 1
_MAX_BYTES = 10**9  # of the file, packed or not
_SHOWN = 5  # differences


@dataclass(frozen=True)
class Wave:
    """Candidates that were drawn from a posterior.

    Attributes:
        after: generations, final rolls and refinements of the fit whose posterior it was.
        found: the candidates, as a generation's.
    """

    after: tuple[int, int, int]
    found: Generation


@dataclass
class Checkpoint:
    """A fit under way.

    Attributes:
        configuration: all that its result depends on, but for the number of generations.
        start: value of each parameter from where the search set out.
        history: the generations that are done; a candidate's record says what it was rolled to.
        final: of the rolls after the search: the number of generations, the values, the rolls.
        refined: the values and rolls of estimates that came after that one.
        waves: candidates that were drawn from the posterior.
        others: `final` and `refined` of other numbers of generations or rolls.
        made_with: each platform and set of versions that worked on it; bits differ among them.
    """

    configuration: Json
    start: Mapping[str, float] = field(default_factory=dict)
    history: list[Generation] = field(default_factory=list)
    final: Json | None = None
    refined: list[Json] = field(default_factory=list)
    waves: list[Wave] = field(default_factory=list)
    others: list[Json] = field(default_factory=list)
    made_with: list[Json] = field(default_factory=list)

    def samples(self) -> Iterator[tuple[FloatArray, Sample]]:
        """Every candidate that was rolled: its point in the unit cube, and its rolls."""
        for generation in [*self.history, *(wave.found for wave in self.waves)]:
            for found in generation:
                if "sample" in found.record:
                    yield np.array(found.point), Sample.from_json(found.record["sample"])

    def turn_to(self, final: Json) -> bool:
        """Brings back the estimate of these numbers and values, if it was rolled once."""
        for one in [{"final": self.final, "refined": self.refined}, *self.others]:
            if one["final"] is not None and all(one["final"][key] == final[key] for key in final):
                break
        else:
            one = {"final": None, "refined": []}
        if self.final is not None and one["final"] is not self.final:
            self.others.append({"final": self.final, "refined": self.refined})
        self.others = [other for other in self.others if other is not one]
        self.final, self.refined = one["final"], one["refined"]
        return self.final is not None

    def estimates(self) -> Iterator[tuple[dict[str, float], Sample]]:
        """Every estimate that was rolled: its values, and its rolls."""
        for one in [self.final, *self.refined]:
            if one is not None:
                yield one["values"], Sample.from_json(one["sample"])

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
            "final": self.final,
            "refined": self.refined,
            "waves": [
                {"after": list(wave.after), "found": _plain(wave.found)} for wave in self.waves
            ],
            "others": self.others,
            "generations": [_plain(generation) for generation in self.history],
        }
        text = json.dumps(content, indent=1, allow_nan=False) + "\n"
        write_whole(folder / FILE_NAME, text.encode())


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """The checkpoint of a folder, if there is one; it may be packed with gzip.

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
        if data["format"] != _FORMAT:
            raise ValueError(f"format {data['format']}, this physim reads {_FORMAT}")
        checkpoint = Checkpoint(
            configuration=dict(data["configuration"]),
            start=dict(data["start"]),
            history=[_generation(one) for one in data["generations"]],
            final=data["final"],
            refined=list(data.get("refined", [])),
            waves=[
                Wave(
                    _three(wave["after"]),
                    _generation(wave["found"]),
                )
                for wave in data.get("waves", [])
            ],
            others=list(data.get("others", [])),
            made_with=list(data["made_with"]),
        )
        _check(checkpoint)
        return checkpoint
    except (
        *(OSError, EOFError, zlib.error, RecursionError, DatasetError),
        *(ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError),
    ) as error:
        why = f"no `{error.args[0]}`" if isinstance(error, KeyError) else error
        raise DatasetError(
            f"{path}: no usable checkpoint ({why}); choose another folder, or remove the file to "
            "begin anew"
        ) from error


def _plain(generation: Generation) -> list[Json]:
    return [
        {"point": list(found.point), "loss": found.loss, "record": found.record}
        for found in generation
    ]


def _generation(plain: list[Json]) -> Generation:
    return tuple(
        Found(tuple(map(float, one["point"])), float(one["loss"]), one["record"]) for one in plain
    )


def _three(after: list[int]) -> tuple[int, int, int]:
    generations, rolls, refinements = after
    return int(generations), int(rolls), int(refinements)


def _check(checkpoint: Checkpoint) -> None:
    """Refuses what no fit has written: all that a search is told again, and all counts."""
    bounds = checkpoint.configuration["parameters"]
    population = checkpoint.configuration["schedule"]["population"]
    target = Sample.from_json(checkpoint.configuration["target"]["counts"])
    if checkpoint.start:  # a model's own value may lie beyond the bounds
        _check_values(checkpoint.start, bounds, "start")
    for one in [{"final": checkpoint.final, "refined": checkpoint.refined}, *checkpoint.others]:
        if one["final"] is None and one["refined"]:
            raise ValueError("refined values without final ones")
        for step in [] if one["final"] is None else [one["final"], *one["refined"]]:
            _check_values(step["values"], bounds, "an estimate", within=True)
            _check_sample(step["sample"], target)
        if one["final"] is not None and any(
            type(one["final"][key]) is not int for key in ("generations", "rolls")
        ):
            raise TypeError("an estimate without numbers of generations and rolls")
        if any(
            [type(on) for on in step["at_border"]] != [bool] * len(bounds)
            for step in one["refined"]
        ):
            raise ValueError("a border of other parameters")
    generations = [*checkpoint.history, *(wave.found for wave in checkpoint.waves)]
    if any(len(generation) != population for generation in generations):
        raise ValueError(f"a generation of other than {population} candidates")
    for found in (one for generation in generations for one in generation):
        if not checkpoint.start:
            raise ValueError("no start")
        if len(found.point) != len(bounds) or not all(0.0 <= x <= 1.0 for x in found.point):
            raise ValueError("a point that is none of the unit cube")
        if not math.isfinite(found.loss):
            raise ValueError("a loss that is not finite")
        if "problem" not in found.record:
            _check_sample(found.record["sample"], target)
            float(found.record["g"])


def _check_values(
    values: Mapping[str, Any], bounds: Mapping[str, Any], what: str, *, within: bool = False
) -> None:
    if set(values) != set(bounds):
        raise ValueError(f"{what} of other parameters")
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, float | int):
            raise TypeError(f"{what}: `{name}` is no number")
        if not math.isfinite(value):
            raise ValueError(f"{what}: `{name}` is not finite")
        if within and not bounds[name]["low"] - 1e-9 <= value <= bounds[name]["high"] + 1e-9:
            raise ValueError(f"{what}: `{name}` out of its bounds")


def _check_sample(plain: Json, target: Sample) -> None:
    sample = Sample.from_json(plain)
    if sample.heights_mm != target.heights_mm:
        raise ValueError("a sample from other heights than the real rolls'")


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

"""What a batch is: the names and numbers that fix every roll of it.

The resolved configuration of a batch: every parameter that its rolls depend on.

Names and paths are left out, since what counts is what they stood for: a model by its mass, its
friction and a hash of its parts, a toss by its numbers. Equal configurations give equal rolls.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from physim import config, errors
from physim.dataset.processes import PRELOAD
from physim.errors import ConfigError
from physim.seeding import MAX_SEED
from physim.types import PigModel, Roll

if TYPE_CHECKING:
    from physim.physics.surfaces import EngineSettings
    from physim.simulator import Setup, SimulationContext

_LEAST_CHUNK = 200  # rolls a file: a few seconds of work
_MOST_CHUNK = 50_000  # 15 MB while they wait for their chunk
_FILES = 1_000  # a dataset, about: each costs two waits for the disk, and opening it later
_COUNTS_CHUNK = 1_000_000  # rolls a task, at most; nothing waits
MAX_ROLLS = 10**12
SETTLE_MODES = ("full", "fast")
_CALL_S = 1 / 128  # simulated time between two looks at the pigs, whatever the time step
_FINEST_STEP_S = 1 / 65536
_SIZES = ("n", "chunk_size")


class Roller(Protocol):
    """What makes the rolls: a `physim.simulator.Simulator`."""

    def roll(self, seed: int, index: int) -> Roll:
        """The roll of that seed and index, the same bits whatever was rolled before."""
        ...


class RollSource(Protocol):
    """What a plan comes to: plain values that can be pickled and opened on any machine."""

    def open(self) -> AbstractContextManager[Roller]:
        """A simulator of its own."""
        ...


@dataclass(frozen=True)
class SetupSource:
    """The rolls of one setup, with what is computed before the first one."""

    setup: Setup
    prepared: SimulationContext

    def open(self) -> AbstractContextManager[Roller]:
        """A simulator of its own."""
        from physim.simulator import Simulator

        return Simulator(self.setup, self.prepared)


@dataclass(frozen=True)
class BatchPlan:
    """A batch by name.

    NumPy's numbers and paths are taken, and kept as Python's own numbers and texts.

    Attributes:
        n: rolls, with the indices 0 to n - 1.
        seed: 0 to 2^63 - 1.
        model: of both pigs: a name or a path to a model folder.
        black, pink: of one pig, in place of `model`.
        toss: `trapdoor`, `hand` or `drop`.
        height_mm: of release; None for the toss's own.
        surface: of the table; None for the default.
        time_step_s: of the engine, 1/256 s halved some times; None for the default.
        settle: `full` simulates until the pigs are still, `fast` until the outcome is certain.
        chunk_size: rolls a file; the results do not depend on it. None for the folder's own, or
            what suits `n`.
    """

    modules: ClassVar[tuple[str, ...]] = PRELOAD  # workers need them

    n: int
    seed: int = 0
    model: str | Path = "standard"
    black: str | Path | None = None
    pink: str | Path | None = None
    toss: str = "trapdoor"
    height_mm: float | None = None
    surface: str | None = None
    time_step_s: float | None = None
    settle: str = "fast"
    chunk_size: int | None = None

    def __post_init__(self) -> None:
        checked = {
            "n": config.whole("n", self.n, 1, MAX_ROLLS),
            "seed": config.whole("seed", self.seed, 0, MAX_SEED),
            "model": config.text("model", self.model),
            "toss": config.text("toss", self.toss),
            **{
                name: config.optional_text(name, getattr(self, name))
                for name in ("black", "pink", "surface")
            },
            **{
                name: None if value is None else config.number(name, value)
                for name in ("height_mm", "time_step_s")
                for value in (getattr(self, name),)
            },
        }
        if self.chunk_size is not None:
            checked["chunk_size"] = config.whole("chunk_size", self.chunk_size, 1, MAX_ROLLS)
        if self.settle not in SETTLE_MODES:
            raise ConfigError(
                f"settle must be {' or '.join(SETTLE_MODES)}, found {errors.shown(self.settle)}"
            )
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def names(self) -> dict[str, Any]:
        """The names and numbers as they were given, without the sizes."""
        return {name: value for name, value in asdict(self).items() if name not in _SIZES}

    def setup(self) -> Setup:
        """Loads what the names stand for.

        Raises:
            ConfigError, ModelError: an unknown name, or a file that cannot be used.
        """
        from physim.simulator import Setup

        return Setup.named(
            self.model,
            black=self.black,
            pink=self.pink,
            toss=self.toss,
            height_mm=self.height_mm,
            surface=self.surface,
            settings=engine_settings(self.time_step_s),
            settle=self.settle,
        )

    def configuration(self) -> dict[str, Any]:
        """Every parameter that the rolls depend on; see `resolve`."""
        return resolve(self.seed, self.settle, self.setup())

    def source(self) -> RollSource:
        """What workers are sent; raises as `setup`."""
        from physim.simulator import SimulationContext

        setup = self.setup()
        return SetupSource(setup, SimulationContext.of(setup.pigs, setup.table))

    def open(self) -> AbstractContextManager[Roller]:
        """A simulator of its own."""
        return self.source().open()


def default_chunk_size(n: int, counts_only: bool = False) -> int:
    """Rolls a file: 200, or more where that would make too many files."""
    if counts_only:
        return _COUNTS_CHUNK
    for size in (_LEAST_CHUNK, 1_000, 5_000, 10_000):
        if n <= size * _FILES:
            return size
    return _MOST_CHUNK


def engine_settings(time_step_s: float | None) -> EngineSettings:
    """The engine's settings with another time step; it is looked at equally often.

    Raises:
        ConfigError: not 1/256 s halved some times.
    """
    from physim.physics.surfaces import EngineSettings

    if time_step_s is None:
        return EngineSettings()
    steps = 2  # 1/256 s is the coarsest step that is offered
    while _CALL_S / steps > time_step_s and _CALL_S / steps > _FINEST_STEP_S:
        steps *= 2
    if _CALL_S / steps != time_step_s:  # exact: both are powers of two
        raise ConfigError(
            "the time step must be 1/256 s or that halved some times (1/512, 1/1024 ... 1/65536), "
            f"found {time_step_s:g}"
        )
    return EngineSettings(time_step_s=time_step_s, steps_per_check=steps)


Json = dict[str, Any]
_NOT_THERE = "(not there)"


def resolve(seed: int, settle: str, setup: Setup) -> Json:
    """The configuration as plain JSON values, SI units."""
    resolved = {
        "seed": seed,
        "settle": settle,
        "black": _model(setup.black),
        "pink": _model(setup.pink),
        "toss": {"kind": type(setup.toss).__name__.lower(), **_fields(setup.toss)},
        "table": asdict(setup.table),
        "engine": setup.settings.as_written(),
        "rest": asdict(setup.criterion),
    }
    plain: Json = json.loads(json.dumps(resolved))
    return plain


def sha256(configuration: Mapping[str, Any]) -> str:
    """A hash that is equal for equal configurations; floats count to the last bit."""
    text = json.dumps(configuration, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """One text a differing entry, those that both have first.

    Such as `toss.heights_m: [0.127] there, [0.203] here`.
    """
    one, two = dict(_flat(there)), dict(_flat(here))
    keys = sorted({*one, *two}, key=lambda key: (key not in one or key not in two, key))
    return [
        f"{key}: {one.get(key, _NOT_THERE)} there, {two.get(key, _NOT_THERE)} here"
        for key in keys
        if json.dumps(one.get(key, _NOT_THERE)) != json.dumps(two.get(key, _NOT_THERE))
    ]


def _flat(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _model(model: PigModel) -> Json:
    digest = hashlib.sha256()
    for part in model.parts:
        digest.update(f"{part.label} {part.vertices_m.shape}\n".encode())
        digest.update(np.ascontiguousarray(part.vertices_m, dtype="<f8").tobytes())
    values = _fields(model)
    del values["name"], values["parts"], values["kept"]
    # Rigid pigs keep the hashes that they had before there were soft ones.
    if not model.contact_stiffness_n_m:
        del values["contact_stiffness_n_m"]
    values["inertia_kg_m2"] = model.inertia_kg_m2.tolist()
    return {**values, "parts": len(model.parts), "parts_sha256": digest.hexdigest()}


def _fields(value: Any) -> Json:
    return {field.name: getattr(value, field.name) for field in fields(value)}

"""What decides the rolls of a batch: its plan, the configuration that follows, and the machine."""

from __future__ import annotations

import hashlib
import json
import math
import pickle
import platform
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from physim import __version__, config, precomputed
from physim.config import MAX_ROLLS, SetupOptions
from physim.errors import WorkerError
from physim.seeding import MAX_SEED
from physim.types import PigModel, Roll

if TYPE_CHECKING:
    from physim.simulator import Setup, SimulationContext

_FILES = 1_000  # a dataset, about: each costs two waits for the disk, and opening it later
_CHUNKS = (200, 1_000, 5_000, 10_000)  # rolls a file: a few seconds of work, or more
_MOST_CHUNK = 50_000  # 15 MB while they wait for their chunk
_COUNTS_CHUNK = 1_000_000  # rolls a task, at most; nothing waits
LIMITS = {"n": (1, MAX_ROLLS), "seed": (0, MAX_SEED), "chunk_size": (1, MAX_ROLLS)}
"""The least and the most of each number of a plan."""
PRELOAD = ("physim.dataset.preload", "physim.dataset.workers", "physim.dataset.rows")
"""Modules that workers need for real rolls, the slowest first."""

Json = dict[str, Any]


class Roller(Protocol):
    """Makes the rolls: a `physim.simulator.Simulator`."""

    def roll(self, seed: int, index: int) -> Roll:
        """The roll of that seed and index, the same bits whatever was rolled before."""
        ...


@dataclass(frozen=True)
class SetupSource:
    """The rolls of one setup, with what is computed before: can be opened on any machine."""

    setup: Setup
    prepared: SimulationContext

    def open(self) -> AbstractContextManager[Roller]:
        """A simulator of its own."""
        from physim.simulator import Simulator

        return Simulator(self.setup, self.prepared)


@dataclass(frozen=True, kw_only=True)
class BatchPlan(SetupOptions):
    """A batch by name.

    Attributes:
        n: rolls, with the indices 0 to n - 1.
        seed: 0 to 2^63 - 1.
        chunk_size: rolls a file; the results do not depend on it. None for the folder's own, or
            what suits `n`.
    """

    modules: ClassVar[tuple[str, ...]] = PRELOAD  # workers need them

    n: int
    seed: int = 0
    chunk_size: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, limits in LIMITS.items():
            value = getattr(self, name)
            if name != "chunk_size" or value is not None:
                object.__setattr__(self, name, config.whole(name, value, *limits))

    def names(self) -> Json:
        """The names and numbers as they were given, without the sizes."""
        return {"seed": self.seed, **super().names()}

    def setup(self) -> Setup:
        """Loads what the names stand for; raises as `Setup.of`."""
        from physim.simulator import Setup

        return Setup.of(self)

    def configuration(self) -> Json:
        """Every parameter that the rolls depend on; see `resolve`."""
        return resolve(self.seed, self.settle, self.setup())

    def source(self) -> SetupSource:
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
    return next((size for size in _CHUNKS if n <= size * _FILES), _MOST_CHUNK)


def resolve(seed: int, settle: str, setup: Setup) -> Json:
    """Every parameter that rolls depend on, as plain JSON values in SI units.

    Names and paths are left out, since what counts is what they stood for: a model by its mass, its
    friction and a hash of its parts, a toss by its numbers. Equal configurations give equal rolls.
    """
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
    pairs = [(key, one.get(key, "(not there)"), two.get(key, "(not there)")) for key in keys]
    return [f"{key}: {a} there, {b} here" for key, a, b in pairs if json.dumps(a) != json.dumps(b)]


def _flat(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


BITS = "bits"
_LIBRARIES = ("pybullet", "numpy", "scipy", "trimesh")
_POINTS = 5_000  # two processors' sines differ in one of some thousand


def these_versions() -> dict[str, str]:
    """Versions of physim and of the libraries that could change a roll."""
    return {"physim": __version__, **precomputed.versions(_LIBRARIES)}


def this_platform() -> dict[str, str]:
    """What could change the bits of a roll, besides the libraries."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(errors="replace").splitlines() if info.exists() else []
    models = (line.partition(":")[2] for line in lines if line.startswith("model name"))
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "libc": " ".join(platform.libc_ver()).strip(),
        "processor": next(models, platform.processor()).strip(),
        BITS: _bits(),
    }


@cache
def _bits() -> str:
    """A hash of what the functions that rolls use come to here, over some thousand arguments.

    The C library and NumPy choose their code by the processor and by the environment, and some
    last bits with it. Compiled loops call the same functions. Linear algebra is left out, whose
    last bits differ between most processors: what rolls take from it comes with the model (`kept`),
    or else decides the bits of every roll, so that any one shows it.
    """
    spread = [k * 0.6180339887498949 % 1.0 for k in range(1, _POINTS + 1)]  # in (0, 1)
    wide = [14.0 * share - 7.0 for share in spread]
    of_any = (math.sin, math.cos, math.tan, math.atan, math.exp)
    of_share = (math.asin, math.acos, math.log, math.log2)
    of_two = (math.atan2, math.hypot, lambda y, x: x**y)
    numbers = [function(x) for function in of_any for x in wide]
    numbers += [function(x) for function in of_share for x in spread]
    numbers += [function(y, x) for function in of_two for y, x in zip(wide, spread, strict=True)]
    angles = np.array(wide)
    rows = angles[: 3 * (_POINTS // 3)].reshape(-1, 3)
    arrays = (np.array(numbers), np.sin(angles), np.cos(angles), (rows**2).sum(axis=1))
    return hashlib.sha256(np.concatenate(arrays).tobytes()).hexdigest()[:16]


def sample_roll(roller: Roller, seed: int) -> Json:
    """Roll 0 as this machine makes it, its platform and versions: entries of a manifest."""
    from physim.dataset.rows import named, row_of

    check_roll = named(row_of(roller.roll(seed, 0)))
    return {
        "check_roll": check_roll,
        "platform": this_platform(),
        "versions": these_versions(),
    }


def other_bits(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """In what the rolls of two machines differ, as `differences`; empty if in nothing."""
    one, two = ({BITS: x["platform"].get(BITS), **x["check_roll"]} for x in (there, here))
    return differences(one, two)


@dataclass(frozen=True)
class Job:
    """What a worker needs to make rolls: content, not names, so it needs none of our files.

    Attributes:
        seed: of the rolls.
        content: a pickled `SetupSource`.
        versions: what the worker must run; None where workers are of this machine.
        sample: what `sample_roll` must come out as, to the last bit; None there too.
    """

    seed: int
    content: bytes
    versions: dict[str, str] | None = None
    sample: Json | None = None

    @classmethod
    def of(cls, plan: BatchPlan, versions: dict[str, str] | None = None) -> Job:
        """The job of a plan; raises as `BatchPlan.setup`."""
        return cls(plan.seed, pickle.dumps(plan.source(), protocol=5), versions)

    def open(self, held: ExitStack) -> Roller:
        """A simulator, which `held` closes, if this machine makes the rolls that are wanted.

        Raises:
            WorkerError: it runs other versions, or roll 0 comes out with other bits.
        """
        # Versions first: other ones may not read the content.
        unlike = differences(self.versions, these_versions()) if self.versions else []
        if not unlike:
            roller: Roller = held.enter_context(pickle.loads(self.content).open())
            unlike = other_bits(self.sample, sample_roll(roller, self.seed)) if self.sample else []
        if unlike:
            differing = "; ".join(unlike[:3]).replace(" there", " wanted")
            raise WorkerError(
                f"the worker on {platform.node()} would make rolls of other bits ({differing}); "
                "finished parts are kept: install the same versions on all machines or leave "
                "this one out, start the workers again, and run the same command"
            )
        return roller

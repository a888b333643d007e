"""What a worker needs to make the rolls of a plan: content, not names.

Models, tosses and settings travel as what they are, so a worker on another machine needs none of
the files that they were read from, and none reads a mesh again.

What could change the bits of a roll: the machine, and the versions that run on it.
"""

from __future__ import annotations

import hashlib
import math
import pickle
import platform
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from physim import __version__, precomputed
from physim.dataset.plan import BatchPlan, Roller, RollSource, differences
from physim.dataset.rows import Row, named, row_of
from physim.errors import WorkerError


@dataclass(frozen=True)
class Sample:
    """Roll 0 as a worker made it, and where.

    Attributes:
        row: the roll.
        platform: of the worker.
        versions: of the worker.
    """

    row: Row
    platform: dict[str, str]
    versions: dict[str, str]


@dataclass(frozen=True)
class Kit:
    """Goes to workers whole; they open it once and keep it open.

    Attributes:
        key: differs where the content differs.
        seed: of the rolls.
        content: a pickled `RollSource`.
        versions: what every worker must run; None where workers are of this machine.
        check_row: what roll 0 must come out as, to the last bit; None likewise.
        bits: what the functions of rolls must come to (`platforms`); None likewise.
    """

    key: str
    seed: int
    content: bytes
    versions: dict[str, str] | None = None
    check_row: Row | None = None
    bits: str | None = None

    @classmethod
    def of(cls, plan: BatchPlan, versions: dict[str, str] | None = None) -> Kit:
        """The kit of a plan.

        Raises:
            ConfigError, ModelError: an unknown name, or a file that cannot be used.
        """
        content = pickle.dumps(plan.source(), protocol=5)
        key = hashlib.sha256(content + str(plan.seed).encode()).hexdigest()
        return cls(key, plan.seed, content, versions)

    def open(self) -> AbstractContextManager[Roller]:
        """A simulator.

        Raises:
            WorkerError: this machine runs other versions.
        """
        self._check_versions()  # first: other versions may not read the content
        source: RollSource = pickle.loads(self.content)
        return source.open()

    def check_bits(self, roller: Roller) -> None:
        """Refuses a machine on which the same roll comes out otherwise.

        Raises:
            WorkerError: names the columns and the machine.
        """
        if self.check_row is None:
            return
        row, platform = row_of(roller.roll(self.seed, 0)), this_platform()
        unlike = differences(named(self.check_row), named(row))
        if self.bits is not None:
            unlike += differences({BITS: self.bits}, {BITS: platform[BITS]})
        if unlike:
            machine = ", ".join(text for name, text in platform.items() if name != BITS)
            raise WorkerError(
                f"a worker makes rolls of other bits ({'; '.join(unlike[:3])}; it runs on "
                f"{machine}); finished parts are kept: leave out such machines and run the same "
                "command again"
            )

    def _check_versions(self) -> None:
        if self.versions is None:
            return
        if unlike := differences(self.versions, these_versions()):
            told = "; ".join(unlike).replace(" there", " wanted").replace(" here", " on the worker")
            raise WorkerError(
                f"a worker runs other versions than this machine ({told}); install the same on "
                "all, start the workers again, and run the same command"
            )


def sample_of(kit: Kit, roller: Roller) -> Sample:
    """Roll 0 of a kit, on this machine."""
    return Sample(row_of(roller.roll(kit.seed, 0)), this_platform(), these_versions())


def unpacked(kit: Kit) -> Any:
    """The kit itself: as a task, it is held by the cluster and made again where it was lost."""
    return kit


BITS = "bits"
_CPU_INFO = Path("/proc/cpuinfo")
_LIBRARIES = ("pybullet", "numpy", "scipy", "trimesh")
_POINTS = 5_000  # two processors' sines differ in one of some thousand


def this_platform() -> dict[str, str]:
    """What could change the bits of a roll, besides the libraries."""
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "libc": " ".join(platform.libc_ver()).strip(),
        "processor": _processor(),
        BITS: _bits(),
    }


def these_versions() -> dict[str, str]:
    """Versions of physim and of the libraries that could change a roll."""
    return {"physim": __version__, **precomputed.versions(_LIBRARIES)}


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
    functions = (math.sin, math.cos, math.tan, math.atan, math.exp)
    numbers = [function(x) for function in functions for x in wide]
    numbers += [function(x) for function in (math.asin, math.acos) for x in spread]
    numbers += [function(x) for function in (math.log, math.log2) for x in spread]
    numbers += [math.atan2(y, x) for y, x in zip(wide, spread, strict=True)]
    numbers += [math.hypot(y, x) for y, x in zip(wide, spread, strict=True)]
    numbers += [x**y for y, x in zip(wide, spread, strict=True)]
    angles = np.array(wide)
    rows = angles[: 3 * (_POINTS // 3)].reshape(-1, 3)
    arrays = (np.array(numbers), np.sin(angles), np.cos(angles), (rows**2).sum(axis=1))
    return hashlib.sha256(np.concatenate(arrays).tobytes()).hexdigest()[:16]


def _processor() -> str:
    """The model of the processor: libraries choose their code by it."""
    try:
        for line in _CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, model = line.partition(":")
            if key.strip() == "model name":
                return model.strip()
    except OSError:  # no Linux
        pass
    return platform.processor()

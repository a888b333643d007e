"""What could change the bits of a roll: the machine, and the versions that run on it."""

from __future__ import annotations

import hashlib
import math
import platform
from functools import cache
from pathlib import Path

import numpy as np

from physim import __version__, kept

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
    return {"physim": __version__, **kept.versions(_LIBRARIES)}


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

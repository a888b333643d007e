"""What could change the bits of a roll: the machine, and the versions that run on it."""

from __future__ import annotations

import platform
from pathlib import Path

from physim import __version__, kept

_CPU_INFO = Path("/proc/cpuinfo")
_LIBRARIES = ("pybullet", "numpy", "scipy", "trimesh")


def this_platform() -> dict[str, str]:
    """What could change the bits of a roll, besides the libraries."""
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "libc": " ".join(platform.libc_ver()).strip(),
        "processor": _processor(),
    }


def these_versions() -> dict[str, str]:
    """Versions of physim and of the libraries that could change a roll."""
    return {"physim": __version__, **kept.versions(_LIBRARIES)}


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

"""Optional libraries: which task needs which, and how to get one that is missing."""

from __future__ import annotations

import shlex
import sys
from importlib import import_module
from typing import Any

from physim.errors import ConfigError

EXTRAS = {
    "calibrate": ("cmaes", "emcee", "matplotlib"),
    "dask": ("distributed",),
    "fast": ("numba",),
    "film": ("imageio-ffmpeg",),
    "mesh": ("coacd", "manifold3d"),
    "mujoco": ("mujoco",),
    "pdf": ("fpdf2",),
    "plot": ("matplotlib",),
}
"""Libraries of each extra, as in `pyproject.toml`; a test compares them."""


def how_to_install(extra: str) -> str:
    """The command that installs the libraries of an extra beside this physim.

    It names the libraries and this Python: that works from a checkout and from a wheel, whether or
    not the environment is active. The project itself is on no index, so `NAME[extra]` would fail.
    """
    python = shlex.quote(sys.executable or "python")
    return f"{python} -m pip install {' '.join(EXTRAS[extra])}"


def optional(module: str, extra: str, task: str, otherwise: str = "") -> Any:
    """Imports a module of an extra.

    Args:
        module: its name.
        extra: that brings it.
        task: what needs it, as the beginning of the message.
        otherwise: what to do without it, as the end of the message.

    Raises:
        ConfigError: it is not installed, or cannot be loaded.
    """
    try:
        return import_module(module)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == module
        state = "is not installed" if missing else f"cannot be loaded ({error})"
        raise ConfigError(
            f"{task} needs `{module}`, which {state}; get it with: {how_to_install(extra)}"
            f"{otherwise}"
        ) from error

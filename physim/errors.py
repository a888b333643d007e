"""Exceptions for what a user can put right, and words for their messages.

The command line turns every `PhysimError` into one message on stderr and exit code 2. What physics
did (unsettled, off the table, ambiguous) is data, not an error.
"""

from __future__ import annotations

import difflib
import reprlib
import shlex
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


class PhysimError(Exception):
    """Base class: says what is wrong, where, and what to do about it."""


class ConfigError(PhysimError):
    """A YAML file, a flag or an argument with an unusable value."""


class ModelError(PhysimError):
    """A pig model that cannot be loaded or built."""


class DatasetError(PhysimError):
    """A dataset folder that is missing, damaged, or of another configuration."""


class DisplayError(PhysimError):
    """No display where one is needed."""


class PhysicsError(PhysimError):
    """The engine produced states that are not numbers."""


class WorkerError(PhysimError):
    """Worker processes that died."""


class GameError(PhysimError):
    """A move that the rules do not allow now, or a saved game that cannot be used."""


def shown(value: object) -> str:
    """The value as a message repeats it: never long, never failing."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # Python writes no integer of thousands of digits
        return f"a {type(value).__name__} too long to show"


def shown_name(name: object) -> str:
    """A name without quotes, cut where it gets long."""
    text = str(name)
    return text if len(text) <= _SHORT.maxstring else f"{text[:40]} ... ({len(text)} characters)"


def hint(name: object, valid: Iterable[str]) -> str:
    """`; did you mean ...?` with the most alike of the valid names; empty where none is alike."""
    near = difflib.get_close_matches(str(name)[:200].lower(), list(valid), n=1)
    return f"; did you mean `{near[0]}`?" if near else ""


EXTRAS = {
    "calibrate": ("cmaes", "emcee", "matplotlib"),
    "dask": ("distributed",),
    "film": ("imageio-ffmpeg",),
    "mesh": ("coacd", "manifold3d"),
    "mujoco": ("mujoco",),
    "pdf": ("fpdf2", "matplotlib"),
    "plot": ("matplotlib",),
    "pybullet": ("pybullet",),
}
"""Libraries of each extra, as in `pyproject.toml`; a test compares them."""


def how_to_install(extra: str) -> str:
    """The command that installs the libraries of an extra beside this physim.

    The project itself is on no index, so `NAME[extra]` would fail.
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

"""Safe YAML with messages that name the file, the key and the nearest valid key."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from physim.errors import ConfigError

MAX_BYTES = 1_000_000  # no settings file of ours comes near; refuses a wrong file early


def load(path: Path) -> dict[str, Any]:
    """Reads one YAML mapping.

    Raises:
        ConfigError: missing, unreadable, too large, broken, or not a mapping.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{path}: larger than {MAX_BYTES} bytes; is it a YAML file?")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not a UTF-8 text file; is it a YAML file?") from error
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        where = ""
        mark = getattr(error, "problem_mark", None)
        if mark is not None:
            where = f" at line {mark.line + 1}, column {mark.column + 1}"
        problem = getattr(error, "problem", None) or "not valid YAML"
        raise ConfigError(f"{path}: broken YAML{where}: {problem}") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected `key: value` lines, found {type(data).__name__}")
    return data


def check_keys(
    data: Mapping[str, Any], known: Iterable[str], where: str, required: Iterable[str] = ()
) -> None:
    """Refuses unknown and missing keys, naming the nearest valid one.

    Raises:
        ConfigError: at the first unknown or missing key.
    """
    known = list(known)
    for key in data:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.0)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise ConfigError(f"{where}: unknown key `{key}`{hint} (valid: {', '.join(known)})")
    for key in required:
        if key not in data:
            raise ConfigError(f"{where}: the key `{key}` is missing")


def number(
    data: Mapping[str, Any],
    key: str,
    where: str,
    low: float = -math.inf,
    high: float = math.inf,
) -> float:
    """The finite number at `key`, inside [low, high].

    Raises:
        ConfigError: missing, not a number, not finite, or out of range.
    """
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ConfigError(f"{where}: `{key}` must be a finite number, found {value!r}")
    if not low <= value <= high:
        raise ConfigError(f"{where}: `{key}` must lie in [{low:g}, {high:g}], found {value:g}")
    return float(value)

"""Safe YAML with messages that name the file, the key and the nearest valid key."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from physim import arguments
from physim.arguments import hint, shown_name
from physim.errors import ConfigError
from physim.files import read_plain

MAX_BYTES = 1_000_000  # no settings file of ours comes near; refuses a wrong file early


class _Loader(yaml.SafeLoader):
    """Safe YAML that refuses a key written twice, of which YAML would keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and (key.tag, key.value) in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key `{shown_name(key.value)}` is there twice", key.start_mark
                )
            seen.add((key.tag, key.value) if isinstance(key, yaml.ScalarNode) else id(key))
        return super().construct_mapping(node, deep)


def load(path: Path) -> dict[str, Any]:
    """Reads one YAML mapping.

    Raises:
        ConfigError: missing, unreadable, too large, broken, or not a mapping.
    """
    try:
        text = read_plain(path, ConfigError, "name a YAML file", MAX_BYTES).decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not a UTF-8 text file; is it a YAML file?") from error
    try:
        data = yaml.load(text, _Loader)
    except Exception as error:  # PyYAML lets some of its own slips through, such as IndexError
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
            raise ConfigError(
                f"{where}: unknown key `{shown_name(key)}`{hint(key, known)} "
                f"(valid: {', '.join(known)})"
            )
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
    value = arguments.number(f"{where}: `{key}`", data.get(key))
    if not low <= value <= high:
        raise ConfigError(f"{where}: `{key}` must lie in [{low:g}, {high:g}], found {value:g}")
    return value

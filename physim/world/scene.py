"""The table and its named surfaces, from `surfaces.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from physim.arguments import hint, shown_name
from physim.errors import ConfigError
from physim.values import Surface, Table
from physim.yamlfile import check_keys, load, number

SURFACES_YAML = Path(__file__).with_name("surfaces.yaml")
_SIZE = ("length_mm", "width_mm")
_FACTORS = ("lateral_friction", "restitution", "rolling_friction", "spinning_friction")


def surface_names() -> list[str]:
    """The named surfaces."""
    return list(load(SURFACES_YAML)["surfaces"])


def table(surface: str | None = None) -> Table:
    """The table, with a named surface or the default one.

    Raises:
        ConfigError: unknown surface.
    """
    data = load(SURFACES_YAML)
    surfaces = data["surfaces"]
    name = surface or data["default"]
    if name not in surfaces:
        raise ConfigError(
            f"unknown surface `{shown_name(name)}`{hint(name, surfaces)} "
            f"(valid: {', '.join(surfaces)})"
        )
    size = {**data["table"], **{key: v for key, v in surfaces[name].items() if key in _SIZE}}
    return Table(
        _surface(name, surfaces[name]),
        number(size, "length_mm", SURFACES_YAML.name, 1, 1e5) * 1e-3,
        number(size, "width_mm", SURFACES_YAML.name, 1, 1e5) * 1e-3,
    )


def _surface(name: str, data: Mapping[str, Any]) -> Surface:
    where = f"{SURFACES_YAML.name}: {name}"
    check_keys(data, (*_FACTORS, *_SIZE), where, required=_FACTORS[:2])
    values = {key: number(data, key, where, 0.0, 10.0) for key in data if key not in _SIZE}
    if values["restitution"] > 1.0:
        raise ConfigError(f"{where}: `restitution` must lie in [0, 1]")
    return Surface(name, **values)

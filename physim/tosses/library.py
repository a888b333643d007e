"""Toss models by name, from `tosses.yaml`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from physim import config
from physim.config import check_keys, load, number_at
from physim.errors import ConfigError, hint, shown, shown_name
from physim.tosses.release import Drop, Hand, TossModel, Trapdoor

TOSSES_YAML = Path(__file__).with_name("tosses.yaml")
_KINDS: dict[str, type[Trapdoor] | type[Hand] | type[Drop]] = {
    "trapdoor": Trapdoor,
    "hand": Hand,
    "drop": Drop,
}
# How a field's SI unit is written in the YAML, and the factor to SI.
_YAML_UNITS = (("_rad", "_deg", math.pi / 180.0), ("_m", "_mm", 1e-3))
_FACING = ("forward", "backward")
MAX_HEIGHT_M = 3.0  # a throw from higher than a room is a slip of units
MIN_HEIGHT_M = 0.001


def toss_names() -> list[str]:
    """The names that `toss` knows."""
    return list(load(TOSSES_YAML))


def toss(name: str, height_mm: float | None = None) -> TossModel:
    """The toss model of that name or file, optionally from one fixed height [mm].

    Args:
        name: an entry of `tosses.yaml`, or the path of a YAML file with one entry like those.
        height_mm: None for the toss's own.

    Raises:
        ConfigError: unknown name, an unusable file, or a height that is not a number in range.
    """
    known = load(TOSSES_YAML)
    name = config.text("toss", name)
    if name in known:
        model = _entry(known, name)
    elif name.endswith((".yaml", ".yml")):
        entries = load(Path(name))
        if len(entries) != 1 or not isinstance(next(iter(entries.values())), dict):
            raise ConfigError(
                f"{name}: must hold one toss, as tosses.yaml does: `name:` and its keys"
            )
        ((entry, data),) = entries.items()
        model = from_mapping(data, f"{name}: {entry}")
    else:
        raise ConfigError(
            f"unknown toss `{shown_name(name)}`{hint(name, known)} (valid: {', '.join(known)}, or "
            "the path of a YAML file)"
        )
    return model if height_mm is None else model.at_height(_height_m(height_mm))


def _entry(known: Mapping[str, Any], name: str) -> TossModel:
    """A toss of the file, or another one of it for pigs so many times as long."""
    data, where = known[name], f"{TOSSES_YAML.name}: {name}"
    if "scaled" not in data:
        return from_mapping(data, where)
    check_keys(data, ("scaled", "by"), where, required=("scaled", "by"))
    factor = number_at(data, "by", where, 0.01, 100.0)
    base = known.get(data["scaled"])
    if base is None or "scaled" in base:
        raise ConfigError(f"{where}: `scaled` must name a toss that is given by numbers")
    model = _scaled(from_mapping(base, f"{TOSSES_YAML.name}: {data['scaled']}"), factor)
    for height_m in getattr(model, "heights_m", None) or (getattr(model, "height_m", 1.0),):
        _height_m(1e3 * height_m)
    return model


def _scaled(model: TossModel, factor: float) -> TossModel:
    """The same toss for pigs that are `factor` times as long, under the same gravity.

    Lengths grow by the factor, times and speeds by its square root (Froude's law), so that rigid
    pigs of the larger size move alike, only slower.
    """
    root = math.sqrt(factor)
    by_unit = {"_m_s": root, "_rad_s": 1.0 / root, "_m": factor}
    values = dict(vars(model))
    for name, value in values.items():
        for unit, by in by_unit.items():
            if name.endswith(unit):
                several = isinstance(value, tuple)
                values[name] = tuple(by * one for one in value) if several else by * value
    scaled: TossModel = type(model)(**values)
    return scaled


def _height_m(height_mm: float) -> float:
    """A height in metres, refused outside [1 mm, 3 m]."""
    height_m = config.real("the height", height_mm) * 1e-3
    if not MIN_HEIGHT_M <= height_m <= MAX_HEIGHT_M:
        raise ConfigError(
            f"the height must lie between {MIN_HEIGHT_M * 1e3:g} and {MAX_HEIGHT_M * 1e3:g} mm, "
            f"found {height_mm:g}"
        )
    return height_m


def from_mapping(data: Mapping[str, Any], where: str) -> TossModel:
    """A toss model from the keys of `tosses.yaml`.

    Args:
        data: the mapping, with `kind` and every parameter of that kind.
        where: what messages call the place it came from.

    Raises:
        ConfigError: an unknown or missing key, or a value out of range.
    """
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ConfigError(
            f"{where}: `kind` must be one of {', '.join(_KINDS)}, found {shown(kind)}"
        )
    model = _KINDS[kind]
    names = [field.name for field in fields(model)]
    keys = ["kind", *(_yaml_key(name)[0] for name in names)]
    check_keys(data, keys, where, required=keys)
    values: dict[str, Any] = {name: _value(data, name, where) for name in names}
    return model(**values)


def _value(data: Mapping[str, Any], name: str, where: str) -> Any:
    """The value of one field, in SI units."""
    key, factor = _yaml_key(name)
    value = data[key]
    if name == "facing":
        if not isinstance(value, list) or not value or any(way not in _FACING for way in value):
            raise ConfigError(
                f"{where}: `facing` must list some of {', '.join(_FACING)}, found {shown(value)}"
            )
        return tuple(value)
    if name == "heights_m":
        if not isinstance(value, list) or not value:
            raise ConfigError(f"{where}: `{key}` must be a list of numbers, found {shown(value)}")
        return tuple(_height_m(number_at({key: height}, key, where)) for height in value)
    if name == "height_m":
        return _height_m(number_at(data, key, where))
    low = 0.0 if "spread" in name or name in ("separation_m", "clearance_m") else -math.inf
    return number_at(data, key, where, low=low) * factor


def yaml_values(model: TossModel) -> dict[str, Any]:
    """A toss model as the keys of `tosses.yaml`; `from_mapping` gives it back but for rounding."""
    kind = next(name for name, known in _KINDS.items() if type(model) is known)
    values: dict[str, Any] = {"kind": kind}
    for name, value in vars(model).items():
        key, factor = _yaml_key(name)
        if name == "facing":
            values[key] = list(value)
        elif isinstance(value, tuple):
            values[key] = [_written(item / factor) for item in value]
        else:
            values[key] = _written(value / factor)
    return values


def _written(value: float) -> float:
    """Without the last digits, which a change of unit leaves: 127, not 127.00000000000001."""
    return float(f"{value:.12g}")


def _yaml_key(name: str) -> tuple[str, float]:
    for si, written, factor in _YAML_UNITS:
        if name.endswith(si):
            return name[: -len(si)] + written, factor
    return name, 1.0

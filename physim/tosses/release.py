"""How two pigs leave the rig or the hand: one class a toss model, SI units.

Each is a frozen set of parameters with one method, `release`, that turns a roll's random numbers
into the two states at release. It asks for them in a fixed order. That every roll draws the same
`DRAWS` numbers, whatever the toss, keeps streams comparable when a model gains a parameter.

Toss models by name, from `tosses.yaml`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from physim import config
from physim.config import check_keys, load, number_at
from physim.errors import ConfigError, hint, shown, shown_name
from physim.geometry import from_axis_angle, from_uniform, heights, multiply
from physim.types import FloatArray, PigModel, RigidState, Toss

_, Y_AXIS, Z_AXIS = np.eye(3)


class TossModel(Protocol):
    """What every toss model can do."""

    def release(self, draws: Draws, index: int, pigs: tuple[PigModel, PigModel]) -> Toss:
        """The two pigs' states at release, from at most `draws.DRAWS` numbers."""
        ...

    def at_height(self, height_m: float) -> TossModel:
        """The same toss from one fixed height above the table [m]."""
        ...


def lowest_m(pig: PigModel, quat_xyzw: FloatArray) -> float:
    """Height of the centre of mass above the pig's lowest point when so turned [m]."""
    return -float(heights(quat_xyzw, pig.columns_m).min())


@dataclass(frozen=True)
class Trapdoor:
    """Two pigs standing on a door that swings down; see `tosses.yaml`."""

    heights_m: tuple[float, ...]
    separation_m: float
    separation_spread_m: float
    facing: tuple[str, ...]
    yaw_spread_rad: float
    door_angle_rad: float
    door_angle_spread_rad: float
    pitch_rate_rad_s: float
    pitch_rate_spread_rad_s: float
    spin_spread_rad_s: float
    slide_m_s: float
    slide_spread_m_s: float
    drift_spread_m_s: float

    def at_height(self, height_m: float) -> Trapdoor:
        return replace(self, heights_m=(height_m,))

    def release(self, draws: Draws, index: int, pigs: tuple[PigModel, PigModel]) -> Toss:
        height_m = self.heights_m[index % len(self.heights_m)]
        # The separation is kept positive and the same for both pigs.
        separation_m = max(
            draws.normal(self.separation_m, self.separation_spread_m), 0.5 * self.separation_m
        )
        # One door for both pigs.
        tilt_rad = draws.normal(self.door_angle_rad, self.door_angle_spread_rad)
        pitch_rate_rad_s = draws.normal(self.pitch_rate_rad_s, self.pitch_rate_spread_rad_s)
        door = (height_m, tilt_rad, pitch_rate_rad_s)
        states = [
            self._one(draws, pig, door, 0.5 * separation_m * side)
            for pig, side in zip(pigs, (1.0, -1.0), strict=True)
        ]
        return Toss(*states)

    def _one(
        self, draws: Draws, pig: PigModel, door: tuple[float, float, float], y_m: float
    ) -> RigidState:
        height_m, tilt_rad, pitch_rate = door
        facing = self.facing[int(draws.uniform() * len(self.facing))]
        yaw_rad = draws.normal(0.0, self.yaw_spread_rad) + (math.pi if facing == "backward" else 0)
        # The hinge runs along y; turning about +y lets the door's +x edge drop.
        quat = multiply(from_axis_angle(Y_AXIS, tilt_rad), from_axis_angle(Z_AXIS, yaw_rad))
        spin = draws.normals(3, self.spin_spread_rad_s) + pitch_rate * Y_AXIS
        slide = draws.normal(self.slide_m_s, self.slide_spread_m_s)
        drift = draws.normal(0.0, self.drift_spread_m_s)
        velocity = np.array([slide * math.cos(tilt_rad), drift, -slide * math.sin(tilt_rad)])
        position = np.array([0.0, y_m, height_m + lowest_m(pig, quat)])
        return RigidState(position, quat, velocity, spin)


@dataclass(frozen=True)
class Hand:
    """Two pigs thrown together from one hand; see `tosses.yaml`."""

    height_m: float
    height_spread_m: float
    start_x_m: float
    speed_m_s: float
    speed_spread_m_s: float
    rise_m_s: float
    rise_spread_m_s: float
    apart_spread_m_s: float
    spin_spread_rad_s: float
    clearance_m: float

    def at_height(self, height_m: float) -> Hand:
        return replace(self, height_m=height_m, height_spread_m=0.0)

    def release(self, draws: Draws, index: int, pigs: tuple[PigModel, PigModel]) -> Toss:
        del index
        quats = [from_uniform(draws.uniforms(3)) for _ in pigs]
        radii = [pig.radius_m for pig in pigs]
        height_m = draws.normal(self.height_m, self.height_spread_m)
        # The hand is never so low that a pig starts inside the table.
        height_m = max(height_m, 0.5 * self.height_m) + max(radii)
        angle_rad = 2.0 * math.pi * draws.uniform()
        across = np.array([math.cos(angle_rad), math.sin(angle_rad), 0.0])
        half = 0.5 * (sum(radii) + self.clearance_m)
        forward_m_s = draws.normal(self.speed_m_s, self.speed_spread_m_s)
        upward_m_s = draws.normal(self.rise_m_s, self.rise_spread_m_s)
        common = np.array([forward_m_s, 0.0, upward_m_s])
        middle = np.array([self.start_x_m, 0.0, height_m])
        states = [
            RigidState(
                middle + sign * half * across,
                quat,
                common + draws.normals(3, self.apart_spread_m_s),
                draws.normals(3, self.spin_spread_rad_s),
            )
            for sign, quat in zip((1.0, -1.0), quats, strict=True)
        ]
        return Toss(*states)


@dataclass(frozen=True)
class Drop:
    """Uniformly random orientation, at rest in the air; see `tosses.yaml`."""

    height_m: float
    separation_m: float

    def at_height(self, height_m: float) -> Drop:
        return replace(self, height_m=height_m)

    def release(self, draws: Draws, index: int, pigs: tuple[PigModel, PigModel]) -> Toss:
        del index
        states = []
        for pig, side in zip(pigs, (1.0, -1.0), strict=True):
            quat = from_uniform(draws.uniforms(3))
            z_m = self.height_m + lowest_m(pig, quat)
            position = np.array([0.0, 0.5 * side * self.separation_m, z_m])
            states.append(RigidState(position, quat, np.zeros(3), np.zeros(3)))
        return Toss(*states)


DRAWS = 48


class Draws:
    """Hands out the roll's `DRAWS` uniform numbers one after the other."""

    def __init__(self, rng: np.random.Generator) -> None:
        """Draws all numbers at once from `rng`."""
        self._numbers: list[float] = rng.random(DRAWS).tolist()
        self._next = 0

    def uniform(self) -> float:
        """A number in [0, 1)."""
        number = self._numbers[self._next]
        self._next += 1
        return number

    def normal(self, mean: float = 0.0, spread: float = 1.0) -> float:
        """A normal number; uses two uniform ones (Box and Muller 1958)."""
        radius = math.sqrt(-2.0 * math.log(1.0 - self.uniform()))
        return mean + spread * radius * math.cos(2.0 * math.pi * self.uniform())

    def normals(self, count: int, spread: float) -> FloatArray:
        """(count,) centred normal numbers."""
        return np.array([self.normal(0.0, spread) for _ in range(count)])

    def uniforms(self, count: int) -> FloatArray:
        """(count,) numbers in [0, 1)."""
        return np.array([self.uniform() for _ in range(count)])


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

"""How two pigs leave the rig or the hand: one class a toss model, SI units.

Each is a frozen set of parameters with one method, `release`, that turns a roll's random numbers
into the two states at release. It asks for them in a fixed order. That every roll draws the same
`DRAWS` numbers, whatever the toss, keeps streams comparable when a model gains a parameter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from physim.quaternions import from_axis_angle, from_uniform, heights, multiply
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

"""What several tests of the world share: bits of a value, and a roll that goes on."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from physim.physics.body import Body
from physim.physics.simulate import World
from physim.physics.state import States
from physim.types import Rest, RigidState

G = 9.81
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


def bits(value: object) -> object:
    """Every number of a value, each float bit for bit."""
    if isinstance(value, Enum) or value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, np.ndarray):
        return [float(number).hex() for number in value]
    if is_dataclass(value):
        return [bits(getattr(value, field.name)) for field in fields(value)]
    assert isinstance(value, tuple), type(value)
    return [bits(part) for part in value]


def ended_together(world: World, rest: Rest) -> bool:
    """Whether the pigs of the last roll were in one engine when it ended."""
    alone = [body.leave(s.state()) for body, s in zip(world.bodies, world.solos, strict=True)]
    return bits(tuple(alone)) != bits(rest.pigs)


def go_on(world: World, rest: Rest, time_s: float) -> States:
    """Both pigs (pig frame) so long after the last roll's end, in the engines that had them."""
    ticks = world.settings.steps_a_call
    looks = round(time_s / world.settings.call_s)
    if ended_together(world, rest):
        for _ in range(looks):
            world.pair.advance(ticks)
        states = world.pair.states()
    else:
        for solo in world.solos:
            for _ in range(looks):
                solo.advance(ticks)
        states = (world.solos[0].state(), world.solos[1].state())
    first, second = (body.leave(state) for body, state in zip(world.bodies, states, strict=True))
    return first, second


def energy_m(body: Body, state: RigidState, engine_step_s: float = 0.0) -> float:
    """Potential and kinetic energy over m g [m].

    An engine that changes speed before place moves bodies on parabolas whose speed is half a
    step's fall below its own; with the step given, the energy is that of the parabola.
    """
    spin = Rotation.from_quat(state.quat_xyzw).inv().apply(state.angular_velocity_rad_s)
    velocity = state.velocity_m_s - np.array([0.0, 0.0, 0.5 * G * engine_step_s])
    turning = float(spin**2 @ body.moments_kg_m2) / body.model.mass_kg
    return float(state.position_m[2]) + 0.5 * (float(velocity @ velocity) + turning) / G


def lowest_m(body: Body, state: RigidState) -> float:
    """Height of the lowest corner above the table [m]."""
    corners = Rotation.from_quat(state.quat_xyzw).apply(body.hull_m)
    return float(corners[:, 2].min() + state.position_m[2])


def angle_rad(quat: NDArray[np.float64], rotation: NDArray[np.float64]) -> float:
    """Angle between an attitude and a rotation matrix, accurate near 0."""
    return float(np.linalg.norm(Rotation.from_quat(quat).as_matrix() - rotation) / np.sqrt(2))

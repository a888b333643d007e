"""What several tests of the world share: bits of a value, and a roll that goes on."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from physim.physics.body import Body
from physim.physics.fast.flight import Flight
from physim.physics.fast.world import World
from physim.physics.state import PlainState
from physim.types import Rest, RigidState

G = 9.81
States = tuple[RigidState, RigidState]
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
    alone = [pig.body.to_body_frame(pig.motion.plain().state()) for pig in world.pigs]
    return bits(tuple(alone)) != bits(rest.pigs)


def go_on(world: World, rest: Rest, time_s: float) -> States:
    """Both pigs (pig frame) so long after the last roll's end, in the engines that had them."""
    steps = world.settings.steps_per_check
    checks = round(time_s / world.settings.check_interval_s)
    if ended_together(world, rest):
        for _ in range(checks):
            world.pair.advance(steps)
        motions = world.pair.sample()
    else:
        for pig in world.pigs:
            for _ in range(checks):
                pig.advance(steps)
        motions = world.pigs[0].motion, world.pigs[1].motion
    first, second = (motion.body.to_body_frame(motion.plain().state()) for motion in motions)
    return first, second


def landing(body: Body, start: RigidState) -> tuple[float, RigidState]:
    """Time and state just before the first touch of the table; at time 0 where it touches."""
    flight = Flight(body, PlainState.of(start))
    return flight.landing_s, flight.plain(flight.landing_s).state()


def free_flight(body: Body, start: RigidState, time_s: float) -> RigidState:
    """The state after `time_s` of free flight, principal frame."""
    return Flight(body, PlainState.of(start)).plain(time_s).state()


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

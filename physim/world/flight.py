"""Flight without contact: computed, not stepped.

The centre of mass follows a parabola exactly. The rotation of a torque-free rigid
body keeps its angular momentum L; the attitude obeys q' = q (0, w) / 2 with
w = I^-1 R(q)^T L in the principal frame, integrated with the classical
fourth-order Runge-Kutta method at turns of at most `MAX_TURN_RAD` a step (off
by less than 5e-6 rad after 0.3 s at 60 rad/s; see the tests).

`first_contact` walks forward by steps that cannot reach contact (conservative
advancement: Mirtich 1996), so the first impact starts at its own moment and not
somewhere inside a time step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from physim.rotations import conjugate, normalized, rotate
from physim.values import GRAVITY_M_S2, FloatArray, RigidState
from physim.world.body import Body

MAX_TURN_RAD = 0.05
# Contact is reached when the gap is below this: far below the engine's own
# collision margin (1e-5 m), so that the engine sees the contact in its first step.
CONTACT_GAP_M = 1e-6
Quat = tuple[float, ...]
Triple = tuple[float, float, float]
MAX_FLIGHT_S = 10.0  # a fall of 490 m: nothing flies longer


@dataclass(frozen=True)
class Flight:
    """One body in free flight from `start` (principal frame) at time 0."""

    body: Body
    start: RigidState
    momentum: Triple = field(init=False)
    """Angular momentum about the centre of mass, world frame [kg m2/s]."""
    fastest_rad_s: float = field(init=False)
    """A bound on the angular speed at any time, from |L| and from the energy of rotation."""

    def __post_init__(self) -> None:
        q, moments = self.start.quat_xyzw, self.body.moments_kg_m2
        spin = rotate(conjugate(q), self.start.angular_velocity_rad_s)
        x, y, z = rotate(q, moments * spin).tolist()
        object.__setattr__(self, "momentum", (x, y, z))
        least = float(moments.min())
        by_momentum = math.sqrt(x * x + y * y + z * z) / least
        by_energy = math.sqrt(float((moments * spin * spin).sum()) / least)
        fastest = min(by_momentum, by_energy)
        object.__setattr__(self, "fastest_rad_s", fastest)

    def position_m(self, time_s: float) -> FloatArray:
        """(3,) centre of mass at `time_s`."""
        fallen = np.array([0.0, 0.0, 0.5 * GRAVITY_M_S2 * time_s**2])
        moved: FloatArray = self.start.position_m + time_s * self.start.velocity_m_s - fallen
        return moved

    def turned(self, quat: FloatArray, duration_s: float) -> FloatArray:
        """The attitude `duration_s` after the attitude `quat`."""
        fastest = self.fastest_rad_s
        steps = max(1, math.ceil(fastest * abs(duration_s) / MAX_TURN_RAD))
        momentum = self.momentum
        moments = tuple(float(m) for m in self.body.moments_kg_m2)
        q = tuple(float(c) for c in quat)
        for _ in range(steps):
            q = _runge_kutta(q, duration_s / steps, momentum, moments)
        return normalized(np.array(q))

    def state(self, time_s: float, quat: FloatArray) -> RigidState:
        """The full state at `time_s`, where the attitude is `quat`."""
        q = tuple(float(c) for c in quat)
        moments = tuple(float(m) for m in self.body.moments_kg_m2)
        spin = np.array(_spin(q, self.momentum, moments))
        fall = np.array([0.0, 0.0, GRAVITY_M_S2 * time_s])
        return RigidState(
            self.position_m(time_s), quat, self.start.velocity_m_s - fall, rotate(quat, spin)
        )


def free_flight(body: Body, start: RigidState, time_s: float) -> RigidState:
    """The state after `time_s` of free flight, principal frame."""
    flight = Flight(body, start)
    return flight.state(time_s, flight.turned(start.quat_xyzw, time_s))


def first_contact(
    bodies: tuple[Body, Body], starts: tuple[RigidState, RigidState]
) -> tuple[float, tuple[RigidState, RigidState]]:
    """Flies both pigs to just before the first possible contact.

    The table is taken as endless here: past its edge the engine takes over early,
    which costs time but changes nothing.

    Returns:
        The time [s] and both states (principal frame). Time 0 where the pigs are
        already so close that no gap between them can be shown.
    """
    flights = (Flight(bodies[0], starts[0]), Flight(bodies[1], starts[1]))
    quats = (starts[0].quat_xyzw, starts[1].quat_xyzw)
    time_s = 0.0
    while time_s < MAX_FLIGHT_S:
        wait = min(
            _table_wait(flights[0], time_s, quats[0]),
            _table_wait(flights[1], time_s, quats[1]),
            _meeting_wait(flights, time_s, quats),
        )
        if wait <= 0.0:
            break
        quats = (flights[0].turned(quats[0], wait), flights[1].turned(quats[1], wait))
        time_s += wait
    return time_s, (flights[0].state(time_s, quats[0]), flights[1].state(time_s, quats[1]))


def in_step(
    bodies: tuple[Body, Body], states: tuple[RigidState, RigidState], step_s: float
) -> tuple[RigidState, RigidState]:
    """Makes a pig that still flies land at the end of a whole number of engine steps.

    The first contact of a roll begins at its moment; the other pig would hit the table
    somewhere inside a step and sink in by up to a step's way. It is therefore flown
    ahead by the odd part of a step. So the clocks of the two pigs differ by less than
    one step, which vanishes with the step like every other error of the engine and
    does not matter to pigs that are apart; pigs about to meet are left alone.

    The engine changes speed first and then place (semi-implicit Euler); half a step's
    fall taken off the speed makes its parabola go through the exact places.
    """
    flights = (Flight(bodies[0], states[0]), Flight(bodies[1], states[1]))
    if _meeting_wait(flights, 0.0, (states[0].quat_xyzw, states[1].quat_xyzw)) <= step_s:
        return states
    first, second = (_in_step(flight, step_s) for flight in flights)
    return first, second


def _in_step(flight: Flight, step_s: float) -> RigidState:
    quat, landing_s = flight.start.quat_xyzw, 0.0
    while landing_s < MAX_FLIGHT_S:
        wait = _table_wait(flight, landing_s, quat)
        if wait <= 0.0:
            break
        quat = flight.turned(quat, wait)
        landing_s += wait
    ahead_s = landing_s % step_s
    if landing_s < step_s:  # it lands at once
        return flight.start
    state = flight.state(ahead_s, flight.turned(flight.start.quat_xyzw, ahead_s))
    lifted = state.velocity_m_s + np.array([0.0, 0.0, 0.5 * GRAVITY_M_S2 * step_s])
    return replace(state, velocity_m_s=lifted)


def _table_wait(flight: Flight, time_s: float, quat: FloatArray) -> float:
    """A time for which the body surely stays above z = 0; 0 at contact."""
    height = float(flight.position_m(time_s)[2])
    sinking = GRAVITY_M_S2 * time_s - float(flight.start.velocity_m_s[2])
    spare = height - flight.body.radius_m
    if spare > 1e-3:  # far away, its sphere is bound enough
        return _time_to_fall(spare, sinking)
    gap = height + float(rotate(quat, flight.body.hull_m)[:, 2].min())
    if gap <= CONTACT_GAP_M:
        return 0.0
    # No vertex sinks faster than the centre does plus the fastest turn.
    return _time_to_fall(gap, sinking + flight.fastest_rad_s * flight.body.radius_m)


def _time_to_fall(distance: float, speed: float) -> float:
    """When `speed` t + g t^2 / 2 reaches `distance` > 0 [s]."""
    return (math.sqrt(speed * speed + 2.0 * GRAVITY_M_S2 * distance) - speed) / GRAVITY_M_S2


def _meeting_wait(
    flights: tuple[Flight, Flight], time_s: float, quats: tuple[FloatArray, FloatArray]
) -> float:
    """A time for which the two bodies surely stay apart; 0 where none can be shown."""
    first, second = flights
    between = second.position_m(time_s) - first.position_m(time_s)
    approach = second.start.velocity_m_s - first.start.velocity_m_s  # both fall alike
    distance = math.sqrt(float((between**2).sum()))
    speed = math.sqrt(float((approach**2).sum()))
    spare = distance - first.body.radius_m - second.body.radius_m
    if spare > 1e-3:
        return spare / speed if speed > 0 else math.inf
    if distance == 0.0:
        return 0.0
    # Along the line of centres the extents of both bound the gap from below.
    line = between / distance
    reach = (rotate(quats[0], first.body.hull_m) * line).sum(axis=1).max()
    reach_back = (rotate(quats[1], second.body.hull_m) * -line).sum(axis=1).max()
    gap = distance - float(reach) - float(reach_back)
    if gap <= CONTACT_GAP_M:
        return 0.0
    speed += sum(f.fastest_rad_s * f.body.radius_m for f in flights)
    return gap / speed if speed > 0 else math.inf


def _spin(q: Quat, momentum: tuple[float, ...], moments: tuple[float, ...]) -> Quat:
    """Angular velocity in the principal frame: I^-1 R(q)^T L."""
    x, y, z, w = q
    a, b, c = momentum
    # R^T L by the quaternion: L + 2 w (L x u) + 2 ((L x u) x u), u = (x, y, z).
    s, t, r = b * z - c * y, c * x - a * z, a * y - b * x
    return (
        (a + 2 * (w * s + t * z - r * y)) / moments[0],
        (b + 2 * (w * t + r * x - s * z)) / moments[1],
        (c + 2 * (w * r + s * y - t * x)) / moments[2],
    )


def _rate(q: Quat, momentum: tuple[float, ...], moments: tuple[float, ...]) -> Quat:
    """dq/dt = q (w, 0) / 2."""
    x, y, z, w = q
    a, b, c = _spin(q, momentum, moments)
    return (
        0.5 * (w * a + y * c - z * b),
        0.5 * (w * b + z * a - x * c),
        0.5 * (w * c + x * b - y * a),
        0.5 * (-x * a - y * b - z * c),
    )


def _runge_kutta(
    q: Quat, step: float, momentum: tuple[float, ...], moments: tuple[float, ...]
) -> Quat:
    """One classical fourth-order step, scaled back to unit length."""
    k1 = _rate(q, momentum, moments)
    k2 = _rate(_along(q, k1, 0.5 * step), momentum, moments)
    k3 = _rate(_along(q, k2, 0.5 * step), momentum, moments)
    k4 = _rate(_along(q, k3, step), momentum, moments)
    sixth = step / 6.0
    rates = zip(q, k1, k2, k3, k4, strict=True)
    new = [c + sixth * (d1 + 2 * (d2 + d3) + d4) for c, d1, d2, d3, d4 in rates]
    scale = 1.0 / math.sqrt(sum(c * c for c in new))
    return tuple(c * scale for c in new)


def _along(q: Quat, rate: Quat, step: float) -> Quat:
    return tuple(c + step * d for c, d in zip(q, rate, strict=True))

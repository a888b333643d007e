"""One pig's way through a roll while the other is out of reach: flight and contact in turn.

Time is counted in base steps, the longest time steps, since the release, and a pig is checked every
few of them. Between two checks it either flies, which is computed (`flight`), or is in contact with
the table, which an engine steps. It lands at the very moment of its first touch, from which the
engine takes whole steps: at a check, a pig in contact is therefore up to one base step later than
the check (`time_of`). This offset vanishes with the step like every error of the engine.

An engine changes speed first and place then (semi-implicit Euler): its bodies lie on parabolas
whose speed is half a step's fall below the engine's. A pig that takes off goes on along its
parabola.

All of this is compiled, on one record a pig (`PIG`). Where PyBullet makes the steps, `advance`
stops and says in the record what is wanted: the state to begin with, and how many steps.
"""

from __future__ import annotations

import math
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from physim.compiled import compiled
from physim.physics.fast import contact
from physim.physics.fast.flight import (
    LONGEST_STEP_S,
    MAX_TURN_RAD,
    landing_time_s,
    momentum_and_energy,
    rotated,
    rotated_on,
    spin_in_body,
)
from physim.physics.fast.pig_record import PigRecord, note, put, put_quat, quat_of, triple
from physim.physics.state import (
    GRAVITY,
    PlainState,
    body_to_world,
    squared_depths_m2,
    up_in_body,
    world_to_body,
)
from physim.types import Quat, Triple

MOST_HALVINGS = 5  # a bound on the cost of a throw beyond all reason


@compiled
def prepare_flight(pig: PigRecord, place: Triple, q: Quat, velocity: Triple, spin: Triple) -> float:
    """The constants of a flight from this state; how long it lasts."""
    p, c = pig.now, pig.fixed
    moments = triple(c.moments)
    momentum, energy, fastest = momentum_and_energy(q, spin, moments)
    p.fastest = fastest
    p.node_step_s = min(MAX_TURN_RAD / fastest if fastest > 0 else math.inf, LONGEST_STEP_S)
    p.node = 0
    u, v, w = velocity
    moving = u * u + v * v + w * w + energy / c.mass_kg
    p.flight_energy_m = place[2] + 0.5 * moving / GRAVITY
    put(p.start_place, place)
    put_quat(p.start_quat, q)
    put(p.start_velocity, velocity)
    put(p.start_spin, spin)
    put(p.momentum, momentum)
    put_quat(p.node_quat, q)
    step_s = p.node_step_s
    return landing_time_s(
        c.hull, c.radii, c.corners, c.lowest_m, q, momentum, moments, place[2], w, fastest, step_s
    )


@compiled
def flight_at(pig: PigRecord, time_s: float) -> tuple[Triple, Quat, Triple, Triple]:
    """The state of a flying pig so long after its flight began."""
    p, moments = pig.now, triple(pig.fixed.moments)
    momentum = triple(p.momentum)
    number = int(time_s / p.node_step_s) if time_s > 0.0 else 0
    if p.node > number:
        p.node = 0
        put_quat(p.node_quat, quat_of(p.start_quat))
    q = quat_of(p.node_quat)
    if p.node < number:
        q = rotated_on(q, momentum, moments, p.node_step_s, number - p.node)
        p.node = number
        put_quat(p.node_quat, q)
    rest_s = time_s - number * p.node_step_s
    if rest_s != 0.0:
        q = rotated(q, momentum, moments, rest_s)
    x, y, z = triple(p.start_place)
    u, v, w = triple(p.start_velocity)
    place = x + time_s * u, y + time_s * v, z + time_s * w - 0.5 * GRAVITY * time_s * time_s
    spin = body_to_world(q, spin_in_body(q, momentum, moments))
    return place, q, (u, v, w - GRAVITY * time_s), spin


@compiled
def fly_on(pig: PigRecord) -> None:
    """To this check, in the air; a pig that took off after it is held a moment before."""
    p, c = pig.now, pig.fixed
    time_s = p.base_steps * c.step_s - p.began_s
    x, y, z = triple(p.start_place)
    u, v, w = triple(p.start_velocity)
    put(
        p.centre,
        (x + time_s * u, y + time_s * v, z + time_s * w - 0.5 * GRAVITY * time_s * time_s),
    )
    w -= GRAVITY * time_s
    put(p.moving, (u, v, w))
    p.turned = False
    p.speed_m_s = sqrt(u * u + v * v + w * w)
    p.turning_m_s = c.radius_m * p.fastest
    p.energy_m = p.flight_energy_m + c.compression_m


@compiled
def turn(pig: PigRecord) -> None:
    """Finds the attitude at this check, which few ask for of a pig in the air."""
    p = pig.now
    if p.turned:
        return
    _, q, _, spin = flight_at(pig, p.base_steps * pig.fixed.step_s - p.began_s)
    put_quat(p.attitude, q)
    put(p.turning, spin)
    p.turned = True


@compiled
def land(pig: PigRecord) -> float:
    """From flight into contact; a bound on the speed of the pig's points [m/s]."""
    p, c = pig.now, pig.fixed
    place, q, velocity, spin = flight_at(pig, p.lasts_s)
    put(p.place, place)
    put_quat(p.quat, q)
    put(p.velocity, velocity)
    put(p.spin, spin)
    p.flying, p.placing = False, True
    p.at_s = p.lands_s
    note(p, p.at_s, -1.0, place, q, velocity, spin)
    u, v, w = velocity
    a, b, e = spin
    return float(sqrt(u * u + v * v + w * w) + c.radius_m * sqrt(a * a + b * b + e * e))


@compiled
def lowest_of(c: Any, up: Triple) -> float:
    """Height of the lowest corner from the centre of mass; up is seen from the pig."""
    x, y, z = up
    lowest = math.inf
    for k in range(c.corners):
        lowest = min(lowest, c.hull[0, k] * x + c.hull[1, k] * y + c.hull[2, k] * z)
    return lowest


@compiled
def check(pig: PigRecord, halvings: int) -> None:
    """Looks at the engine; a pig that is clear of the table takes off if it flies for long."""
    p, c = pig.now, pig.fixed
    place, q, spin = triple(p.place), quat_of(p.quat), triple(p.spin)
    velocity = triple(p.velocity)
    u, v, w = velocity
    squares = triple(c.squares)
    a, b, e = world_to_body(q, spin)
    rotation = squares[0] * a * a + squares[1] * b * b + squares[2] * e * e
    square = u * u + v * v + w * w
    clearance_m = place[2] + lowest_of(c, up_in_body(q))
    kinetic_m = 0.5 * (square + rotation) / GRAVITY
    speed_m_s, turning_m_s = sqrt(square), c.radius_m * sqrt(a * a + b * b + e * e)
    put(p.centre, place)
    put_quat(p.attitude, q)
    put(p.moving, velocity)
    put(p.turning, spin)
    p.turned = True
    p.clearance_m, p.speed_m_s, p.turning_m_s = clearance_m, speed_m_s, turning_m_s
    if c.half_stiffness > 0.0:  # a soft pig has what it sinks in as energy of its springs
        springs_m = c.half_stiffness * squared_depths_m2(c.hull[:, : c.corners], q, place[2])
        p.energy_m = place[2] + kinetic_m + springs_m + c.compression_m
    else:
        p.energy_m = place[2] + kinetic_m - min(0.0, clearance_m)
    if clearance_m <= c.clear_m or p.at_s < p.stay_s:
        return
    fall_m_s = w + sqrt(w * w + 2.0 * GRAVITY * clearance_m)
    if fall_m_s < GRAVITY * c.least_flight_s:
        return
    on_parabola = u, v, w + GRAVITY * (-0.5 * (c.step_s / (1 << halvings)))
    lasts_s = prepare_flight(pig, place, q, on_parabola, spin)
    if lasts_s < c.least_flight_s:
        p.stay_s = p.at_s + lasts_s
        return
    p.flying, p.began_s, p.lasts_s, p.lands_s = True, p.at_s, lasts_s, p.at_s + lasts_s
    note(p, p.base_steps * c.step_s, p.began_s, place, q, on_parabola, spin)
    fly_on(pig)


@compiled
def halvings_at(pig: PigRecord, point_speed_m_s: float) -> int:
    """How often the step is halved while a point of the pig is that fast."""
    over = point_speed_m_s / pig.fixed.full_step_m_s
    return 0 if over <= 1.0 else min(math.ceil(math.log2(over)), MOST_HALVINGS)


@compiled
def advance(pig: PigRecord) -> bool:
    """Brings the pig to its check, by flights and contacts; False where PyBullet is to step."""
    p, c = pig.now, pig.fixed
    now_s = p.base_steps * c.step_s
    while True:
        if p.waiting:
            if c.compiled:
                step_contacts(pig)
            elif not p.done:
                return False
            p.waiting = p.done = p.placing = False
            p.at_s += p.steps * c.step_s
            p.engine_steps += p.steps << p.halvings
            check(pig, p.halvings)
            if p.steps == 0:
                return True
        landed = p.flying
        if not landed:
            speed = p.speed_m_s + p.turning_m_s
        elif p.lands_s > now_s:
            fly_on(pig)
            return True
        else:
            speed = land(pig)
        p.steps = math.ceil((now_s - p.at_s) / c.step_s)
        if p.steps <= 0:
            if not landed:
                return True
            p.steps = 0  # at the very moment of the check
        p.halvings = halvings_at(pig, speed) if p.steps > 0 else 0
        p.waiting = True


@compiled
def step_contacts(pig: PigRecord) -> None:
    """Does what the record asks for, by the compiled engine."""
    p, c = pig.now, pig.fixed
    if p.placing:
        contact.forget(pig.work, c)
    contact.steps(
        pig.work,
        c,
        p.place,
        p.quat,
        p.velocity,
        p.spin,
        c.step_s / (1 << p.halvings),
        p.steps << p.halvings,
    )


@compiled
def bring(pig: PigRecord, target: int, each_check: bool) -> bool:
    """Brings a pig that is not at rest to a check; False where PyBullet is to step.

    Args:
        pig: which one.
        target: base steps of the check.
        each_check: stops at the regular checks before it too.
    """
    p, c = pig.now, pig.fixed
    while (p.base_steps < target or p.on_way) and not p.at_rest:
        if not p.on_way:
            ahead = target - p.base_steps
            if each_check:
                ahead = c.check_steps - p.base_steps % c.check_steps
            p.base_steps += ahead
            p.on_way = True
        if not advance(pig):
            return False
        p.on_way = False
        if p.flying or p.speed_m_s + p.turning_m_s > c.rest_m_s:
            p.held = False
        else:
            p.at_rest = rests(pig)
    return True


@compiled
def one_step(now: NDArray[Any], fixed: NDArray[Any], work: NDArray[Any]) -> None:
    """One base step of the compiled engine, halved as the record says."""
    p, c = now[0], fixed[0]
    step_s = c.step_s / (1 << p.halvings)
    contact.steps(work[0], c, p.place, p.quat, p.velocity, p.spin, step_s, 1 << p.halvings)


@compiled
def forget_contacts(now: NDArray[Any], fixed: NDArray[Any], work: NDArray[Any]) -> None:
    """Forgets the contacts of the steps before."""
    contact.forget(work[0], fixed[0])


@compiled
def advance_to_check(now: NDArray[Any], fixed: NDArray[Any], work: NDArray[Any]) -> bool:
    """Brings the pig to its check; False where PyBullet is to step."""
    return advance(PigRecord(now[0], fixed[0], work[0]))


@compiled
def turn_to_check(now: NDArray[Any], fixed: NDArray[Any], work: NDArray[Any]) -> None:
    """Finds the attitude at this check."""
    turn(PigRecord(now[0], fixed[0], work[0]))


@compiled
def rests(pig: PigRecord) -> bool:
    """Whether a slow pig has been where it is for long enough, on its own feet."""
    p, c = pig.now, pig.fixed
    if not p.held or moved_m(pig) > c.rest_m:
        p.held, p.since_s = True, p.at_s
        put(p.held_place, triple(p.centre))
        put_quat(p.held_quat, quat_of(p.attitude))
    return bool(p.at_s - p.since_s >= c.rest_s and supported(pig))


@compiled
def moved_m(pig: PigRecord) -> float:
    """A bound on how far any point of the pig is from where it was held."""
    p = pig.now
    square = turn = same = 0.0
    for k in range(3):
        square += (p.centre[k] - p.held_place[k]) ** 2
    for k in range(4):
        same += p.attitude[k] * p.held_quat[k]
    sign = 1.0 if same >= 0.0 else -1.0
    for k in range(4):
        turn += (p.attitude[k] - sign * p.held_quat[k]) ** 2
    angle = 4.0 * math.asin(min(1.0, 0.5 * sqrt(turn)))
    return float(sqrt(square) + pig.fixed.radius_m * angle)


@compiled
def supported(pig: PigRecord) -> bool:
    """Whether the centre of mass stands over the support polygon, and that over the table.

    A hull that reaches past the edge rests on its polygon cut off there, and both are convex: a
    point is over the cut polygon if it is over both.
    """
    p, c = pig.now, pig.fixed
    if abs(p.centre[0]) > c.half_length_m or abs(p.centre[1]) > c.half_width_m:
        return False
    q = quat_of(p.attitude)
    up = up_in_body(q)
    low = lowest_of(c, up) + p.centre[2]
    if low > c.rest_clearance_m:
        return False
    angles = np.empty(c.corners)
    count = 0
    for k in range(c.corners):
        height = c.hull[0, k] * up[0] + c.hull[1, k] * up[1] + c.hull[2, k] * up[2] + p.centre[2]
        if height <= max(low, 0.0) + c.rest_clearance_m:
            x, y, _ = body_to_world(q, (c.hull[0, k], c.hull[1, k], c.hull[2, k]))
            angles[count] = math.atan2(y, x)
            count += 1
    if count < 3:
        return False
    # Seen from the point below the centre of mass, feet all around it leave no half-plane free.
    around = np.sort(angles[:count])
    widest = around[0] + 2.0 * math.pi - around[-1]
    for k in range(count - 1):
        widest = max(widest, around[k + 1] - around[k])
    return bool(widest <= math.pi)


@compiled
def begin(pig: PigRecord) -> None:
    """Forgets what was known of rest and certainty."""
    p = pig.now
    p.at_rest = p.held = p.on_way = p.waiting = p.done = p.placing = False
    p.known = p.basin = -1
    p.stay_s = 0.0


@compiled
def release(now: NDArray[Any], fixed: NDArray[Any], work: NDArray[Any], state: PlainState) -> None:
    """Begins a roll with this state (principal frame); `advance` is to follow."""
    place, q, velocity, spin = state
    pig = PigRecord(now[0], fixed[0], work[0])
    begin(pig)
    p = pig.now
    p.base_steps = p.engine_steps = p.caught_up = 0
    lasts_s = prepare_flight(pig, place, q, velocity, spin)
    p.flying, p.began_s, p.lasts_s, p.lands_s = True, 0.0, lasts_s, lasts_s
    p.first_landing_s = lasts_s
    note(p, 0.0, 0.0, place, q, velocity, spin)
    fly_on(pig)


@compiled
def resume(
    now: NDArray[Any],
    fixed: NDArray[Any],
    work: NDArray[Any],
    state: PlainState,
    base_steps: int,
) -> None:
    """Goes on alone from this state of an engine at this time; `advance` is to follow."""
    place, q, velocity, spin = state
    pig = PigRecord(now[0], fixed[0], work[0])
    begin(pig)
    p = pig.now
    put(p.place, place)
    put_quat(p.quat, q)
    put(p.velocity, velocity)
    put(p.spin, spin)
    p.flying, p.placing, p.waiting = False, True, True
    p.steps = p.halvings = 0
    p.base_steps, p.at_s = base_steps, base_steps * pig.fixed.step_s

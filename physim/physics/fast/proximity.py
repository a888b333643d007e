"""Two pigs that are simulated each alone never miss each other; and a frozen one keeps its place.

Before each check `steps_ahead` says how long the pigs may go on: to the next regular check if they
are far apart, else only as long as they need at most for the distance between them. Near each
other, `possible_contact` finds out after the check whether they may have touched on the way: if so,
the roll goes back to the check before, from where both go on in one engine. Every answer depends on
the states at the check alone: a full roll and a fast one come to the same.

As long as the spheres about the pigs are far from each other, the answer costs some square roots.
Then a lower bound of the distance of the two hulls is found by Gilbert's method.

References:
    Gilbert, "An iterative procedure for computing the minimum of a quadratic form on a convex
    set", SIAM J. Control 1966.
"""

from __future__ import annotations

import math
from math import sqrt
from typing import Any

import numpy as np

from physim.compiled import compiled
from physim.physics.fast.advance import flight_at, turn
from physim.physics.fast.bounds import REACH_LEAST_M, holding_basin
from physim.physics.fast.pig_record import PigRecord, quat_of, triple
from physim.physics.state import (
    GRAVITY,
    EngineMotion,
    body_to_world,
    project,
    up_in_body,
    world_to_body,
)
from physim.types import FloatArray, Quat, Triple

LEAST_ADVANCE_M = 1e-5  # of two flying pigs towards each other
LEAST_DISTANCE_M = 2e-4  # between two pigs: covers what one sinks into the table, and rounding
# An impact may make the fastest point faster. This factor on |v| + radius |w|, which is a bound
# on it that is seldom reached, covers that where pigs are far from each other; near each other
# what they did between two checks is looked into afterwards (`possible_contact`).
IMPACT_SPEED_FACTOR = 1.5
_GILBERT_STEPS = 30  # at most
NEARLY = 0.5  # of a distance: good enough as a bound of it

ROLL: Any = np.dtype(
    [
        ("step", "i8"),  # base steps since release
        ("phase", "i8"),
        ("ahead", "i8"),  # base steps to the next check
        ("fast", "?"),
        ("cap_s", "f8"),
        ("asks", "i8"),  # the pig for which an engine is to step
        # Two pigs near each other at a check: when, how far at least, how fast at most; how many
        # may be in contact before the next check; both states.
        ("near", "?"),
        ("near_step", "i8"),
        ("near_m", "f8"),
        ("near_m_s", "f8"),
        ("near_pigs", "i8"),
        ("states", "f8", (2, 13)),
        ("known_step", "i8"),  # a check of which the distance is known
        ("known_m", "f8"),
    ],
    align=True,
)


@compiled
def certain_basin(pig: PigRecord) -> int:
    """The basin that a pig cannot leave, or -1; what it may still do in it goes into its record."""
    p, c = pig.now, pig.fixed
    if p.energy_m >= c.max_limit_m:
        return -1
    if p.known < 0:
        turn(pig)
        n, up = c.basins, up_in_body(quat_of(p.attitude))
        hull = c.hull[:, : c.corners]
        p.known = holding_basin(c.basin[:n], c.surely[:n], hull, c.radius_m, up, p.energy_m)
    if p.known >= 0:
        basin = pig.fixed.basin[p.known]
        spare_m = max(0.0, p.energy_m - basin[10])
        p.reach_m = REACH_LEAST_M + basin[11] * spare_m
        above_m = max(0.0, p.energy_m - c.lowest_m)
        p.fastest_m_s = c.point_speed_share * sqrt(2.0 * GRAVITY * above_m)
    return int(p.known)


@compiled
def point_speed(pig: PigRecord) -> float:
    """A bound on the speed of the pig's fastest point."""
    p = pig.now
    return float(p.speed_m_s + p.turning_m_s)


@compiled
def apart_m(first: PigRecord, second: PigRecord) -> float:
    """Between the spheres about the two pigs; negative where they overlap."""
    p, q = first.now, second.now
    square = 0.0
    for k in range(3):
        square += (p.centre[k] - q.centre[k]) ** 2
    radii_m = first.fixed.radius_m + second.fixed.radius_m
    return float(sqrt(square) - radii_m - LEAST_DISTANCE_M)


@compiled
def drift_m_s(first: PigRecord, second: PigRecord) -> float:
    """The relative speed of the centres of mass."""
    p, q = first.now, second.now
    square = 0.0
    for k in range(3):
        square += (p.moving[k] - q.moving[k]) ** 2
    return sqrt(square)


@compiled
def approach_m_s(first: PigRecord, second: PigRecord) -> float:
    """A bound on the speed at which any two points of two flying pigs approach each other."""
    turning = first.now.turning_m_s + second.now.turning_m_s
    return drift_m_s(first, second) + float(turning)  # both fall alike


@compiled
def max_travel_m(speed_m_s: float, time_s: float, pigs: int) -> float:
    """How far points of that speed in all, of so many pigs, get towards each other."""
    return IMPACT_SPEED_FACTOR * (speed_m_s + pigs * GRAVITY * time_s) * time_s


@compiled
def min_time_s(speed_m_s: float, travel_m: float, pigs: int) -> float:
    """How long points of that speed, of so many pigs in contact, need at least for a way [m]."""
    # IMPACT_SPEED_FACTOR (v + a t) t = way, a being the gravity of so many pigs.
    gravity = pigs * GRAVITY
    root = sqrt(speed_m_s * speed_m_s + 4.0 * gravity * travel_m / IMPACT_SPEED_FACTOR)
    return (root - speed_m_s) / (2.0 * gravity)


@compiled
def distance_m(first: PigRecord, second: PigRecord, cutoff_m: float) -> float:
    """A lower bound of the distance of two pigs: at least `NEARLY` of it, or above the cutoff."""
    turn(first)
    turn(second)
    p, q = first.now, second.now
    here, there = triple(p.centre), triple(q.centre)
    one, two = quat_of(p.attitude), quat_of(q.attitude)
    return distance_between(first, second, here, one, there, two, cutoff_m)


@compiled
def distance_between(
    first: PigRecord,
    second: PigRecord,
    here: Triple,
    one: Quat,
    there: Triple,
    two: Quat,
    cutoff_m: float,
) -> float:
    """As `distance_m`, of two pigs at these places in these attitudes."""
    bound = hull_distance_bound(
        first.fixed.hull[:, : first.fixed.corners],
        one,
        second.fixed.hull[:, : second.fixed.corners],
        two,
        (there[0] - here[0], there[1] - here[1], there[2] - here[2]),
        cutoff_m + LEAST_DISTANCE_M,
    )
    return bound - LEAST_DISTANCE_M


def pair_distance_m(first: EngineMotion, second: EngineMotion, cutoff_m: float) -> float:
    """As `distance_m`, of two pigs in one engine."""
    here, there = first.centre_m, second.centre_m
    bound = hull_distance_bound(
        first.body.hull_columns_m,
        first.quat_xyzw,
        second.body.hull_columns_m,
        second.quat_xyzw,
        (there[0] - here[0], there[1] - here[1], there[2] - here[2]),
        cutoff_m + LEAST_DISTANCE_M,
    )
    return bound - LEAST_DISTANCE_M


@compiled
def for_engine(pig: PigRecord, state: FloatArray) -> None:
    """The state (13,) with the velocity that an engine needs to go on from it.

    In flight that is faster by the fall of half a step. An engine that halves its steps begins up
    to half of that too slow, which vanishes with the step.
    """
    turn(pig)
    p = pig.now
    state[:3], state[3:7], state[7:10], state[10:] = p.centre, p.attitude, p.moving, p.turning
    if p.flying:
        state[9] += GRAVITY * (0.5 * pig.fixed.step_s)


@compiled
def steps_in_air(pig: PigRecord) -> float:
    """How many base steps from now it lands; 0 in contact."""
    p = pig.now
    return p.lands_s / pig.fixed.step_s - p.base_steps if p.flying else 0.0


@compiled
def steps_ahead(roll: Any, first: PigRecord, second: PigRecord) -> int:
    """How many base steps from this check on both may go on alone; 0 where they may touch.

    Commonly to the next regular check; pigs that both fly, not before one lands.
    """
    p, q, c = first.now, second.now, first.fixed
    roll.near = False
    regular = c.check_steps - roll.step % c.check_steps
    in_air = int(min(steps_in_air(first), steps_in_air(second), 1e6))
    if in_air > regular:
        return flight_steps(first, second, in_air - (in_air - regular) % c.check_steps)
    time_s, pigs = regular * c.step_s, 0
    drift, turning = 0.0, 0.0
    for one in (p, q):
        if not one.at_rest:
            pigs += 1
            drift += one.speed_m_s
            turning += one.turning_m_s
    if apart_m(first, second) > max_travel_m(drift, time_s, pigs):
        return int(regular)
    speed_m_s = drift + turning
    cutoff_m = max_travel_m(speed_m_s, time_s, pigs)
    away_m = roll.known_m
    if roll.known_step != roll.step:
        away_m = distance_m(first, second, cutoff_m)
    if away_m > cutoff_m:
        return int(regular)
    if in_air > 0:
        return flight_steps(first, second, in_air)
    if away_m <= 0.0:
        return 0
    steps = max(1, int(min(float(regular), min_time_s(speed_m_s, away_m, pigs) / c.step_s)))
    roll.near, roll.near_step, roll.near_m = True, roll.step, away_m
    roll.near_m_s, roll.near_pigs = speed_m_s, pigs
    for_engine(first, roll.states[0])
    for_engine(second, roll.states[1])
    return int(steps)


@compiled
def flight_steps(first: PigRecord, second: PigRecord, most: int) -> int:
    """How many base steps, `most` at most, two flying pigs surely do not touch.

    Conservative advancement: from one moment to the one at which they might touch at the earliest.
    """
    step_s = first.fixed.step_s
    now_s, ends_s, time_s = first.now.base_steps * step_s, most * step_s, 0.0
    if apart_m(first, second) > ends_s * drift_m_s(first, second):
        return most
    speed_m_s = approach_m_s(first, second)
    while time_s < ends_s:
        here, one, _, _ = flight_at(first, now_s + time_s - first.now.began_s)
        there, two, _, _ = flight_at(second, now_s + time_s - second.now.began_s)
        cutoff_m = speed_m_s * (ends_s - time_s)
        away_m = distance_between(first, second, here, one, there, two, cutoff_m)
        if away_m <= LEAST_ADVANCE_M:
            return int(time_s / step_s)
        time_s += away_m / speed_m_s if away_m <= cutoff_m else ends_s
    return most


@compiled
def possible_contact(roll: Any, first: PigRecord, second: PigRecord) -> bool:
    """Whether the pigs may have touched since the check before, at which they were near."""
    if not roll.near:
        return False
    roll.near = False
    step_s = first.fixed.step_s
    speed_m_s = max(roll.near_m_s, approach_m_s(first, second))
    time_s = (roll.step - roll.near_step) * step_s
    travel_m = max_travel_m(speed_m_s, time_s + step_s, roll.near_pigs)
    away_m = distance_m(first, second, math.inf)
    if roll.near_m + away_m <= travel_m:
        return True  # what was found of this check did not happen
    roll.known_step, roll.known_m = roll.step, away_m
    return False


@compiled
def keeps_clear(pig: PigRecord, other: PigRecord) -> bool:
    """Whether the other one stays out of a frozen pig's circle until the next check.

    The circle is so wide that the two would not be found near each other if the frozen one went on.
    """
    p, q, c = pig.now, other.now, pig.fixed
    time_s = c.check_steps * c.step_s
    clear_m = apart_m(pig, other) - (p.reach_m + max_travel_m(p.fastest_m_s, time_s, 1))
    if q.at_rest:
        return bool(clear_m > 0.0)
    if q.basin >= 0:
        return bool(clear_m > q.reach_m + max_travel_m(q.fastest_m_s, time_s, 1))
    return bool(clear_m > max_travel_m(point_speed(other), time_s, 1))


@compiled
def reaches_edge(pig: PigRecord, travel_m: float) -> bool:
    """Whether this way brings a pig's sphere over the edge."""
    p, c = pig.now, pig.fixed
    reach_m = c.radius_m + travel_m
    x, y = abs(p.centre[0]) + reach_m, abs(p.centre[1]) + reach_m
    return bool(x > c.half_length_m or y > c.half_width_m)


@compiled
def nears_edge(pig: PigRecord, time_s: float) -> bool:
    """Whether a pig that moves may reach the edge within this time."""
    p = pig.now
    travel_m = max(abs(p.moving[0]), abs(p.moving[1])) * time_s
    return not (p.at_rest or p.basin >= 0) and reaches_edge(pig, travel_m)


@compiled
def support_point(hull: FloatArray, q: Quat, line: Triple) -> Triple:
    """The corner that is farthest along a unit vector of the world, from the centre of mass."""
    found = project(hull, world_to_body(q, line)).argmax()
    return body_to_world(q, (hull[0, found], hull[1, found], hull[2, found]))


@compiled
def hull_distance_bound(
    hull: FloatArray,
    q: Quat,
    other_hull: FloatArray,
    other_q: Quat,
    between: Triple,
    cutoff_m: float,
) -> float:
    """A lower bound of the distance of two hulls, at least `NEARLY` of it or above `cutoff_m`.

    Gilbert's method walks through the differences between points of the two hulls (corners
    (3, n), attitude) towards the shortest one; the bound is how far no difference gets along the
    present one. `between` goes from the first centre of mass to the second.
    """
    a, b, c = between
    bound = -1e9
    for _ in range(_GILBERT_STEPS):
        length = sqrt(a * a + b * b + c * c)
        if length == 0.0:
            break
        line = (a / length, b / length, c / length)
        one = support_point(hull, q, line)
        two = support_point(other_hull, other_q, (-line[0], -line[1], -line[2]))
        p = between[0] + two[0] - one[0]
        r = between[1] + two[1] - one[1]
        s = between[2] + two[2] - one[2]
        bound = max(bound, line[0] * p + line[1] * r + line[2] * s)
        if bound > cutoff_m or bound > NEARLY * length:
            break
        # To the nearest point of the way there.
        p, r, s = p - a, r - b, s - c
        square = p * p + r * r + s * s
        if square == 0.0:
            break
        share = min(1.0, max(0.0, -(a * p + b * r + c * s) / square))
        a, b, c = a + share * p, b + share * r, c + share * s
    return bound

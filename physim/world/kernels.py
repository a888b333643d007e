"""The innermost loops of a roll, on plain numbers and arrays.

Quaternions are (x, y, z, w); a hull is a (3, n) array of its corners about the centre of mass in
the principal frame [m]. No function here calls a linear-algebra library, whose last bits may
depend on the processor, and sums over coordinates are written out in their order; sine and cosine
are those of the C library.
"""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from physim.compiled import compiled
from physim.values import FloatArray, Quat, Triple

GRAVITY = 9.81  # of `values`, repeated since compiled code takes constants as they are


@compiled
def up_in_body(q: Quat) -> Triple:
    """The world's up direction seen from a body of this attitude."""
    x, y, z, w = q
    return 2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)


@compiled
def into_body(q: Quat, v: Triple) -> Triple:
    """A vector of the world seen from a body of this attitude."""
    x, y, z, w = q
    a, b, c = v
    # v + 2 w (v x u) + 2 ((v x u) x u), u = (x, y, z).
    s, t, r = b * z - c * y, c * x - a * z, a * y - b * x
    return (
        a + 2.0 * (w * s + t * z - r * y),
        b + 2.0 * (w * t + r * x - s * z),
        c + 2.0 * (w * r + s * y - t * x),
    )


@compiled
def out_of_body(q: Quat, v: Triple) -> Triple:
    """A vector of the body seen from the world."""
    x, y, z, w = q
    a, b, c = v
    s, t, r = y * c - z * b, z * a - x * c, x * b - y * a
    return (
        a + 2.0 * (w * s + y * r - z * t),
        b + 2.0 * (w * t + z * s - x * r),
        c + 2.0 * (w * r + x * t - y * s),
    )


@compiled
def spin_in_body(q: Quat, momentum: Triple, moments: Triple) -> Triple:
    """Angular velocity in the principal frame: I^-1 R(q)^T L."""
    a, b, c = into_body(q, momentum)
    return a / moments[0], b / moments[1], c / moments[2]


@compiled
def turned(q: Quat, momentum: Triple, moments: Triple, h: float) -> Quat:
    """The attitude a time h later, by the series of `flight`, scaled to unit length."""
    i, j, k = moments
    ka, kb, kc = (j - k) / i, (k - i) / j, (i - j) / k
    a, b, c = spin_in_body(q, momentum, moments)
    # w' = K (w o w); w'' and w''' by the product rule.
    a1, b1, c1 = ka * b * c, kb * c * a, kc * a * b
    a2, b2, c2 = ka * (b1 * c + b * c1), kb * (c1 * a + c * a1), kc * (a1 * b + a * b1)
    a3 = ka * (b2 * c + 2.0 * b1 * c1 + b * c2)
    b3 = kb * (c2 * a + 2.0 * c1 * a1 + c * a2)
    c3 = kc * (a2 * b + 2.0 * a1 * b1 + a * b2)
    h2, h3, h4 = h * h / 2.0, h * h * h / 6.0, h * h * h * h / 24.0
    # w x (h^3/12 w' + h^4/24 w'')
    d, e, f = h3 / 2.0 * a1 + h4 * a2, h3 / 2.0 * b1 + h4 * b2, h3 / 2.0 * c1 + h4 * c2
    u = h * a + h2 * a1 + h3 * a2 + h4 * a3 + b * f - c * e
    v = h * b + h2 * b1 + h3 * b2 + h4 * b3 + c * d - a * f
    t = h * c + h2 * c1 + h3 * c2 + h4 * c3 + a * e - b * d
    angle = sqrt(u * u + v * v + t * t)
    share = sin(0.5 * angle) / angle if angle > 0.0 else 0.5
    u, v, t, s = share * u, share * v, share * t, cos(0.5 * angle)
    x, y, z, w = q
    x, y, z, w = (
        w * u + x * s + y * t - z * v,
        w * v - x * t + y * s + z * u,
        w * t + x * v - y * u + z * s,
        w * s - x * u - y * v - z * t,
    )
    scale = 1.0 / sqrt(x * x + y * y + z * z + w * w)
    return x * scale, y * scale, z * scale, w * scale


@compiled
def turned_on(q: Quat, momentum: Triple, moments: Triple, h: float, steps: int) -> Quat:
    """The attitude so many times h later."""
    for _ in range(steps):
        q = turned(q, momentum, moments, h)
    return q


@compiled
def spin_in_world(q: Quat, momentum: Triple, moments: Triple) -> Triple:
    """Angular velocity in the world."""
    return out_of_body(q, spin_in_body(q, momentum, moments))


@compiled
def momentum_and_energy(q: Quat, spin: Triple, moments: Triple) -> tuple[Triple, float, float]:
    """Of a body's rotation.

    Returns:
        Angular momentum in the world, twice the energy, and the highest angular speed that is
        possible with both.
    """
    a, b, c = into_body(q, spin)
    i, j, k = moments
    own = (i * a, j * b, k * c)
    energy = own[0] * a + own[1] * b + own[2] * c
    least = min(i, j, k)
    by_momentum = sqrt(own[0] * own[0] + own[1] * own[1] + own[2] * own[2]) / least
    return out_of_body(q, own), energy, min(by_momentum, sqrt(energy / least))


@compiled
def fall_s(spare_m: float, up_m_s: float) -> float:
    """When what rises at this speed is this far below; 0 if it is so already."""
    if spare_m <= 0.0:
        return 0.0
    return (up_m_s + sqrt(up_m_s * up_m_s + 2.0 * GRAVITY * spare_m)) / GRAVITY


@compiled
def along(hull: FloatArray, axis: Triple) -> FloatArray:
    """(n,) how far each corner is along an axis of the body."""
    far: FloatArray = hull[0] * axis[0] + hull[1] * axis[1] + hull[2] * axis[2]
    return far


@compiled
def table_wait(
    hull: FloatArray,
    most: FloatArray,
    q: Quat,
    spin: Triple,
    height_m: float,
    up_m_s: float,
    contact_m: float,
) -> float:
    """A time for which a flying body surely stays above the table; 0 at contact.

    A corner at height h that rises at speed s is above the table at least until
    h + s t - a t^2 / 2 = 0, a being the most that it is accelerated.

    Args:
        hull: (3, n) corners.
        most: (n,) the most that each of them is accelerated [m/s2].
        q: the body's attitude.
        spin: its angular velocity, body frame.
        height_m: of its centre of mass.
        up_m_s: the speed at which that rises.
        contact_m: a gap that counts as contact.
    """
    x, y, z = up_in_body(q)
    heights = along(hull, (x, y, z)) + height_m
    if heights.min() <= contact_m:
        return 0.0
    a, b, c = spin
    # Of the up direction seen from the body.
    speeds = along(hull, (y * c - z * b, z * a - x * c, x * b - y * a)) + up_m_s
    waits = (speeds + np.sqrt(speeds * speeds + 2.0 * most * heights)) / most
    return float(waits.min())


@compiled
def landing_s(
    hull: FloatArray,
    radii: FloatArray,
    lowest_m: float,
    q: Quat,
    momentum: Triple,
    moments: Triple,
    height_m: float,
    up_m_s: float,
    fastest: float,
    step_s: float,
    contact_m: float,
    longest_s: float,
) -> float:
    """When a body that flies from this height, speed and attitude first touches the table.

    Between two nodes a step apart, a corner is at most a step^2 / 8 below its height at the
    lower one: where that is above the table, the whole interval is free. In others the way goes
    on by steps that cannot reach contact.

    A corner v is accelerated by at most a = g + w^2 |v| + |w'| |v|, and |w'| <= w^2 / sqrt(3)
    since each factor of Euler's equations is at most 1.
    """
    most = GRAVITY + 1.58 * fastest * fastest * radii
    dips = most * (step_s * step_s / 8.0)
    time_s = fall_s(height_m - radii.max(), up_m_s)
    number = int(time_s / step_s)
    q = turned_on(q, momentum, moments, step_s, number)
    begin_s = number * step_s
    here = height_m + begin_s * up_m_s - 0.5 * GRAVITY * begin_s * begin_s
    before = along(hull, up_in_body(q)) + here
    while time_s < longest_s:
        # The interval from node `number`, at which the attitude is q, to the next one.
        begin_s, end_s = number * step_s, (number + 1) * step_s
        next_q = turned(q, momentum, moments, step_s)
        there = height_m + end_s * up_m_s - 0.5 * GRAVITY * end_s * end_s
        after = along(hull, up_in_body(next_q)) + there
        free = there > lowest_m and (np.minimum(before, after) - dips).min() > contact_m
        while not free and time_s < end_s:
            rest_s = time_s - begin_s
            now = q if rest_s <= 0.0 else turned(q, momentum, moments, rest_s)
            spin = spin_in_body(now, momentum, moments)
            height = height_m + time_s * up_m_s - 0.5 * GRAVITY * time_s * time_s
            speed = up_m_s - GRAVITY * time_s
            wait = table_wait(hull, most, now, spin, height, speed, contact_m)
            if wait <= 0.0:
                return time_s
            time_s += wait
        time_s = max(time_s, end_s)
        number += 1
        q, before = next_q, after
    return longest_s


@compiled
def seen(
    hull: FloatArray,
    squares: Triple,
    radius_m: float,
    units_per_m: float,
    place: Triple,
    q: Quat,
    velocity: Triple,
    spin: Triple,
) -> tuple[Triple, Triple, float, float, float, float]:
    """What there is to know of a body that an engine moves.

    Args:
        hull: (3, n) corners.
        squares: of the radii of gyration [m2].
        radius_m: of the sphere about the centre of mass that holds the body.
        units_per_m: the engine's units of length in a metre.
        place: the centre of mass, engine units.
        q: the attitude.
        velocity: of the centre of mass, engine units a second.
        spin: angular velocity, in the world.

    Returns:
        Centre of mass [m], its velocity [m/s], the lowest corner's height above the table [m],
        the kinetic energy over m g [m], the speed of the centre of mass, and a bound on that of
        a point about it [m/s].
    """
    x, y, z = place[0] / units_per_m, place[1] / units_per_m, place[2] / units_per_m
    u, v, w = velocity[0] / units_per_m, velocity[1] / units_per_m, velocity[2] / units_per_m
    a, b, c = into_body(q, spin)
    rotation = squares[0] * a * a + squares[1] * b * b + squares[2] * c * c
    square = u * u + v * v + w * w
    return (
        (x, y, z),
        (u, v, w),
        z + float(along(hull, up_in_body(q)).min()),
        0.5 * (square + rotation) / GRAVITY,
        sqrt(square),
        radius_m * sqrt(a * a + b * b + c * c),
    )


@compiled
def farthest(hull: FloatArray, q: Quat, line: Triple) -> Triple:
    """The corner that is farthest along a unit vector of the world, from the centre of mass."""
    found = along(hull, into_body(q, line)).argmax()
    return out_of_body(q, (hull[0, found], hull[1, found], hull[2, found]))


@compiled
def hull_gap(
    hull: FloatArray,
    q: Quat,
    other_hull: FloatArray,
    other_q: Quat,
    between: Triple,
    enough_m: float,
    steps: int,
) -> float:
    """A lower bound of the gap between two hulls, at least half of it or above `enough_m`.

    Gilbert's method walks through the differences between points of the two hulls towards the
    shortest one; the bound is how far no difference gets along the present one.

    Args:
        hull: (3, n) corners of the first.
        q: its attitude.
        other_hull: (3, m) corners of the second.
        other_q: its attitude.
        between: from the first centre of mass to the second.
        enough_m: a gap above which the bound need not be better.
        steps: of the method, at most.
    """
    a, b, c = between
    bound = -1e9
    for _ in range(steps):
        length = sqrt(a * a + b * b + c * c)
        if length == 0.0:
            break
        line = (a / length, b / length, c / length)
        one = farthest(hull, q, line)
        two = farthest(other_hull, other_q, (-line[0], -line[1], -line[2]))
        p = between[0] + two[0] - one[0]
        r = between[1] + two[1] - one[1]
        s = between[2] + two[2] - one[2]
        bound = max(bound, line[0] * p + line[1] * r + line[2] * s)
        if bound > enough_m or bound > 0.5 * length:
            break
        # To the nearest point of the way there.
        p, r, s = p - a, r - b, s - c
        square = p * p + r * r + s * s
        if square == 0.0:
            break
        share = min(1.0, max(0.0, -(a * p + b * r + c * s) / square))
        a, b, c = a + share * p, b + share * r, c + share * s
    return bound

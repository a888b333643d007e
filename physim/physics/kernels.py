"""The innermost loops of a roll, on plain numbers and arrays; those of flight: `ballistics`.

Quaternions are (x, y, z, w); a hull is a (3, n) array of its corners about the centre of mass in
the principal frame [m]. No function here calls a linear-algebra library, whose last bits may
depend on the processor, and sums over coordinates are written out in their order; sine and cosine
are those of the C library.
"""

from __future__ import annotations

from math import sqrt

from physim.compiled import compiled
from physim.types import FloatArray, Quat, Triple

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
def along(hull: FloatArray, axis: Triple) -> FloatArray:
    """(n,) how far each corner is along an axis of the body."""
    far: FloatArray = hull[0] * axis[0] + hull[1] * axis[1] + hull[2] * axis[2]
    return far


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

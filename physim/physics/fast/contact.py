"""One pig in contact with the table: a compiled sequential-impulse solver.

A step is what Bullet's is. Contacts are found where the pig is; gravity, the gyroscopic torque
(implicit, one Newton step) and the contact impulses change its speed; then it moves with the new
speed. Impulses are found by projected Gauss-Seidel: in each iteration first the normal impulse of
every contact, then two friction impulses of each. What overlaps is pushed apart by speeds of its
own, which are forgotten after the step (split impulse), so that restitution is what it says.

Two rules say what the contacts are:

* `corners`: every corner of the hull that is nearer to the table than `contact_m`. A pig that lands
  flat is met by all that it lands on at once.
* `manifolds`: Bullet's. The corners are split into a few hulls; each offers its lowest corner in a
  step and remembers at most four, with what they were pressed by. It is here to check the solver:
  rolls are those of PyBullet but for rounding.

Friction is limited along the sliding and across it each for itself (`pyramid`, as Bullet has it: in
effect some 20 % more friction than Coulomb's where the sliding turns within a step), or both
together (`cone`, Coulomb's law).

References:
    Catto, "Iterative dynamics with temporal coherence", Game Developers Conference 2005.
    Catto, "Fast and simple physics using sequential impulses", Game Developers Conference 2006.
"""

from __future__ import annotations

import math
from math import cos, sin, sqrt
from typing import Any

from physim.compiled import compiled
from physim.geometry import product as _product
from physim.physics.fast.manifolds import find_manifolds
from physim.physics.fast.pig_record import MOST_CONTACTS, POINTS, Rotation
from physim.physics.state import up_in_body
from physim.types import FloatArray, Quat, Triple

CONTACT_M = 1e-6  # a corner that is nearer to the table is a contact
SLOP_M = 1e-7  # an overlap that is left alone
TURN_SHARE = 0.1  # of the turn that pushes an overlap apart
MOST_TURN_RAD = 0.25 * math.pi  # of one step
MOST_HALVINGS = 5  # of a step in which a corner would sink in too deep
NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
SLOWEST_SLIDE = 2.2e-16 * 1e-4  # [m2/s2]: the direction of a slower one is none

product = compiled(_product)
Change = tuple[float, float, float, float, float, float]  # of velocity and spin, in the world


@compiled
def rotation(q: Quat) -> Rotation:
    """The rows of the rotation matrix of an attitude."""
    x, y, z, w = q
    a, b, c = 2.0 * x, 2.0 * y, 2.0 * z
    xx, xy, xz = x * a, x * b, x * c
    yy, yz, zz = y * b, y * c, z * c
    wx, wy, wz = w * a, w * b, w * c
    first = (1.0 - (yy + zz), xy - wz, xz + wy)
    second = (xy + wz, 1.0 - (xx + zz), yz - wx)
    return first + second + (xz - wy, yz + wx, 1.0 - (xx + yy))


@compiled
def turned(q: Quat, spin: Triple, step_s: float) -> Quat:
    """The attitude after a step at this angular velocity (world)."""
    u, v, t = spin
    speed = sqrt(u * u + v * v + t * t)
    speed = min(speed, MOST_TURN_RAD / step_s)
    if speed < 0.001:
        share = 0.5 * step_s - step_s * step_s * step_s * (1.0 / 48.0) * speed * speed
    else:
        share = sin(0.5 * speed * step_s) / speed
    x, y, z, w = product((u * share, v * share, t * share, cos(0.5 * speed * step_s)), q)
    scale = 1.0 / sqrt(x * x + y * y + z * z + w * w)
    return x * scale, y * scale, z * scale, w * scale


@compiled
def gyroscopic(r: Rotation, moments: Triple, spin: Triple, step_s: float) -> Triple:
    """What the gyroscopic torque adds to the spin (world) in a step: one implicit Newton step."""
    u, v, t = spin
    i, j, k = moments
    a = r[0] * u + r[3] * v + r[6] * t
    b = r[1] * u + r[4] * v + r[7] * t
    c = r[2] * u + r[5] * v + r[8] * t
    p, q, s = i * a, j * b, k * c
    f, g, h = step_s * (b * s - c * q), step_s * (c * p - a * s), step_s * (a * q - b * p)
    m01, m02 = step_s * (s - c * j), step_s * (b * k - q)
    m10, m12 = step_s * (c * i - s), step_s * (p - a * k)
    m20, m21 = step_s * (q - b * i), step_s * (a * j - p)
    c0, c1, c2 = j * k - m12 * m21, m12 * m20 - m10 * k, m10 * m21 - j * m20
    det = i * c0 + m01 * c1 + m02 * c2
    a -= (f * c0 + m01 * (m12 * h - g * k) + m02 * (g * m21 - j * h)) / det
    b -= (i * (g * k - m12 * h) + f * c1 + m02 * (m10 * h - g * m20)) / det
    c -= (i * (j * h - g * m21) + m01 * (g * m20 - m10 * h) + f * c2) / det
    return (
        r[0] * a + r[1] * b + r[2] * c - u,
        r[3] * a + r[4] * b + r[5] * c - v,
        r[6] * a + r[7] * b + r[8] * c - t,
    )


@compiled
def forget(work: Any, fixed: Any) -> None:
    """Forgets the contacts of the steps before."""
    work.count = 0
    work.points[:] = 0
    for k in range(fixed.contact_corners):
        work.corners[k, 3] = -1.0


@compiled
def find_corners(work: Any, fixed: Any, place: Triple, r: Rotation) -> int:
    """Every corner near the table is a contact; how many there are."""
    hull, places, owners = fixed.contact_hull, work.places, work.owners
    limit_m = fixed.contact_m - place[2]
    work.count += 1
    found = 0
    for corner in range(fixed.contact_corners):
        x, y, z = hull[0, corner], hull[1, corner], hull[2, corner]
        height = x * r[6] + y * r[7] + z * r[8]
        if height < limit_m and found < MOST_CONTACTS:
            owners[found] = corner
            places[found, 0] = r[0] * x + r[1] * y + r[2] * z
            places[found, 1] = r[3] * x + r[4] * y + r[5] * z
            places[found, 2] = height
            places[found, 3] = height + place[2]
            found += 1
    return found


@compiled
def found_contacts(work: Any, fixed: Any, place: Triple, r: Rotation) -> int:
    """How many contacts there are, by the rule that the record names."""
    if fixed.bullet:
        return find_manifolds(work, fixed, place, r)
    return find_corners(work, fixed, place, r)


@compiled
def steps(
    work: Any,
    fixed: Any,
    place: FloatArray,
    quat: FloatArray,
    velocity: FloatArray,
    spin: FloatArray,
    step_s: float,
    count: int,
) -> None:
    """So many steps of a pig; its state (place, attitude, velocity, spin) is changed.

    A step in which a corner would sink in too deep is made in parts.
    """
    x, q = (place[0], place[1], place[2]), (quat[0], quat[1], quat[2], quat[3])
    v, w = (velocity[0], velocity[1], velocity[2]), (spin[0], spin[1], spin[2])
    shortest = step_s / (1 << MOST_HALVINGS)
    for _ in range(count):
        left, length = step_s, step_s  # halves of it are exact, and so are their sums
        while left > 0.0:
            share = 1.0 - math.exp(-length / fixed.recovery_s)
            deep, x, q, v, w = step(work, fixed, x, q, v, w, length, share, length > shortest)
            if deep:
                length *= 0.5
            else:
                left -= length
    place[0], place[1], place[2] = x
    quat[0], quat[1], quat[2], quat[3] = q
    velocity[0], velocity[1], velocity[2] = v
    spin[0], spin[1], spin[2] = w


@compiled
def step(
    work: Any,
    fixed: Any,
    x: Triple,
    q: Quat,
    v: Triple,
    w: Triple,
    step_s: float,
    share: float,
    careful: bool,
) -> tuple[bool, Triple, Quat, Triple, Triple]:
    """The state (place, attitude, velocity, spin) after a step.

    A careful step after which a corner is deeper than `deepest_m` is not made: True comes first,
    and the state is that of before.
    """
    r = rotation(q)
    found = found_contacts(work, fixed, x, r)
    moments = fixed.moments[0], fixed.moments[1], fixed.moments[2]
    turn, mass_kg = gyroscopic(r, moments, w, step_s), fixed.mass_kg
    fall = fixed.gravity[0] * step_s, fixed.gravity[1] * step_s, fixed.gravity[2] * step_s
    push, change, before = NOTHING, NOTHING, (x, q, v, w)
    deep = False
    if found > 0:
        inverse = inverse_inertia(r, moments)
        rows = work.rows
        speeds = (v, w, fall, (w[0] + turn[0], w[1] + turn[1], w[2] + turn[2]))
        deep = make_rows(rows, work.places, fixed, found, mass_kg, inverse, speeds, step_s, share)
        recall(work, fixed, found)
        change = solve(rows, fixed, found, mass_kg)
        if deep:
            push = separate(work.rows, fixed, found, mass_kg)
            back = push[3] * TURN_SHARE, push[4] * TURN_SHARE, push[5] * TURN_SHARE
            q = turned(q, back, step_s)
    v = v[0] + change[0] + fall[0], v[1] + change[1] + fall[1], v[2] + change[2] + fall[2]
    w = w[0] + change[3] + turn[0], w[1] + change[4] + turn[1], w[2] + change[5] + turn[2]
    x = (
        x[0] + (push[0] + v[0]) * step_s,
        x[1] + (push[1] + v[1]) * step_s,
        x[2] + (push[2] + v[2]) * step_s,
    )
    q = turned(q, w, step_s)
    if careful and too_deep(fixed, x, q, v, w, step_s):
        work.count -= 1
        return (True, *before)
    if found > 0:
        remember(work, fixed, found)
    return False, x, q, v, w


@compiled
def too_deep(fixed: Any, x: Triple, q: Quat, v: Triple, w: Triple, step_s: float) -> bool:
    """Whether a pig has sunk in deeper than it may, and not so before this step."""
    limit_m = fixed.deepest_m
    speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    speed += fixed.radius_m * sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    if speed * step_s < limit_m or x[2] > fixed.radius_m:
        return False
    up, hull = up_in_body(q), fixed.hull
    for k in range(fixed.corners):
        if hull[0, k] * up[0] + hull[1, k] * up[1] + hull[2, k] * up[2] + x[2] < -limit_m:
            return True
    return False


@compiled
def inverse_inertia(r: Rotation, moments: Triple) -> Change:
    """The inverse inertia tensor in the world: xx, xy, xz, yy, yz, zz."""
    i, j, k = 1.0 / moments[0], 1.0 / moments[1], 1.0 / moments[2]
    return (
        r[0] * r[0] * i + r[1] * r[1] * j + r[2] * r[2] * k,
        r[0] * r[3] * i + r[1] * r[4] * j + r[2] * r[5] * k,
        r[0] * r[6] * i + r[1] * r[7] * j + r[2] * r[8] * k,
        r[3] * r[3] * i + r[4] * r[4] * j + r[5] * r[5] * k,
        r[3] * r[6] * i + r[4] * r[7] * j + r[5] * r[8] * k,
        r[6] * r[6] * i + r[7] * r[7] * j + r[8] * r[8] * k,
    )


@compiled
def make_rows(
    rows: FloatArray,
    places: FloatArray,
    fixed: Any,
    found: int,
    mass_kg: float,
    inverse: Change,
    speeds: tuple[Triple, Triple, Triple, Triple],
    step_s: float,
    share: float,
) -> bool:
    """Fills the rows of the solver; whether anything overlaps.

    A row has the direction (3), the lever arm's moment about the centre of mass (3), the spin that
    a unit impulse makes (3), the impulse that a unit of speed takes, the impulse that is wanted,
    the one that pushes apart, and both as found so far.
    """
    (u, v, t), spin, (fall_x, fall_y, fall_z), (a, b, c) = speeds
    deep = False
    for k in range(found):
        x, y, z = places[k, 0], places[k, 1], places[k, 2]
        sinking = t + spin[0] * y - spin[1] * x
        along, across = u + fall_x + b * z - c * y, v + fall_y + c * x - a * z
        square = along * along + across * across
        bounce = 0.0
        if abs(sinking) >= fixed.slowest_bounce_m_s and sinking < 0.0:
            bounce = -fixed.restitution * sinking + fixed.sliding_bounce * sqrt(square)
        if square > SLOWEST_SLIDE:
            length = sqrt(square)
            along, across = along / length, across / length
        else:
            along, across = 0.0, -1.0
        fill_row(rows, k, 0, (0.0, 0.0, 1.0), (x, y, z), mass_kg, inverse)
        fill_row(rows, k, 1, (along, across, 0.0), (x, y, z), mass_kg, inverse)
        fill_row(rows, k, 2, (across, -along, 0.0), (x, y, z), mass_kg, inverse)
        gap = places[k, 3] + SLOP_M
        speed = t + fall_z + y * a - x * b
        rows[k, 0, 10] = (bounce - speed - max(0.0, gap) / step_s) * rows[k, 0, 9]
        rows[k, 0, 11] = max(0.0, -gap) * share / step_s * rows[k, 0, 9]
        rows[k, 0, 12] = rows[k, 1, 12] = rows[k, 2, 12] = rows[k, 0, 13] = 0.0
        rows[k, 1, 11] = bounce
        deep = deep or gap < 0.0
        for side in (1, 2):
            speed = rows[k, side, 0] * (u + fall_x) + rows[k, side, 1] * (v + fall_y)
            for axis in range(3):
                speed += rows[k, side, 3 + axis] * spin[axis]
            rows[k, side, 10] = -speed * rows[k, side, 9]
    return deep


@compiled
def recall(work: Any, fixed: Any, found: int) -> None:
    """Sets out from the impulses of the last step; of a bouncing corner from none."""
    rows, corners = work.rows, work.corners
    for k in range(found):
        owner = work.owners[k]
        if fixed.bullet:
            rows[k, 0, 12] = fixed.warm * work.impulses[owner // POINTS, owner % POINTS]
        elif rows[k, 1, 11] == 0.0 and corners[owner, 3] == work.count - 1:
            rows[k, 0, 12] = fixed.warm * corners[owner, 0]
            for side in (1, 2):
                along = rows[k, side, 0] * corners[owner, 1]
                rows[k, side, 12] = fixed.warm * (along + rows[k, side, 1] * corners[owner, 2])


@compiled
def fill_row(
    rows: FloatArray, k: int, side: int, n: Triple, at: Triple, mass_kg: float, inverse: Change
) -> None:
    """What an impulse along `n` at a place (from the centre of mass) does."""
    x, y, z = at
    a, b, c = y * n[2] - z * n[1], z * n[0] - x * n[2], x * n[1] - y * n[0]
    p = inverse[0] * a + inverse[1] * b + inverse[2] * c
    q = inverse[1] * a + inverse[3] * b + inverse[4] * c
    s = inverse[2] * a + inverse[4] * b + inverse[5] * c
    rows[k, side, 0], rows[k, side, 1], rows[k, side, 2] = n
    rows[k, side, 3], rows[k, side, 4], rows[k, side, 5] = a, b, c
    rows[k, side, 6], rows[k, side, 7], rows[k, side, 8] = p, q, s
    rows[k, side, 9] = 1.0 / (
        1.0 / mass_kg + n[0] * (q * z - s * y) + n[1] * (s * x - p * z) + n[2] * (p * y - q * x)
    )


@compiled
def speed_of(rows: FloatArray, k: int, side: int, change: Change) -> float:
    """The speed along a row that these speeds and spins make."""
    u, v, w, a, b, c = change
    return float(
        rows[k, side, 0] * u
        + rows[k, side, 1] * v
        + rows[k, side, 2] * w
        + rows[k, side, 3] * a
        + rows[k, side, 4] * b
        + rows[k, side, 5] * c
    )


@compiled
def pushed_by(
    rows: FloatArray, k: int, side: int, impulse: float, per_kg: float, change: Change
) -> Change:
    """The speeds and spins after an impulse along a row."""
    u, v, w, a, b, c = change
    share = impulse * per_kg
    return (
        u + rows[k, side, 0] * share,
        v + rows[k, side, 1] * share,
        w + rows[k, side, 2] * share,
        a + rows[k, side, 6] * impulse,
        b + rows[k, side, 7] * impulse,
        c + rows[k, side, 8] * impulse,
    )


@compiled
def separate(rows: FloatArray, fixed: Any, found: int, mass_kg: float) -> Change:
    """The speeds that push overlaps apart."""
    push = NOTHING
    for _ in range(fixed.iterations):
        most = 0.0
        for k in range(found):
            if rows[k, 0, 11] == 0.0:
                continue
            more = rows[k, 0, 11] - speed_of(rows, k, 0, push) * rows[k, 0, 9]
            more = max(more, -rows[k, 0, 13])
            rows[k, 0, 13] += more
            push = pushed_by(rows, k, 0, more, 1.0 / mass_kg, push)
            most = max(most, abs(more / rows[k, 0, 9]))
        if most <= fixed.tolerance_m_s:
            break
    return push


@compiled
def solve(rows: FloatArray, fixed: Any, found: int, mass_kg: float) -> Change:
    """Finds the impulses; what they change."""
    change, per_kg = NOTHING, 1.0 / mass_kg
    for k in range(found):
        for side in range(3):
            if rows[k, side, 12] != 0.0:
                change = pushed_by(rows, k, side, rows[k, side, 12], per_kg, change)
    for _ in range(fixed.iterations):
        most = 0.0
        for k in range(found):
            more = rows[k, 0, 10] - speed_of(rows, k, 0, change) * rows[k, 0, 9]
            more = max(more, -rows[k, 0, 12])
            rows[k, 0, 12] += more
            change = pushed_by(rows, k, 0, more, per_kg, change)
            most = max(most, abs(more / rows[k, 0, 9]))
        for k in range(found):
            limit = fixed.friction * rows[k, 0, 12]
            first, second = rows[k, 1, 12], rows[k, 2, 12]
            if limit <= 0.0 and (fixed.bullet or first == second == 0.0):
                continue  # Bullet leaves the friction of a contact that has let go
            wanted = rows[k, 1, 10] - speed_of(rows, k, 1, change) * rows[k, 1, 9]
            across = rows[k, 2, 10] - speed_of(rows, k, 2, change) * rows[k, 2, 9]
            if fixed.cone:
                # One mass for both, or friction would not be opposite to the sliding.
                mass = min(rows[k, 1, 9], rows[k, 2, 9])
                one = first + wanted * mass / rows[k, 1, 9]
                two = second + across * mass / rows[k, 2, 9]
                length = sqrt(one * one + two * two)
                if length > limit:
                    one, two = one * limit / length, two * limit / length
                change = pushed_by(rows, k, 1, one - first, per_kg, change)
            else:
                one = min(max(first + wanted, -limit), limit)
                change = pushed_by(rows, k, 1, one - first, per_kg, change)
                two = second + rows[k, 2, 10] - speed_of(rows, k, 2, change) * rows[k, 2, 9]
                two = min(max(two, -limit), limit)
            rows[k, 1, 12] = one
            rows[k, 2, 12] = two
            change = pushed_by(rows, k, 2, two - second, per_kg, change)
            most = max(most, abs((one - first) / rows[k, 1, 9]))
            most = max(most, abs((two - second) / rows[k, 2, 9]))
        if most <= fixed.tolerance_m_s:
            break
    return change


@compiled
def remember(work: Any, fixed: Any, found: int) -> None:
    """Keeps the impulses for the next step."""
    rows, corners = work.rows, work.corners
    for k in range(found):
        owner = work.owners[k]
        if fixed.bullet:
            work.impulses[owner // POINTS, owner % POINTS] = rows[k, 0, 12]
            continue
        corners[owner, 0], corners[owner, 3] = rows[k, 0, 12], work.count
        for axis in range(2):
            first, second = rows[k, 1, axis] * rows[k, 1, 12], rows[k, 2, axis] * rows[k, 2, 12]
            corners[owner, 1 + axis] = first + second

"""Geometry without a linear-algebra library call: turns in space, and convex sets.

Quaternions have their scalar last. Plain arithmetic keeps a trajectory's bits independent of the
BLAS in use. The first functions take and give plain numbers; `compiled` makes machine code of them.

The distance of two hulls is the least norm over the Minkowski difference, found with Wolfe's
method: it keeps a simplex of difference points, moves to the point of least norm in its affine
hull, and drops corners that this leaves with a negative weight. It ends after finitely many steps
with an exact answer up to rounding. (`physics.fast.pair` asks at every check for no more than a
lower bound.)

References:
    P. Wolfe, "Finding the nearest point in a polytope", Mathematical Programming 11, 1976.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from physim.types import FloatArray, Quat, Triple

_MAX_STEPS = 200  # bodies of 30 corners need about 10
_RELATIVE_ERROR = 1e-12


def product(a: Quat, b: Quat) -> Quat:
    """Hamilton product: first turn by `b`, then by `a`."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def up_in_body(q: Sequence[float]) -> Triple:
    """The world's up direction seen from a body so turned: the last row of `matrix`."""
    x, y, z, w = q
    return 2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)


def world_to_body(q: Quat, v: Triple) -> Triple:
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


def body_to_world(q: Quat, v: Triple) -> Triple:
    """A vector of the body seen from the world."""
    x, y, z, w = q
    a, b, c = v
    s, t, r = y * c - z * b, z * a - x * c, x * b - y * a
    return (
        a + 2.0 * (w * s + y * r - z * t),
        b + 2.0 * (w * t + z * s - x * r),
        c + 2.0 * (w * r + x * t - y * s),
    )


def multiply(a: FloatArray, b: FloatArray) -> FloatArray:
    """Hamilton product of arrays: first turn by `b`, then by `a`. (4,), (4,) -> (4,)."""
    return np.array(product(a.tolist(), b.tolist()))


def conjugate(q: FloatArray) -> FloatArray:
    """The inverse of a unit quaternion."""
    x, y, z, w = q.tolist()
    return np.array([-x, -y, -z, w])


def normalized(q: FloatArray) -> FloatArray:
    """`q` scaled to unit length."""
    x, y, z, w = q.tolist()
    return q / math.sqrt(x**2 + y**2 + z**2 + w**2)


def matrix(q: FloatArray) -> FloatArray:
    """(3, 3) rotation matrix of a unit quaternion: columns are the turned axes."""
    x, y, z, w = q.tolist()
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def heights(q: FloatArray, columns: FloatArray) -> FloatArray:
    """(n,) z of the points with coordinates `columns` (3, n) turned by `q`, as `rotate` has it."""
    x, y, z = up_in_body(q.tolist())
    return np.asarray(columns[0] * x + columns[1] * y + columns[2] * z)


def rotate(q: FloatArray, v: FloatArray) -> FloatArray:
    """Turns vectors of shape (3,) or (n, 3) by `q`, without BLAS."""
    m = matrix(q)
    turned = v[..., 0, None] * m[:, 0] + v[..., 1, None] * m[:, 1] + v[..., 2, None] * m[:, 2]
    return np.asarray(turned)


def from_axis_angle(axis: FloatArray, angle_rad: float) -> FloatArray:
    """Unit quaternion of a turn by `angle_rad` about the unit vector `axis`."""
    s = math.sin(0.5 * angle_rad)
    x, y, z = axis.tolist()
    return np.array([x * s, y * s, z * s, math.cos(0.5 * angle_rad)])


def from_matrix(m: FloatArray) -> FloatArray:
    """Unit quaternion of a proper rotation matrix (3, 3), w >= 0 where it can be.

    References:
        Shepperd, "Quaternion from rotation matrix", J. Guidance and Control 1978.
    """
    trace = float(m[0, 0] + m[1, 1] + m[2, 2])
    squares = np.array([m[0, 0], m[1, 1], m[2, 2], trace])
    pick = int(np.argmax(squares))
    q: FloatArray = np.empty(4)
    if pick == 3:
        q[3] = 1 + trace
        q[0], q[1], q[2] = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    else:
        i, j, k = pick, (pick + 1) % 3, (pick + 2) % 3
        q[i] = 1 + m[i, i] - m[j, j] - m[k, k]
        q[j] = m[j, i] + m[i, j]
        q[k] = m[k, i] + m[i, k]
        q[3] = m[k, j] - m[j, k]
    q = normalized(q)
    return -q if q[3] < 0 else q


def from_uniform(u: FloatArray) -> FloatArray:
    """Uniformly random rotation from three uniform numbers in [0, 1).

    References:
        Shoemake, "Uniform random rotations", Graphics Gems III, 1992.
    """
    share, first, second = u.tolist()
    a, b = math.sqrt(1 - share), math.sqrt(share)
    t1, t2 = 2 * math.pi * first, 2 * math.pi * second
    return np.array([a * math.sin(t1), a * math.cos(t1), b * math.sin(t2), b * math.cos(t2)])


def convex_polygon(points: FloatArray) -> FloatArray:
    """(m, 2) corners of the convex hull, counter-clockwise (Andrew's monotone chain)."""
    unique = sorted(set(map(tuple, points.tolist())))
    if len(unique) < 3:
        return np.array(unique).reshape(-1, 2)
    chains = []
    for ordered in (unique, unique[::-1]):
        chain: list[tuple[float, ...]] = []
        for point in ordered:
            while len(chain) >= 2 and _cross(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return np.array(chains[0] + chains[1])


def inside_margin(point: FloatArray, points: FloatArray) -> float:
    """How far a point lies inside the convex hull of others in the plane.

    Returns:
        The distance to the nearest edge; negative outside, and for fewer than
        three corners (no area: nothing stands on a line).
    """
    polygon = convex_polygon(points)
    if len(polygon) < 3:
        return -math.inf if len(polygon) == 0 else -1e-9 - _to_line(point, polygon)
    edges = np.roll(polygon, -1, axis=0) - polygon
    lengths = np.sqrt((edges**2).sum(axis=1))
    to_point = point - polygon
    inward = edges[:, 0] * to_point[:, 1] - edges[:, 1] * to_point[:, 0]
    return float((inward / lengths).min())


def plane_axes(normal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two unit vectors at right angles to a unit vector and to each other."""
    first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    first /= np.sqrt((first**2).sum())
    return first, np.cross(normal, first)


def _to_line(point: FloatArray, ends: FloatArray) -> float:
    a, b = ends[0], ends[-1]
    along = b - a
    square = float((along**2).sum())
    t = 0.0 if square == 0 else min(1.0, max(0.0, float(((point - a) * along).sum()) / square))
    return math.sqrt(float(((point - a - t * along) ** 2).sum()))


def _cross(o: tuple[float, ...], a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def separation(
    a: FloatArray, b: FloatArray, cutoff_m: float = math.inf
) -> tuple[float, FloatArray]:
    """The gap between two convex hulls and where it is.

    Args:
        a: (n, 3) corners of the one [m].
        b: (m, 3) corners of the other [m].
        cutoff_m: the search ends where the gap is surely larger; what it has come to is too.

    Returns:
        The distance [m], 0 where the hulls overlap, and the (3,) point half-way
        between the two nearest points.
    """
    pairs = [(0, 0)]
    corners = [a[0] - b[0]]
    weights = np.array([1.0])
    scale = float(np.abs(a).max() + np.abs(b).max()) ** 2
    for _ in range(_MAX_STEPS):
        nearest = weights @ np.array(corners)
        pair = int(np.argmin(a @ nearest)), int(np.argmax(b @ nearest))
        corner = a[pair[0]] - b[pair[1]]
        square, along = float(nearest @ nearest), float(nearest @ corner)
        if square - along <= _RELATIVE_ERROR * scale or pair in pairs:
            break
        if along > cutoff_m * math.sqrt(square):  # no point of the difference is nearer than this
            break
        pairs.append(pair)
        corners.append(corner)
        weights = np.append(weights, 0.0)
        pairs, corners, weights = _least_norm(pairs, corners, weights)
    nearest = weights @ np.array(corners)
    on_a = weights @ a[[i for i, _ in pairs]]
    return float(np.sqrt(nearest @ nearest)), np.asarray(on_a - 0.5 * nearest)


def _least_norm(
    pairs: list[tuple[int, int]], corners: list[FloatArray], weights: FloatArray
) -> tuple[list[tuple[int, int]], list[FloatArray], FloatArray]:
    """The corners that carry the point of least norm of their hull, and its weights."""
    while True:
        affine = _affine_weights(np.array(corners))
        if (affine > 0).all():
            return pairs, corners, affine
        falling = affine <= 0
        steps = weights[falling] / np.maximum(weights[falling] - affine[falling], 1e-300)
        step = float(steps.min(initial=1.0))
        weights = (1 - step) * weights + step * affine
        keep = weights > 1e-14
        if keep.all():  # rounding: let go of the least
            keep[int(np.argmin(weights))] = False
        pairs = [pair for pair, kept in zip(pairs, keep, strict=True) if kept]
        corners = [corner for corner, kept in zip(corners, keep, strict=True) if kept]
        weights = weights[keep] / weights[keep].sum()


def _affine_weights(corners: FloatArray) -> FloatArray:
    """Weights, summing to 1, of the least-norm point of the corners' affine hull."""
    first, others = corners[0], corners[1:] - corners[0]
    if len(others) == 0:
        return np.array([1.0])
    solved = np.linalg.lstsq(others.T, -first, rcond=None)[0]
    return np.concatenate([[1.0 - solved.sum()], solved])

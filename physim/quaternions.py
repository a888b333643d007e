"""Quaternion arithmetic, scalar last, without a linear-algebra library call.

Plain arithmetic keeps a trajectory's bits independent of the BLAS in use. The first functions take
and give plain numbers; `compiled` makes machine code of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from physim.types import FloatArray, Quat, Triple


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

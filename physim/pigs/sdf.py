"""Signed distance functions of a few solids, negative inside.

Every function takes points of shape (n, 3) and returns (n,), in the unit of the
points. Ellipsoid and cone are first-order distances: exact at the surface.

References:
    Hart, "Sphere tracing", The Visual Computer 1996 (implicit distance fields).
"""

from __future__ import annotations

import numpy as np

from physim.values import FloatArray


def dot(a: FloatArray, b: FloatArray) -> FloatArray:
    """Row by row scalar product."""
    return np.asarray(np.einsum("...i,...i->...", a, b))


def ellipsoid(points: FloatArray, center: FloatArray, radii: FloatArray) -> FloatArray:
    """Distance to an ellipsoid with axes along x, y, z, to first order at the surface."""
    p = (points - center) / radii
    k0 = np.sqrt(dot(p, p))
    k1 = np.sqrt(dot(p / radii, p / radii))
    return np.asarray(k0 * (k0 - 1.0) / np.maximum(k1, 1e-9))


def cone(
    points: FloatArray, a: FloatArray, b: FloatArray, radius_a: float, radius_b: float
) -> FloatArray:
    """A rod from `a` to `b` with round ends whose radius changes linearly."""
    axis = b - a
    t = np.clip((points - a) @ axis / float(axis @ axis), 0.0, 1.0)
    away = points - a - t[:, None] * axis
    slope = (radius_a - radius_b) / float(np.sqrt(axis @ axis))
    return np.asarray(
        (np.sqrt(dot(away, away)) - radius_a - t * (radius_b - radius_a)) / np.sqrt(1 + slope**2)
    )


def disc_ended_cone(
    points: FloatArray, x0: float, x1: float, z: float, radius0: float, radius1: float, edge: float
) -> FloatArray:
    """A truncated cone along x, centred on y = 0 and height `z`, its edge at x1 rounded."""
    slope = (radius1 - radius0) / (x1 - x0)
    radial = np.hypot(points[:, 1], points[:, 2] - z)
    side = (radial - radius0 - slope * (points[:, 0] - x0)) / np.sqrt(1 + slope**2) + edge
    end = np.maximum(points[:, 0] - x1, x0 - points[:, 0]) + edge
    outside = np.hypot(np.maximum(side, 0), np.maximum(end, 0))
    return np.asarray(np.minimum(np.maximum(side, end), 0) + outside - edge)


def flap(points: FloatArray, corners: FloatArray, thickness: float, tip: float) -> FloatArray:
    """A flat convex plate with round edges that thins out.

    Args:
        points: (n, 3).
        corners: (4, 3) in one plane; the first two are the root, the others the tip.
        thickness: at the root.
        tip: thickness at the tip, relative to the root.
    """
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    normal = normal / np.sqrt(normal @ normal)
    inside = np.ones(len(points), dtype=bool)
    nearest = np.full(len(points), np.inf)
    for i in range(4):
        start, edge = corners[i], corners[(i + 1) % 4] - corners[i]
        relative = points - start
        t = np.clip(relative @ edge / float(edge @ edge), 0.0, 1.0)
        away = relative - t[:, None] * edge
        nearest = np.minimum(nearest, dot(away, away))
        inside &= relative @ np.cross(normal, edge) >= 0
    height = (points - corners[0]) @ normal
    root = 0.5 * (corners[0] + corners[1])
    axis = 0.5 * (corners[2] + corners[3]) - root
    outward = np.clip((points - root) @ axis / float(axis @ axis), 0.0, 1.0)
    half = 0.5 * thickness * (1.0 - (1.0 - tip) * outward)
    return np.asarray(np.sqrt(np.where(inside, height**2, nearest)) - half)


def ring(
    points: FloatArray, center: FloatArray, axis: FloatArray, radius: float, tube: float
) -> FloatArray:
    """A torus about the unit vector `axis`."""
    p = points - center
    along = p @ axis
    across = np.sqrt(np.maximum(dot(p, p) - along**2, 0.0))
    return np.asarray(np.hypot(across - radius, along) - tube)


def smooth_union(a: FloatArray, b: FloatArray, width: float) -> FloatArray:
    """Union with a fillet; `width` is the distance over which the two blend.

    References:
        Quilez, "Smooth minimum" (quadratic polynomial form).
    """
    h = np.maximum(width - np.abs(a - b), 0.0) / width
    return np.asarray(np.minimum(a, b) - 0.25 * width * h * h)

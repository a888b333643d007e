"""The standard pig's surface: one signed distance field from the named numbers.

Signed distance functions of a few solids, negative inside.

Every function takes points of shape (n, 3) and returns (n,), in the unit of the
points. Ellipsoid and cone are first-order distances: exact at the surface.

References:
    Hart, "Sphere tracing", The Visual Computer 1996 (implicit distance fields).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from physim.pigs.shape import PigShape
from physim.types import ExactValue, FloatArray

# Fillets [mm]. Body widths are large, because the body's collision parts follow the blended
# surface; where a limb meets the body the parts do not, so those stay small.
TRUNK_BLEND, HEAD_BLEND, SNOUT_BLEND = 8.0, 4.0, 2.3
EAR_BLEND, LEG_BLEND, TAIL_BLEND = 0.02, 0.02, 0.02
EAR_TIP = 0.6  # thickness of an ear at its tip, relative to the root
SNOUT_EDGE_MM = 0.5
SNOUT_TAPER = 1.6  # radius in the middle of the head, relative to the disc
LEGS = ("front_left", "front_right", "hind_left", "hind_right")


@dataclass(frozen=True, eq=False)
class Leg(ExactValue):
    """A tapered rod from the hip to the middle of the sole [mm]."""

    hip: FloatArray
    sole: FloatArray
    hip_radius: float
    sole_radius: float


def leg(shape: PigShape, name: str) -> Leg:
    """One of `LEGS`."""
    x = float(getattr(shape, f"{name}_x_mm"))
    y = float(getattr(shape, f"{name}_y_mm")) * (1 if name.endswith("left") else -1)
    # Hips keep inside the body: a foot that reaches far out leans its leg.
    middle = shape.shoulder_x_mm if name.startswith("front") else shape.rump_x_mm
    hip_x = x + 0.35 * (middle - x)
    hip = np.array([hip_x, y * shape.hip_spread, shape.hip_z_mm])
    return Leg(hip, np.array([x, y, 0.0]), shape.hip_radius_mm, shape.foot_radius_mm)


def ear_corners(shape: PigShape, side: int) -> FloatArray:
    """(4, 3) root back, root front, tip front and tip back of an ear [mm].

    Args:
        shape: the parameters.
        side: 1 left, -1 right; the right ear's corners come in the opposite order.
    """
    turn = math.radians(shape.ear_turn_deg)
    along = 0.5 * np.array([math.cos(turn), 0.0, math.sin(turn)])
    root = np.array([shape.ear_root_x_mm, shape.ear_root_y_mm, shape.ear_root_z_mm])
    tip = np.array([shape.ear_tip_x_mm, shape.ear_tip_y_mm, shape.ear_tip_z_mm])
    if side > 0:
        tip += [shape.left_ear_forward_mm, shape.left_ear_out_mm, shape.left_ear_up_mm]
    root_half, tip_half = shape.ear_root_width_mm * along, shape.ear_tip_width_mm * along
    corners = np.stack([root - root_half, root + root_half, tip + tip_half, tip - tip_half])
    corners = corners * np.array([1.0, side, 1.0])
    return np.asarray(corners if side > 0 else corners[[1, 0, 3, 2]])


def core(shape: PigShape, points: FloatArray) -> FloatArray:
    """Rump, shoulders, head and snout [mm]: (n, 3) -> (n,)."""

    def quarter(name: str) -> FloatArray:
        x, z, length, width, height = (
            float(getattr(shape, f"{name}_{key}_mm"))
            for key in ("x", "z", "length", "width", "height")
        )
        radii = 0.5 * np.array([length, width, height])
        return ellipsoid(points, np.array([x, 0.0, z]), radii)

    body = smooth_union(quarter("rump"), quarter("shoulder"), TRUNK_BLEND)
    body = smooth_union(body, quarter("head"), HEAD_BLEND)
    snout = disc_ended_cone(
        points + snout_lean(shape, points)[:, None] * np.array([1.0, 0.0, 0.0]),
        shape.head_x_mm,
        shape.snout_x_mm,
        shape.snout_z_mm,
        SNOUT_TAPER * shape.snout_radius_mm,
        shape.snout_radius_mm,
        SNOUT_EDGE_MM,
    )
    return smooth_union(body, snout, SNOUT_BLEND)


def snout_lean(shape: PigShape, points: FloatArray) -> FloatArray:
    """How far behind a vertical plane the tilted disc lies at each point's height [mm]."""
    return np.asarray(
        math.tan(math.radians(shape.snout_tilt_deg)) * (points[:, 2] - shape.snout_z_mm)
    )


def ears(shape: PigShape, points: FloatArray) -> FloatArray:
    """Both ears [mm]: (n, 3) -> (n,)."""
    left, right = (
        flap(points, ear_corners(shape, side), shape.ear_thickness_mm, EAR_TIP) for side in (1, -1)
    )
    return np.minimum(left, right)


def one_leg(shape: PigShape, name: str, points: FloatArray) -> FloatArray:
    """One leg, not yet cut off at the sole [mm]: (n, 3) -> (n,)."""
    it = leg(shape, name)
    return cone(points, it.hip, it.sole, it.hip_radius, it.sole_radius)


def tail_frame(shape: PigShape) -> tuple[FloatArray, FloatArray, float]:
    """Centre, axis (unit, pointing out of the rump) and tube radius of the curl [mm]."""
    center = np.array([shape.tail_x_mm, 0.0, shape.tail_z_mm])
    out = center - np.array([shape.rump_x_mm, 0.0, shape.rump_z_mm])
    radii = np.array([shape.rump_length_mm, shape.rump_width_mm, shape.rump_height_mm])
    normal = out / radii**2
    return center, normal / np.sqrt(normal @ normal), 0.45 * shape.tail_radius_mm


def tail(shape: PigShape, points: FloatArray) -> FloatArray:
    """A small curl: a ring with a shallow dimple in its middle [mm]: (n, 3) -> (n,)."""
    center, axis, tube = tail_frame(shape)
    curl = ring(points, center, axis, shape.tail_radius_mm - tube, tube)
    stem = cone(points, center - 2.0 * axis, center, shape.tail_radius_mm, 0.6 * tube)
    return smooth_union(curl, stem, TAIL_BLEND)


def pig(shape: PigShape, points: FloatArray) -> FloatArray:
    """The whole pig, cut off at the soles' plane z = 0 [mm]: (n, 3) -> (n,)."""
    field = smooth_union(core(shape, points), ears(shape, points), EAR_BLEND)
    for name in LEGS:
        field = smooth_union(field, one_leg(shape, name, points), LEG_BLEND)
    field = smooth_union(field, tail(shape, points), TAIL_BLEND)
    return np.maximum(field, -points[:, 2])


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

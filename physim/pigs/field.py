"""The standard pig's surface: one signed distance field from the named numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from physim.pigs import sdf
from physim.pigs.shape import PigShape
from physim.values import ExactValue, FloatArray

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
        return sdf.ellipsoid(points, np.array([x, 0.0, z]), radii)

    body = sdf.smooth_union(quarter("rump"), quarter("shoulder"), TRUNK_BLEND)
    body = sdf.smooth_union(body, quarter("head"), HEAD_BLEND)
    snout = sdf.disc_ended_cone(
        points + snout_lean(shape, points)[:, None] * np.array([1.0, 0.0, 0.0]),
        shape.head_x_mm,
        shape.snout_x_mm,
        shape.snout_z_mm,
        SNOUT_TAPER * shape.snout_radius_mm,
        shape.snout_radius_mm,
        SNOUT_EDGE_MM,
    )
    return sdf.smooth_union(body, snout, SNOUT_BLEND)


def snout_lean(shape: PigShape, points: FloatArray) -> FloatArray:
    """How far behind a vertical plane the tilted disc lies at each point's height [mm]."""
    return np.asarray(
        math.tan(math.radians(shape.snout_tilt_deg)) * (points[:, 2] - shape.snout_z_mm)
    )


def ears(shape: PigShape, points: FloatArray) -> FloatArray:
    """Both ears [mm]: (n, 3) -> (n,)."""
    left, right = (
        sdf.flap(points, ear_corners(shape, side), shape.ear_thickness_mm, EAR_TIP)
        for side in (1, -1)
    )
    return np.minimum(left, right)


def one_leg(shape: PigShape, name: str, points: FloatArray) -> FloatArray:
    """One leg, not yet cut off at the sole [mm]: (n, 3) -> (n,)."""
    it = leg(shape, name)
    return sdf.cone(points, it.hip, it.sole, it.hip_radius, it.sole_radius)


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
    curl = sdf.ring(points, center, axis, shape.tail_radius_mm - tube, tube)
    stem = sdf.cone(points, center - 2.0 * axis, center, shape.tail_radius_mm, 0.6 * tube)
    return sdf.smooth_union(curl, stem, TAIL_BLEND)


def pig(shape: PigShape, points: FloatArray) -> FloatArray:
    """The whole pig, cut off at the soles' plane z = 0 [mm]: (n, 3) -> (n,)."""
    field = sdf.smooth_union(core(shape, points), ears(shape, points), EAR_BLEND)
    for name in LEGS:
        field = sdf.smooth_union(field, one_leg(shape, name, points), LEG_BLEND)
    field = sdf.smooth_union(field, tail(shape, points), TAIL_BLEND)
    return np.maximum(field, -points[:, 2])

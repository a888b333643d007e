"""The standard pig as named numbers, and the surface that they make.

Frame while sculpting: x forward, y left, z up; the soles stand on z = 0 and the
body's long axis lies in the plane y = 0. Lengths are in millimetres, as in the
YAML file; everything is multiplied by `scale` at the end.

The surface is one signed distance field: a smooth union of a few solids, negative
inside. Functions that take points of shape (n, 3) return (n,), in mm. Ellipsoid and
cone are first-order distances: exact at the surface.

References:
    Hart, "Sphere tracing", The Visual Computer 1996 (implicit distance fields).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from physim import config
from physim.types import FloatArray

SCULPTOR = 2  # raise when the same parameters give another form
_LIMIT_MM = 60.0  # a typing slip in a unit should fail here, not in the mesher
_RANGES = {
    "scale": (0.1, 50.0),
    "hip_z_mm": (3.0, _LIMIT_MM),  # above the feet, which are 2 mm high
    "hip_spread": (0.0, 3.0),
}
# Fillets [mm]. Body widths are large, because the body's collision parts follow the blended
# surface; where a limb meets the body the parts do not, so those stay small.
_TRUNK_BLEND, _HEAD_BLEND, _SNOUT_BLEND, _LIMB_BLEND = 8.0, 4.0, 2.3, 0.02
EAR_TIP = 0.6  # thickness of an ear at its tip, relative to the root
SNOUT_EDGE_MM = 0.5
SNOUT_TAPER = 1.6  # radius in the middle of the head, relative to the disc
LEGS = ("front_left", "front_right", "hind_left", "hind_right")


@dataclass(frozen=True)
class PigShape:
    """What a sculptor would measure on the toy.

    Attributes:
        scale: factor on every length; 1 is the toy of about 40 mm.
        rump_x_mm, rump_z_mm, rump_length_mm, rump_width_mm, rump_height_mm: centre and full
            axes of the ellipsoid of the hind quarters.
        shoulder_x_mm, ...: the same for the fore quarters.
        head_x_mm, ...: the same for the head.
        snout_x_mm: where the flat disc stands.
        snout_z_mm: height of the disc's centre.
        snout_radius_mm: radius of the disc.
        snout_tilt_deg: the disc faces this much upwards.
        ear_root_x_mm, ear_root_y_mm, ear_root_z_mm: middle of the ear's root (left ear; the right
            one is its mirror image).
        ear_root_width_mm: length of the root.
        ear_turn_deg: turn of the root about the y axis; 0 lies along x, 90 upright.
        ear_tip_x_mm, ear_tip_y_mm, ear_tip_z_mm: middle of the blunt tip.
        ear_tip_width_mm: length of the tip's edge.
        left_ear_forward_mm, left_ear_out_mm, left_ear_up_mm: how the left tip differs from the
            right one's mirror image (an assumption: it makes the leaning jowler one-sided).
        ear_thickness_mm: of the flap.
        foot_radius_mm: of a sole.
        hip_radius_mm: of a leg where it enters the body.
        hip_z_mm: height of that place.
        hip_spread: y of the hips as a fraction of the feet's.
        front_left_x_mm, front_left_y_mm, ...: centres of the four soles; y is counted outwards.
        tail_x_mm, tail_z_mm: centre of the curl.
        tail_radius_mm: outer radius of the curl.
        dot_x_mm, dot_z_mm, dot_radius_mm: the coloured dot on the right flank, flush.
    """

    scale: float = 1.0
    rump_x_mm: float = -8.5
    rump_z_mm: float = 11.5
    rump_length_mm: float = 18.0
    rump_width_mm: float = 15.0
    rump_height_mm: float = 14.5
    shoulder_x_mm: float = 3.5
    shoulder_z_mm: float = 11.3
    shoulder_length_mm: float = 18.0
    shoulder_width_mm: float = 14.5
    shoulder_height_mm: float = 13.6
    head_x_mm: float = 11.5
    head_z_mm: float = 11.5
    head_length_mm: float = 12.0
    head_width_mm: float = 12.0
    head_height_mm: float = 11.5
    snout_x_mm: float = 20.5
    snout_z_mm: float = 9.5
    snout_radius_mm: float = 3.2
    snout_tilt_deg: float = 0.0
    ear_root_x_mm: float = 9.0
    ear_root_y_mm: float = 5.0
    ear_root_z_mm: float = 15.0
    ear_root_width_mm: float = 6.0
    ear_turn_deg: float = 30.0
    ear_tip_x_mm: float = 9.0
    ear_tip_y_mm: float = 11.0
    ear_tip_z_mm: float = 17.0
    ear_tip_width_mm: float = 2.5
    left_ear_forward_mm: float = 0.0
    left_ear_out_mm: float = 0.0
    left_ear_up_mm: float = 0.0
    ear_thickness_mm: float = 1.8
    foot_radius_mm: float = 1.8
    hip_radius_mm: float = 2.8
    hip_z_mm: float = 8.5
    hip_spread: float = 0.8
    front_left_x_mm: float = 4.5
    front_left_y_mm: float = 5.0
    front_right_x_mm: float = 8.0
    front_right_y_mm: float = 5.0
    hind_left_x_mm: float = -8.0
    hind_left_y_mm: float = 5.0
    hind_right_x_mm: float = -14.0
    hind_right_y_mm: float = 5.0
    tail_x_mm: float = -14.5
    tail_z_mm: float = 17.5
    tail_radius_mm: float = 1.7
    dot_x_mm: float = -3.0
    dot_z_mm: float = 12.0
    dot_radius_mm: float = 2.0

    def fingerprint(self) -> str:
        """Hash of all parameters; files built from other parameters have another one."""
        text = json.dumps({"sculptor": SCULPTOR, **asdict(self)}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def ellipsoid(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Centre and half axes, (3,) each, of the rump, the shoulder or the head [mm]."""
        x, z, length, width, height = (
            float(getattr(self, f"{name}_{key}_mm"))
            for key in ("x", "z", "length", "width", "height")
        )
        return np.array([x, 0.0, z]), 0.5 * np.array([length, width, height])

    def leg(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Hip and middle of the sole, (3,) each, of one of `LEGS` [mm]."""
        x = float(getattr(self, f"{name}_x_mm"))
        y = float(getattr(self, f"{name}_y_mm")) * (1 if name.endswith("left") else -1)
        # Hips keep inside the body: a foot that reaches far out leans its leg.
        middle = self.shoulder_x_mm if name.startswith("front") else self.rump_x_mm
        hip = np.array([x + 0.35 * (middle - x), y * self.hip_spread, self.hip_z_mm])
        return hip, np.array([x, y, 0.0])

    def ear(self, side: int) -> FloatArray:
        """(4, 3) root back, root front, tip front and tip back of an ear [mm].

        Of the left one at `side` 1; the right one's (-1) come in the opposite order.
        """
        turn = math.radians(self.ear_turn_deg)
        along = 0.5 * np.array([math.cos(turn), 0.0, math.sin(turn)])
        root = np.array([self.ear_root_x_mm, self.ear_root_y_mm, self.ear_root_z_mm])
        tip = np.array([self.ear_tip_x_mm, self.ear_tip_y_mm, self.ear_tip_z_mm])
        if side > 0:
            tip += [self.left_ear_forward_mm, self.left_ear_out_mm, self.left_ear_up_mm]
        root_half, tip_half = self.ear_root_width_mm * along, self.ear_tip_width_mm * along
        corners = np.stack([root - root_half, root + root_half, tip + tip_half, tip - tip_half])
        corners = corners * np.array([1.0, side, 1.0])
        return np.asarray(corners if side > 0 else corners[[1, 0, 3, 2]])

    def tail(self) -> tuple[FloatArray, FloatArray, float]:
        """Centre, axis (unit, pointing out of the rump) and tube radius of the curl [mm]."""
        center = np.array([self.tail_x_mm, 0.0, self.tail_z_mm])
        rump, radii = self.ellipsoid("rump")
        normal = (center - rump) / radii**2
        return center, normal / np.sqrt(normal @ normal), 0.45 * self.tail_radius_mm

    def snout_lean(self, points: FloatArray) -> FloatArray:
        """How far behind a vertical plane the tilted disc lies at each point's height [mm]."""
        tilt = math.tan(math.radians(self.snout_tilt_deg))
        return np.asarray(tilt * (points[:, 2] - self.snout_z_mm))


SHAPE_KEYS = tuple(f.name for f in fields(PigShape))


def shape_from_mapping(data: Mapping[str, Any], where: str) -> PigShape:
    """Reads the parameters; what is not given keeps its default.

    Raises:
        ConfigError: unknown keys, or values that are not usable numbers.
    """
    config.check_keys(data, SHAPE_KEYS, where)
    return PigShape(**{key: config.number_at(data, key, where, *shape_range(key)) for key in data})


def shape_range(key: str) -> tuple[float, float]:
    """The least and the largest value of a parameter."""
    if key in _RANGES:
        return _RANGES[key]
    if key.endswith("_deg"):
        return -180.0, 180.0
    size = key.endswith(("radius_mm", "length_mm", "width_mm", "height_mm", "thickness_mm"))
    return (0.2 if size else -_LIMIT_MM), _LIMIT_MM


def whole_pig(shape: PigShape, points: FloatArray) -> FloatArray:
    """The whole pig, cut off at the soles' plane z = 0."""
    flaps = [_flap(points, shape.ear(side), shape.ear_thickness_mm) for side in (1, -1)]
    field = _union(body(shape, points), np.minimum(*flaps), _LIMB_BLEND)
    for name in LEGS:
        field = _union(field, one_leg(shape, name, points), _LIMB_BLEND)
    field = _union(field, _curl(shape, points), _LIMB_BLEND)
    return np.maximum(field, -points[:, 2])


def body(shape: PigShape, points: FloatArray) -> FloatArray:
    """Rump, shoulders, head and snout."""
    rump, shoulder, head = (
        _ellipsoid(points, *shape.ellipsoid(name)) for name in ("rump", "shoulder", "head")
    )
    trunk = _union(_union(rump, shoulder, _TRUNK_BLEND), head, _HEAD_BLEND)
    upright = points + shape.snout_lean(points)[:, None] * np.array([1.0, 0.0, 0.0])
    return _union(trunk, _snout(shape, upright), _SNOUT_BLEND)


def one_leg(shape: PigShape, name: str, points: FloatArray) -> FloatArray:
    """One leg, not yet cut off at the sole."""
    hip, sole = shape.leg(name)
    return _cone(points, hip, sole, shape.hip_radius_mm, shape.foot_radius_mm)


def _snout(shape: PigShape, points: FloatArray) -> FloatArray:
    """A truncated cone along x that ends in the disc, whose edge is rounded."""
    edge, x0, x1 = SNOUT_EDGE_MM, shape.head_x_mm, shape.snout_x_mm
    disc, root = shape.snout_radius_mm, SNOUT_TAPER * shape.snout_radius_mm
    slope = (disc - root) / (x1 - x0)
    radial = np.hypot(points[:, 1], points[:, 2] - shape.snout_z_mm)
    side = (radial - root - slope * (points[:, 0] - x0)) / np.sqrt(1 + slope**2) + edge
    end = np.maximum(points[:, 0] - x1, x0 - points[:, 0]) + edge
    outside = np.hypot(np.maximum(side, 0), np.maximum(end, 0))
    return np.asarray(np.minimum(np.maximum(side, end), 0) + outside - edge)


def _curl(shape: PigShape, points: FloatArray) -> FloatArray:
    """The tail: a torus with a shallow dimple in its middle."""
    center, axis, tube = shape.tail()
    p = points - center
    along = p @ axis
    across = np.sqrt(np.maximum(_dot(p, p) - along**2, 0.0))
    ring = np.asarray(np.hypot(across - (shape.tail_radius_mm - tube), along) - tube)
    stem = _cone(points, center - 2.0 * axis, center, shape.tail_radius_mm, 0.6 * tube)
    return _union(ring, stem, _LIMB_BLEND)


def _flap(points: FloatArray, corners: FloatArray, thickness: float) -> FloatArray:
    """A flat convex plate (4, 3) with round edges that thins out from the root to the tip."""
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    normal = normal / np.sqrt(normal @ normal)
    inside = np.ones(len(points), dtype=bool)
    nearest = np.full(len(points), np.inf)
    for i in range(4):
        start, edge = corners[i], corners[(i + 1) % 4] - corners[i]
        relative = points - start
        t = np.clip(relative @ edge / float(edge @ edge), 0.0, 1.0)
        away = relative - t[:, None] * edge
        nearest = np.minimum(nearest, _dot(away, away))
        inside &= relative @ np.cross(normal, edge) >= 0
    height = (points - corners[0]) @ normal
    root = 0.5 * (corners[0] + corners[1])
    axis = 0.5 * (corners[2] + corners[3]) - root
    outward = np.clip((points - root) @ axis / float(axis @ axis), 0.0, 1.0)
    half = 0.5 * thickness * (1.0 - (1.0 - EAR_TIP) * outward)
    return np.asarray(np.sqrt(np.where(inside, height**2, nearest)) - half)


def _ellipsoid(points: FloatArray, center: FloatArray, radii: FloatArray) -> FloatArray:
    """Distance to an ellipsoid with axes along x, y, z."""
    p = (points - center) / radii
    k0 = np.sqrt(_dot(p, p))
    k1 = np.sqrt(_dot(p / radii, p / radii))
    return np.asarray(k0 * (k0 - 1.0) / np.maximum(k1, 1e-9))


def _cone(
    points: FloatArray, a: FloatArray, b: FloatArray, radius_a: float, radius_b: float
) -> FloatArray:
    """A rod from `a` to `b` with round ends whose radius changes linearly."""
    axis = b - a
    t = np.clip((points - a) @ axis / float(axis @ axis), 0.0, 1.0)
    away = points - a - t[:, None] * axis
    slope = (radius_a - radius_b) / float(np.sqrt(axis @ axis))
    distance = np.sqrt(_dot(away, away)) - radius_a - t * (radius_b - radius_a)
    return np.asarray(distance / np.sqrt(1 + slope**2))


def _union(a: FloatArray, b: FloatArray, width: float) -> FloatArray:
    """Union with a fillet; `width` is the distance over which the two blend.

    References:
        Quilez, "Smooth minimum" (quadratic polynomial form).
    """
    h = np.maximum(width - np.abs(a - b), 0.0) / width
    return np.asarray(np.minimum(a, b) - 0.25 * width * h * h)


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    """Row by row scalar product."""
    return np.asarray(np.einsum("...i,...i->...", a, b))

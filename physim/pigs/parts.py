"""Convex collision parts of the standard pig, taken from its distance field."""

from __future__ import annotations

import math

import numpy as np

from physim.pigs import field
from physim.pigs.body import LabelledPoints, body_slices
from physim.pigs.sections import half_way, sections
from physim.pigs.shape import PigShape
from physim.values import FloatArray

LIMB_RING = 8
FOOT_HEIGHT_MM = 2.0
# Where a limb meets the body the surface fills the crease; the parts are a little fuller there.
_FLARE, _ANKLE = 1.07, 1.09  # of the leg above the foot, at its ends
_EAR_RIM, _EAR_ABOVE, _EAR_BELOW = 1.05, 1.25, 1.5  # of the ear's root: half-way would be 1.2
_TAIL_ROOT = 1.1  # of the curl's root, relative to its rim


def convex_parts(shape: PigShape) -> LabelledPoints:
    """Label and hull corners (n, 3) of each collision part [mm], sculpting frame."""
    limbs = tuple(part for name in field.LEGS for part in _leg(shape, name))
    ears = (("left_ear", _ear(shape, 1)), ("right_ear", _ear(shape, -1)))
    parts = (*body_slices(shape), *ears, ("tail", _tail(shape)), *limbs)
    return tuple((label, shape.scale * points) for label, points in parts)


def _ear(shape: PigShape, side: int) -> FloatArray:
    """Twelve corners around the flap: a square rim at the root, two edges at the tip."""
    corners = field.ear_corners(shape, side)
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    normal /= np.sqrt(normal @ normal)
    half = 0.5 * shape.ear_thickness_mm
    # 1.2 is half-way between the inner and the outer square of a round rim.
    tip = 1.2 * half * field.EAR_TIP
    up = math.copysign(1.0, normal[2])
    faces = ((up, _EAR_ABOVE * half), (-up, _EAR_BELOW * half))
    points = []
    for i, corner in enumerate(corners):
        before, after = corner - corners[i - 1], corners[(i + 1) % 4] - corner
        outward = [np.cross(edge, normal) / np.sqrt(edge @ edge) for edge in (before, after)]
        if i >= 2:  # one edge at each corner of the tip: a single clean support
            middle = outward[0] + outward[1]
            outward = [1.15 * middle / np.sqrt(middle @ middle)]
        for sign, root in faces:
            rim, face = (tip, tip) if i >= 2 else (_EAR_RIM * half, root)
            points += [corner + math.sqrt(0.5) * (rim * o + sign * face * normal) for o in outward]
    return np.array(points)


def _tail(shape: PigShape) -> FloatArray:
    """Two octagons around the curl."""
    center, axis, tube = field.tail_frame(shape)
    u = np.array([0.0, 1.0, 0.0])
    v = np.cross(axis, u)
    angle = 2 * math.pi * np.arange(LIMB_RING) / LIMB_RING
    rim = np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * v
    radius = (shape.tail_radius_mm - 0.3 * tube) * half_way(LIMB_RING)
    root = center + _TAIL_ROOT * radius * rim - 2.0 * axis
    return np.concatenate([root, center + radius * rim + 0.8 * tube * axis])


def _leg(shape: PigShape, name: str) -> LabelledPoints:
    """The foot (the last 2 mm) and the rest of the leg up to the hip."""
    it = field.leg(shape, name)
    heights = np.array([0.0, FOOT_HEIGHT_MM, it.hip[2]])
    centers = it.sole + (it.hip - it.sole) * (heights / it.hip[2])[:, None]
    sole, ankle, hip = sections(
        lambda p: field.one_leg(shape, name, p),
        centers,
        np.array([1.0, 0, 0]),
        np.array([0.0, 1, 0]),
        LIMB_RING,
    )
    crown = it.hip + np.array([0.0, 0.0, 0.9 * it.hip_radius])
    hip = it.hip + _FLARE * (hip - it.hip)
    foot = np.concatenate([sole, ankle])
    inner = (ankle[:, 1] - centers[1, 1]) * it.sole[1] < 0.0  # the crease is below the belly
    ankle = centers[1] + np.where(inner, _ANKLE, 1.0)[:, None] * (ankle - centers[1])
    rest = np.concatenate([ankle, hip, crown[None]])
    return (f"{name}_foot", foot), (f"{name}_leg", rest)

"""Convex collision parts of the standard pig, taken from its distance field.

A polygon inscribed in a round section is too small and one drawn around it too
large; corners are set half-way, so that the parts are as often outside the
surface as inside and the pig's size is not biased.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from physim.pigs import field
from physim.pigs.shape import PigShape
from physim.values import FloatArray

Field = Callable[[FloatArray], FloatArray]
LabelledPoints = tuple[tuple[str, FloatArray], ...]

RING = 10  # corners of a body section: 0.2 mm off a circle of 8 mm, either way
LIMB_RING = 6
FOOT_HEIGHT_MM = 2.0
_REACH_MM, _STEPS, _ROUNDS = 16.0, 9, 4


def _half_way(corners: int) -> float:
    """Factor on a corner's radius that puts a regular polygon half inside its circle."""
    return 1.0 + 0.5 * (1.0 - math.cos(math.pi / corners))


def _cast(solid: Field, origins: FloatArray, directions: FloatArray) -> FloatArray:
    """Distances (n,) from inside `solid` to its surface along unit directions.

    References:
        Dowell and Jarratt, "A modified regula falsi method", BIT 1971 (the Illinois rule).
    """
    low = np.zeros(len(origins))
    high = np.full(len(origins), _REACH_MM)
    f_low, f_high = solid(origins), solid(origins + high[:, None] * directions)
    for _ in range(_STEPS):
        between = (low * f_high - high * f_low) / (f_high - f_low)
        value = solid(origins + between[:, None] * directions)
        inside = value < 0
        f_low, f_high = (
            np.where(inside, value, 0.5 * f_low),
            np.where(inside, 0.5 * f_high, value),
        )
        low, high = np.where(inside, between, low), np.where(inside, high, between)
    return np.asarray((low * f_high - high * f_low) / (f_high - f_low))


def _sections(solid: Field, centers: FloatArray, u: FloatArray, v: FloatArray, n: int) -> FloatArray:
    """(m, n, 3) corners of sections of `solid` about `centers` (m, 3), in the plane of u and v."""
    angle = 2 * math.pi * np.arange(n) / n
    spokes = np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * v
    origins = np.repeat(centers, n, axis=0)
    directions = np.tile(spokes, (len(centers), 1))
    reach = _cast(solid, origins, directions) * _half_way(n)
    return (origins + reach[:, None] * directions).reshape(len(centers), n, 3)


def _balance(shape: PigShape, centers: FloatArray, rings: FloatArray) -> FloatArray:
    """Moves the corners of (m, n, 3) rings along their spokes until errors balance.

    Around each corner the flat quads cut into the surface as far as the corner stands out of it.
    The first ring and the last are left alone along the body, where the quads end.
    """
    for _ in range(_ROUNDS):
        m, n, _ = rings.shape
        onward = np.roll(rings, -1, axis=1)
        sides = 0.5 * (rings + onward)
        spans = 0.5 * (rings[1:] + rings[:-1])
        quads = 0.5 * (sides[1:] + sides[:-1])
        samples = np.concatenate([rings, sides, spans, quads])
        gap = field.core(shape, samples.reshape(-1, 3)).reshape(-1, n)
        at, side, span, quad = np.split(gap, [m, 2 * m, 3 * m - 1])
        pad = [np.full((1, n), np.nan)]
        around = [at, side, np.roll(side, 1, axis=1)]
        for value in (span, quad, np.roll(quad, 1, axis=1)):
            around += [np.concatenate([value, *pad]), np.concatenate([*pad, value])]
        spread = np.stack(around)
        shift = 0.5 * (np.nanmax(spread, axis=0) + np.nanmin(spread, axis=0))
        spokes = rings - centers[:, None, :]
        spokes /= np.sqrt(np.einsum("ijk,ijk->ij", spokes, spokes))[..., None]
        rings = rings - shift[..., None] * spokes
    return rings


def _body(shape: PigShape) -> LabelledPoints:
    """Snout, head, shoulders, trunk and rump: slices of the body, cut across x."""
    tail_end = shape.rump_x_mm - 0.5 * shape.rump_length_mm
    neck = 0.5 * (shape.shoulder_x_mm + shape.head_x_mm) + 1.0
    stations = {
        "end": tail_end + 0.03 * shape.rump_length_mm,
        "rear": tail_end + 0.16 * shape.rump_length_mm,
        "hind": shape.rump_x_mm - 0.06 * shape.rump_length_mm,
        "waist": 0.5 * (shape.rump_x_mm + shape.shoulder_x_mm),
        "fore": shape.shoulder_x_mm,
        "neck": neck,
        "cheek": shape.head_x_mm + 0.5,
        "face": shape.head_x_mm + 0.36 * shape.head_length_mm,
        "disc": shape.snout_x_mm - field.SNOUT_EDGE_MM,
    }
    names, xs = list(stations), np.array(list(stations.values()))
    heights = np.interp(
        xs,
        [shape.rump_x_mm, shape.shoulder_x_mm, shape.head_x_mm, stations["face"]],
        [shape.rump_z_mm, shape.shoulder_z_mm, shape.head_z_mm, shape.snout_z_mm],
    )
    centers = np.stack([xs, np.zeros_like(xs), heights], axis=1)
    rings = _sections(
        lambda p: field.core(shape, p), centers, np.array([0.0, 0, 1]), np.array([0.0, 1, 0]), RING
    )
    at = dict(zip(names, _balance(shape, centers, rings), strict=True))
    at["disc"] = rings[-1] + np.array([field.SNOUT_EDGE_MM, 0.0, 0.0])
    # One corner at the very end, not a flat ring: nothing to sit on.
    at["end"] = np.array([[tail_end - 0.15, 0.0, shape.rump_z_mm]])
    slices = {
        "snout": ("face", "disc"),
        "head": ("neck", "cheek", "face"),
        "shoulders": ("fore", "neck"),
        "trunk": ("hind", "waist", "fore"),
        "rump": ("end", "rear", "hind"),
    }
    return tuple(
        (label, np.concatenate([at[name] for name in names])) for label, names in slices.items()
    )


def _ear(shape: PigShape, side: int) -> FloatArray:
    """Ten corners around the flap: a square rim at the root, an edge at the tip."""
    corners = field.ear_corners(shape, side)
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    normal /= np.sqrt(normal @ normal)
    reach = 0.5 * shape.ear_thickness_mm * 1.2  # half-way between the inner and the outer square
    points = []
    for i, corner in enumerate(corners):
        before, after = corner - corners[i - 1], corners[(i + 1) % 3] - corner
        outward = [np.cross(edge, normal) / np.sqrt(edge @ edge) for edge in (before, after)]
        if i == 2:  # one edge at the tip: a single clean support
            middle = outward[0] + outward[1]
            outward = [1.15 * middle / np.sqrt(middle @ middle)]
        points += [corner + reach * math.sqrt(0.5) * (o + s * normal) for o in outward for s in (1, -1)]
    return np.array(points)


def _tail(shape: PigShape) -> FloatArray:
    """Two hexagons around the curl."""
    center, axis, tube = field.tail_frame(shape)
    u = np.array([0.0, 1.0, 0.0])
    v = np.cross(axis, u)
    angle = 2 * math.pi * np.arange(LIMB_RING) / LIMB_RING
    rim = np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * v
    radius = (shape.tail_radius_mm - 0.3 * tube) * _half_way(LIMB_RING)
    return np.concatenate([center + radius * rim + h * axis for h in (-2.0, 0.8 * tube)])


def _leg(shape: PigShape, name: str) -> LabelledPoints:
    """The foot (the last 2 mm) and the rest of the leg up to the hip."""
    it = field.leg(shape, name)
    heights = np.array([0.0, FOOT_HEIGHT_MM, it.hip[2]])
    centers = it.sole + (it.hip - it.sole) * (heights / it.hip[2])[:, None]
    sole, ankle, hip = _sections(
        lambda p: field.one_leg(shape, name, p),
        centers,
        np.array([1.0, 0, 0]),
        np.array([0.0, 1, 0]),
        LIMB_RING,
    )
    crown = it.hip + np.array([0.0, 0.0, 0.9 * it.hip_radius])
    foot, rest = np.concatenate([sole, ankle]), np.concatenate([ankle, hip, crown[None]])
    return (f"{name}_foot", foot), (f"{name}_leg", rest)


def convex_parts(shape: PigShape) -> LabelledPoints:
    """Label and hull corners (n, 3) of each collision part [mm], sculpting frame."""
    limbs = tuple(part for name in field.LEGS for part in _leg(shape, name))
    ears = (("left_ear", _ear(shape, 1)), ("right_ear", _ear(shape, -1)))
    parts = (*_body(shape), *ears, ("tail", _tail(shape)), *limbs)
    return tuple((label, shape.scale * points) for label, points in parts)

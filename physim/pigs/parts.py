"""Convex collision parts of the standard pig, taken from its distance field.

A polygon inscribed in a round section is too small and one drawn around it too
large; corners are set half-way, so that a part is as often outside the surface as
inside and the pig's size is not biased.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from physim.pigs.shape import EAR_TIP, LEGS, SNOUT_EDGE_MM, SNOUT_TAPER, PigShape, body, one_leg
from physim.types import FloatArray

LabelledPoints = tuple[tuple[str, FloatArray], ...]
Field = Callable[[FloatArray], FloatArray]
Outline = Callable[[FloatArray], FloatArray]
_LIMB_RING, _BODY_RING = 8, 12  # corners of a section: 0.14 mm off a circle of 8 mm, either way
FOOT_HEIGHT_MM = 2.0
# Where a limb meets the body the surface fills the crease; the parts are a little fuller there.
_FLARE, _ANKLE = 1.07, 1.09  # of the leg above the foot, at its ends
_EAR_RIM, _EAR_ABOVE, _EAR_BELOW = 1.05, 1.25, 1.5  # of the ear's root: half-way would be 1.2
_TAIL_ROOT = 1.1  # of the curl's root, relative to its rim
_ROUNDS = 4  # of balancing; another one moves corners by less than 0.02 mm
_REACH_MM = 16.0  # farther from a body's or limb's axis than any surface
_STEPS = 9  # halve the bracket at least every other step; leaves far less than 0.01 mm


def convex_parts(shape: PigShape) -> LabelledPoints:
    """Label and hull corners (n, 3) of each collision part [mm], sculpting frame."""
    limbs = tuple(part for name in LEGS for part in _leg(shape, name))
    ears = (("left_ear", _ear(shape, 1)), ("right_ear", _ear(shape, -1)))
    parts = (*_body_slices(shape), *ears, ("tail", _tail(shape)), *limbs)
    return tuple((label, shape.scale * points) for label, points in parts)


def _ear(shape: PigShape, side: int) -> FloatArray:
    """Twelve corners around the flap: a square rim at the root, two edges at the tip."""
    corners = shape.ear(side)
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    normal /= np.sqrt(normal @ normal)
    half = 0.5 * shape.ear_thickness_mm
    # 1.2 is half-way between the inner and the outer square of a round rim.
    tip = 1.2 * half * EAR_TIP
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
    center, axis, tube = shape.tail()
    u = np.array([0.0, 1.0, 0.0])
    rim = _spokes(u, np.cross(axis, u), _LIMB_RING)
    radius = (shape.tail_radius_mm - 0.3 * tube) * _half_way(_LIMB_RING)
    root = center + _TAIL_ROOT * radius * rim - 2.0 * axis
    return np.concatenate([root, center + radius * rim + 0.8 * tube * axis])


def _leg(shape: PigShape, name: str) -> LabelledPoints:
    """The foot (the last 2 mm) and the rest of the leg up to the hip."""
    hip, sole = shape.leg(name)
    heights = np.array([0.0, FOOT_HEIGHT_MM, hip[2]])
    centers = sole + (hip - sole) * (heights / hip[2])[:, None]
    x, y = np.array([1.0, 0, 0]), np.array([0.0, 1, 0])
    rings = _sections(lambda p: one_leg(shape, name, p), centers, x, y, _LIMB_RING)
    on_floor, ankle, top = rings
    foot = np.concatenate([on_floor, ankle])
    inner = (ankle[:, 1] - centers[1, 1]) * sole[1] < 0.0  # the crease is below the belly
    ankle = centers[1] + np.where(inner, _ANKLE, 1.0)[:, None] * (ankle - centers[1])
    crown = hip + np.array([0.0, 0.0, 0.9 * shape.hip_radius_mm])
    rest = np.concatenate([ankle, hip + _FLARE * (top - hip), crown[None]])
    return (f"{name}_foot", foot), (f"{name}_leg", rest)


def _body_slices(shape: PigShape) -> LabelledPoints:
    """Snout, head, shoulders, trunk and rump: slices of the body, cut across x."""
    stations = dict(sorted(_stations(shape).items(), key=lambda item: item[1]))
    names, xs = list(stations), np.array(list(stations.values()))
    heights = np.interp(
        xs,
        [shape.rump_x_mm, shape.shoulder_x_mm, shape.head_x_mm, stations["face"]],
        [shape.rump_z_mm, shape.shoulder_z_mm, shape.head_z_mm, shape.snout_z_mm],
    )
    centers = np.stack([xs, np.zeros_like(xs), heights], axis=1)
    z, y = np.array([0.0, 0, 1]), np.array([0.0, 1, 0])
    rings = _sections(lambda p: body(shape, p), centers, z, y, _BODY_RING)
    at = dict(zip(names, _balanced(shape, centers, rings), strict=True))
    at["disc"] = _disc(shape)
    # The very end is one corner, not a flat ring: nothing to sit on.
    pole = np.array([[stations["end"] - 0.05 * shape.rump_length_mm - 0.1, 0.0, shape.rump_z_mm]])
    at["end"] = np.concatenate([pole, at["end"][::2]])
    slices: dict[str, tuple[str, ...]] = {
        "snout": ("face", "disc"),
        "head": ("neck", "cheek", "face"),
        "shoulders": ("waist", "neck"),
        "trunk": ("hind", "waist"),
        "rump": ("end", "rear", "loin", "hind"),
    }
    before_waist = stations["middle"] < stations["waist"]
    slices["trunk" if before_waist else "shoulders"] += ("middle",)
    return tuple(
        (label, np.concatenate([at[name] for name in names])) for label, names in slices.items()
    )


def _disc(shape: PigShape) -> FloatArray:
    """The corners of the snout's flat disc, a little inside for its rounded edge."""
    radius = shape.snout_radius_mm * _half_way(_BODY_RING) - 0.2 * SNOUT_EDGE_MM
    angle = 2 * math.pi * np.arange(_BODY_RING) / _BODY_RING
    y, z = radius * np.sin(angle), shape.snout_z_mm + radius * np.cos(angle)
    points = np.stack([np.full(_BODY_RING, shape.snout_x_mm), y, z], axis=1)
    points[:, 0] -= shape.snout_lean(points)
    return points


def _stations(shape: PigShape) -> dict[str, float]:
    """Where the body is cut, from the tail forward [mm].

    Parts must meet where the outline is hollow: at the waist, the neck and where the snout leaves
    the head.
    """

    def top_of(name: str) -> Outline:
        (x0, _, z0), (length, _, height) = shape.ellipsoid(name)
        return lambda x: z0 + height * np.sqrt(np.maximum(1.0 - ((x - x0) / length) ** 2, 0.0))

    def snout(x: FloatArray) -> FloatArray:
        along = (x - shape.head_x_mm) / (shape.snout_x_mm - shape.head_x_mm)
        taper = SNOUT_TAPER + (1.0 - SNOUT_TAPER) * along
        return np.asarray(shape.snout_z_mm + taper * shape.snout_radius_mm)

    head = top_of("head")
    tail_end = shape.rump_x_mm - 0.5 * shape.rump_length_mm
    disc = shape.snout_x_mm - 2.0 * SNOUT_EDGE_MM
    neck = _meeting(shape.shoulder_x_mm + 2.5, shape.head_x_mm - 1.5, top_of("shoulder"), head)
    face = _meeting(shape.head_x_mm + 1.5, disc - 1.0, head, snout)
    waist = _hollow(shape, shape.rump_x_mm, neck)
    longer = (shape.rump_x_mm, waist) if waist - shape.rump_x_mm > neck - waist else (waist, neck)
    return {
        "end": tail_end + 0.05 * shape.rump_length_mm,
        "rear": tail_end + 0.19 * shape.rump_length_mm,
        "loin": tail_end + 0.34 * shape.rump_length_mm,
        "hind": shape.rump_x_mm,
        "waist": waist,
        "middle": 0.5 * sum(longer),
        "neck": neck,
        "cheek": 0.5 * (neck + face) + 0.3,
        "face": face,
        "disc": disc,
    }


def _meeting(low: float, high: float, first: Outline, second: Outline) -> float:
    """Where, seen from the side, the second outline rises above the first [mm]."""
    xs = np.linspace(low, high, 101)
    after = np.flatnonzero(first(xs) < second(xs))
    return float(xs[after[0]]) if len(after) else high


def _hollow(shape: PigShape, hind: float, neck: float) -> float:
    """Where between two sections the body sinks deepest below a straight line [mm].

    Two convex parts have to meet there; on a body without a waist it is half-way.
    """
    xs = np.linspace(hind, neck, 25)
    heights = np.interp(xs, [hind, neck], [shape.rump_z_mm, shape.head_z_mm])
    centers = np.stack([xs, np.zeros_like(xs), heights], axis=1)
    depth = np.zeros_like(xs)
    for direction in np.array([[0.0, 0, 1], [0, 1, 0], [0, 0, -1]]):
        reach = _cast(lambda p: body(shape, p), centers, np.tile(direction, (len(xs), 1)))
        depth += np.maximum(np.interp(xs, xs[[0, -1]], reach[[0, -1]]) - reach, 0.0)
    if depth.max() < 0.05:
        return 0.5 * (hind + neck)
    return float(np.clip(xs[np.argmax(depth)], hind + 3.0, neck - 2.5))


def _balanced(shape: PigShape, centers: FloatArray, rings: FloatArray) -> FloatArray:
    """The corners of (m, n, 3) rings moved along their spokes until errors balance.

    Around each corner the flat quads cut into the surface as far as the corner stands out of it.
    The first ring and the last are left alone along the body, where the quads end.
    """
    for _ in range(_ROUNDS):
        m, n, _ = rings.shape
        sides = 0.5 * (rings + np.roll(rings, -1, axis=1))
        spans = 0.5 * (rings[1:] + rings[:-1])
        quads = 0.5 * (sides[1:] + sides[:-1])
        samples = np.concatenate([rings, sides, spans, quads])
        gap = body(shape, samples.reshape(-1, 3)).reshape(-1, n)
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


def _half_way(corners: int) -> float:
    """Factor on a corner's radius that puts a regular polygon half inside its circle."""
    return 1.0 + 0.5 * (1.0 - math.cos(math.pi / corners))


def _spokes(u: FloatArray, v: FloatArray, n: int) -> FloatArray:
    """(n, 3) unit vectors all around, in the plane of u and v."""
    angle = 2 * math.pi * np.arange(n) / n
    return np.asarray(np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * v)


def _sections(
    solid: Field, centers: FloatArray, u: FloatArray, v: FloatArray, n: int
) -> FloatArray:
    """(m, n, 3) corners of sections of `solid` about `centers` (m, 3), in the plane of u and v."""
    origins = np.repeat(centers, n, axis=0)
    directions = np.tile(_spokes(u, v, n), (len(centers), 1))
    reach = _cast(solid, origins, directions) * _half_way(n)
    return (origins + reach[:, None] * directions).reshape(len(centers), n, 3)


def _cast(solid: Field, origins: FloatArray, directions: FloatArray) -> FloatArray:
    """Distances (n,) from inside `solid` to its surface along unit directions.

    References:
        Dowell and Jarratt, "A modified regula falsi method", BIT 1971 (the Illinois rule).
    """
    low, high = np.zeros(len(origins)), np.full(len(origins), _REACH_MM)
    f_low, f_high = solid(origins), solid(origins + high[:, None] * directions)
    last = np.full(len(origins), 0)
    for _ in range(_STEPS):
        between = (low * f_high - high * f_low) / (f_high - f_low)
        value = solid(origins + between[:, None] * directions)
        side = np.where(value < 0, 1, -1)
        damp = np.where(side == last, 0.5, 1.0)  # the end that stays put a second time
        low, high = np.where(side > 0, between, low), np.where(side > 0, high, between)
        f_low, f_high = (
            np.where(side > 0, value, damp * f_low),
            np.where(side > 0, damp * f_high, value),
        )
        last = side
    return np.asarray(between)

"""Convex slices of the standard pig's body: rump, trunk, shoulders, head and snout."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from physim.pigs import field
from physim.pigs.sections import cast, half_way, sections
from physim.pigs.shape import PigShape
from physim.values import FloatArray

Outline = Callable[[FloatArray], FloatArray]
LabelledPoints = tuple[tuple[str, FloatArray], ...]

RING = 12  # corners of a section: 0.14 mm off a circle of 8 mm, either way
_ROUNDS = 4  # of balancing; another one moves corners by less than 0.02 mm


def body_slices(shape: PigShape) -> LabelledPoints:
    """Snout, head, shoulders, trunk and rump: slices of the body, cut across x."""
    stations = dict(sorted(_stations(shape).items(), key=lambda item: item[1]))
    names, xs = list(stations), np.array(list(stations.values()))
    heights = np.interp(
        xs,
        [shape.rump_x_mm, shape.shoulder_x_mm, shape.head_x_mm, stations["face"]],
        [shape.rump_z_mm, shape.shoulder_z_mm, shape.head_z_mm, shape.snout_z_mm],
    )
    centers = np.stack([xs, np.zeros_like(xs), heights], axis=1)
    rings = sections(
        lambda p: field.core(shape, p), centers, np.array([0.0, 0, 1]), np.array([0.0, 1, 0]), RING
    )
    at = dict(zip(names, _balance(shape, centers, rings), strict=True))
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
    radius = shape.snout_radius_mm * half_way(RING) - 0.2 * field.SNOUT_EDGE_MM
    angle = 2 * math.pi * np.arange(RING) / RING
    y, z = radius * np.sin(angle), shape.snout_z_mm + radius * np.cos(angle)
    points = np.stack([np.full(RING, shape.snout_x_mm), y, z], axis=1)
    points[:, 0] -= field.snout_lean(shape, points)
    return points


def _stations(shape: PigShape) -> dict[str, float]:
    """Where the body is cut, from the tail forward [mm].

    Parts must meet where the outline is hollow: at the waist, the neck and where the snout leaves
    the head.
    """

    def shoulder(x: FloatArray) -> FloatArray:
        inside = 1.0 - (2.0 * (x - shape.shoulder_x_mm) / shape.shoulder_length_mm) ** 2
        height = 0.5 * shape.shoulder_height_mm * np.sqrt(np.maximum(inside, 0.0))
        return np.asarray(shape.shoulder_z_mm + height)

    def head(x: FloatArray) -> FloatArray:
        inside = 1.0 - (2.0 * (x - shape.head_x_mm) / shape.head_length_mm) ** 2
        height = 0.5 * shape.head_height_mm * np.sqrt(np.maximum(inside, 0.0))
        return np.asarray(shape.head_z_mm + height)

    def snout(x: FloatArray) -> FloatArray:
        along = (x - shape.head_x_mm) / (shape.snout_x_mm - shape.head_x_mm)
        taper = field.SNOUT_TAPER + (1.0 - field.SNOUT_TAPER) * along
        return np.asarray(shape.snout_z_mm + taper * shape.snout_radius_mm)

    tail_end = shape.rump_x_mm - 0.5 * shape.rump_length_mm
    disc = shape.snout_x_mm - 2.0 * field.SNOUT_EDGE_MM
    neck = _meeting(shape.shoulder_x_mm + 2.5, shape.head_x_mm - 1.5, shoulder, head)
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


def _hollow(shape: PigShape, hind: float, neck: float) -> float:
    """Where between two sections the body sinks deepest below a straight line [mm].

    Two convex parts have to meet there; on a body without a waist it is half-way.
    """
    xs = np.linspace(hind, neck, 25)
    heights = np.interp(xs, [hind, neck], [shape.rump_z_mm, shape.head_z_mm])
    centers = np.stack([xs, np.zeros_like(xs), heights], axis=1)
    depth = np.zeros_like(xs)
    for direction in np.array([[0.0, 0, 1], [0, 1, 0], [0, 0, -1]]):
        reach = cast(lambda p: field.core(shape, p), centers, np.tile(direction, (len(xs), 1)))
        depth += np.maximum(np.interp(xs, xs[[0, -1]], reach[[0, -1]]) - reach, 0.0)
    if depth.max() < 0.05:
        return 0.5 * (hind + neck)
    return float(np.clip(xs[np.argmax(depth)], hind + 3.0, neck - 2.5))


def _meeting(low: float, high: float, first: Outline, second: Outline) -> float:
    """Where, seen from the side, the second outline rises above the first [mm]."""
    xs = np.linspace(low, high, 101)
    after = np.flatnonzero(first(xs) < second(xs))
    return float(xs[after[0]]) if len(after) else high


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

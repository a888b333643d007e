"""Light: a bright sky with one large lamp, what a pig hides of it from itself and from the table.

The sky is a fixed set of directions. Of each model it is computed once which of them every vertex
sees past the pig itself, so that a picture only has to add up light. The shadow on the table is
the mean of the shadows of many directions, hence soft where the pig is high above it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from physim.types import ExactValue, FloatArray

DIRECTIONS = 128
LAMP = np.array([-0.38, -0.35, 0.86]) / math.sqrt(0.38**2 + 0.35**2 + 0.86**2)  # towards it
LAMP_SHARPNESS = 24.0  # of the lamp's lobe, exp(sharpness (cos - 1)): about 12 degrees wide
LAMP_LIGHT = np.array([1.62, 1.56, 1.45])  # irradiance on a surface that faces it, linear RGB
SKY_TOP, SKY_RIM = np.array([0.62, 0.66, 0.74]), np.array([0.50, 0.50, 0.52])
BOUNCE = 0.55  # of the table's own light, seen from just above it far from any shadow
_TABLE_RAYS = 40  # directions of the sky in the table's shading
_LAMP_RAYS = 16
_TEXELS = 176  # of the shadow's picture, each way
_BLUR_TEXELS = 1.3


def sphere(number: int) -> FloatArray:
    """(number, 3) directions, evenly spread (Fibonacci's spiral)."""
    k = np.arange(number) + 0.5
    z = 1.0 - 2.0 * k / number
    angle = k * (math.pi * (3.0 - math.sqrt(5.0)))
    flat = np.sqrt(1.0 - z * z)
    return np.stack([flat * np.cos(angle), flat * np.sin(angle), z], axis=1)


def seen_sky(vertices: FloatArray, normals: FloatArray, spacing: float) -> NDArray[np.float32]:
    """(n, DIRECTIONS) cosine of each direction at each vertex, 0 where the pig hides it.

    Args:
        vertices: (n, 3) [m].
        normals: (n, 3) unit normals.
        spacing: typical distance of neighbouring vertices [m]; what is nearer hides nothing.
    """
    directions = sphere(DIRECTIONS)
    steep = np.abs(directions[:, 2:]) >= 0.9
    across = np.cross(directions, np.where(steep, [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]))
    across /= np.sqrt((across**2).sum(axis=1, keepdims=True))
    seen = np.maximum(directions @ normals.T, 0.0, dtype=np.float32)
    cell = vertices.T.astype(np.float32) / np.float32(1.5 * spacing)
    frames = zip(directions, across, np.cross(directions, across), strict=True)
    for number, frame in enumerate(frames):
        depth, x, y = (axis.astype(np.float32) @ cell for axis in frame)
        row = (x - x.min()).astype(np.int32)
        column = (y - y.min()).astype(np.int32)
        index = row * (column.max() + 1) + column
        front = np.full(int(index.max()) + 1, -np.inf, dtype=np.float32)
        np.maximum.at(front, index, depth)
        seen[number] *= depth > front[index] - 4.0 / 1.5
    return np.ascontiguousarray(seen.T)


def lit(
    sky: NDArray[np.float32],
    turn: FloatArray,
    heights_m: FloatArray,
    size_m: float,
    table_color: FloatArray,
) -> FloatArray:
    """(n, 3) light that falls on each vertex of a pig, linear RGB.

    Args:
        sky: of its model (`seen_sky`).
        turn: (3, 3) pig frame to world.
        heights_m: (n,) of the vertices above the table [m].
        size_m: of the pig; nearer to the table than a part of it, the table is dark.
        table_color: (3,) linear RGB.
    """
    world = sphere(DIRECTIONS) @ turn.T
    up = world[:, 2]
    above = np.clip(0.5 + 4.0 * up, 0.0, 1.0)[:, None]
    light = above * (SKY_RIM + np.clip(up, 0.0, 1.0)[:, None] * (SKY_TOP - SKY_RIM))
    light *= 4.0 / DIRECTIONS
    lobe = np.exp(LAMP_SHARPNESS * (world @ LAMP - 1.0))
    light += (lobe / lobe.sum())[:, None] * LAMP_LIGHT
    below = (1.0 - above) * BOUNCE * table_color * (4.0 / DIRECTIONS) * 2.0
    both = sky @ np.concatenate([light, below], axis=1).astype(np.float32)
    open_share = np.clip(heights_m / (0.4 * size_m), 0.0, 1.0)[:, None]
    return np.asarray(both[:, :3] + open_share * both[:, 3:])


@dataclass(frozen=True, eq=False)
class Shade(ExactValue):
    """What light the pigs leave to the table, as a picture of a square of it.

    Attributes:
        corner_m: (2,) of the square [m].
        texel_m: [m].
        light: (texels, texels, 3) light that falls there, linear RGB, by x and y.
    """

    corner_m: FloatArray
    texel_m: float
    light: FloatArray

    @classmethod
    def of(cls, points_m: FloatArray, spacing_m: float) -> Shade:
        """The shade of pigs, given as points all over their surfaces, (n, 3) in the world [m]."""
        above = points_m[points_m[:, 2] > -1e-3]
        if len(above) == 0:
            return cls(np.zeros(2), 1.0, np.broadcast_to(OPEN_LIGHT, (2, 2, 3)))
        high = np.maximum(above[:, 2], 0.0)
        dropped = np.concatenate(
            [above[:, :2], above[:, :2] - high[:, None] * (LAMP / LAMP[2])[:2]]
        )
        low, top = dropped.min(axis=0), dropped.max(axis=0)
        margin = 0.35 * float((top - low).max()) + 0.01
        side = float((top - low).max()) + 2.0 * margin
        texel = max(side / _TEXELS, 0.9 * spacing_m)
        texels = math.ceil(side / texel)
        corner = 0.5 * (low + top) - 0.5 * side
        start = ((above[:, :2] - corner) / texel).T.astype(np.float32)
        rise = (high / texel).astype(np.float32)
        lamp = 1.0 - _shadow(start, rise, _LAMP_SLOPES, texels)
        sky = 1.0 - _shadow(start, rise, _SKY_SLOPES, texels)
        light = lamp[..., None] * _LAMP_ON_TABLE + sky[..., None] * _SKY_ON_TABLE
        return cls(corner, texel, light)


def within(places: FloatArray, half: FloatArray) -> NDArray[np.bool_]:
    """(n,) whether places (n, 2) are in the rectangle about 0 with these half sides."""
    x, y = places[:, 0], places[:, 1]
    return np.asarray((np.abs(x) <= half[0]) & (np.abs(y) <= half[1]))


def _lamp_slopes() -> NDArray[np.float32]:
    """(n, 2) directions (slopes x/z, y/z) over the disc of the lamp, each as bright."""
    k = np.arange(_LAMP_RAYS) + 0.5
    radius = math.tan(math.radians(9.0)) * np.sqrt(k / _LAMP_RAYS)
    angle = k * (math.pi * (3.0 - math.sqrt(5.0)))
    slope = (LAMP / LAMP[2])[:2]
    disc = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return np.asarray(slope + disc, dtype=np.float32)


def _sky_slopes() -> NDArray[np.float32]:
    """(n, 2) slopes over the upper half of the sky, each as bright on the table."""
    k = np.arange(_TABLE_RAYS) + 0.5
    sine = np.sqrt(0.94 * k / _TABLE_RAYS)  # weighted by the cosine
    angle = k * (math.pi * (3.0 - math.sqrt(5.0)))
    slope = sine / np.sqrt(1.0 - sine * sine)
    slopes = np.stack([slope * np.cos(angle), slope * np.sin(angle)], axis=1)
    return np.asarray(slopes, dtype=np.float32)


_LAMP_SLOPES, _SKY_SLOPES = _lamp_slopes(), _sky_slopes()
_LAMP_ON_TABLE = LAMP[2] * LAMP_LIGHT
_SKY_ON_TABLE = SKY_RIM + 0.6 * (SKY_TOP - SKY_RIM)
OPEN_LIGHT = _LAMP_ON_TABLE + _SKY_ON_TABLE  # on a table without pigs


def _shadow(
    start: NDArray[np.float32],
    rise: NDArray[np.float32],
    slopes: NDArray[np.float32],
    texels: int,
) -> FloatArray:
    """(texels, texels) share of these directions that points hide.

    Args:
        start: (2, n) texel below each point.
        rise: (n,) its height above the table [texels].
        slopes: (m, 2) of the directions.
        texels: side of the square.
    """
    side = texels + 1  # the last row and column take what falls outside
    x, y = (
        np.minimum((axis - rise * s[:, None]).astype(np.int32).view(np.uint32), texels)
        for axis, s in zip(start, slopes.T, strict=True)
    )
    first = np.arange(len(slopes), dtype=np.uint32)[:, None] * np.uint32(side * side)
    hidden = np.zeros((len(slopes), side, side), dtype=bool)
    hidden.reshape(-1)[first + x * np.uint32(side) + y] = True
    number = hidden.view(np.uint8).sum(axis=0, dtype=np.uint8)  # there are fewer than 256
    share = number[:texels, :texels].astype(np.float32) / np.float32(len(slopes))
    blur = _blur(texels)
    return np.asarray(blur @ share @ blur.T)


@lru_cache(maxsize=8)
def _blur(size: int) -> NDArray[np.float32]:
    """(size, size) matrix that blurs a column by a Gaussian."""
    k = np.arange(size)
    weights = np.exp(-0.5 * ((k[:, None] - k) / _BLUR_TEXELS) ** 2)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float32)

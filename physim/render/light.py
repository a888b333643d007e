"""Light: a bright sky with one large lamp, what a pig hides of it from itself and from the table.

The sky is a fixed set of directions. Of each model it is computed once which of them every vertex
sees past the pig itself, so that a picture only has to add up light. The shadow on the table is
the mean of the shadows of many directions, hence soft where the pig is high above it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from physim.types import ExactValue, FloatArray

DIRECTIONS = 128
LAMP = np.array([-0.38, -0.35, 0.86]) / math.sqrt(0.38**2 + 0.35**2 + 0.86**2)  # towards it
LAMP_SHARPNESS = 24.0  # of the lamp's lobe, exp(sharpness (cos - 1)): about 12 degrees wide
LAMP_LIGHT = np.array([1.62, 1.56, 1.45])  # irradiance on a surface that faces it, linear RGB
SKY_TOP, SKY_RIM = np.array([0.62, 0.66, 0.74]), np.array([0.50, 0.50, 0.52])
BOUNCE = 0.55  # of the table's own light, seen from just above it far from any shadow
_TEXELS = 176  # of the shadow map, each way
_BLUR_TEXELS = 1.3
_LAMP_ON_TABLE = LAMP[2] * LAMP_LIGHT
_SKY_ON_TABLE = SKY_RIM + 0.6 * (SKY_TOP - SKY_RIM)
OPEN_LIGHT = _LAMP_ON_TABLE + _SKY_ON_TABLE  # on a table without pigs


def _spiral(number: int) -> tuple[FloatArray, FloatArray]:
    """(number, 1) shares from 0 to 1 and (number, 2) directions of a Fibonacci spiral."""
    k = np.arange(number) + 0.5
    angle = k * (math.pi * (3.0 - math.sqrt(5.0)))
    return k[:, None] / number, np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _sphere() -> FloatArray:
    """(DIRECTIONS, 3) evenly spread unit vectors."""
    share, flat = _spiral(DIRECTIONS)
    z = 1.0 - 2.0 * share
    return np.hstack([np.sqrt(1.0 - z * z) * flat, z])


def _table_slopes() -> tuple[FloatArray, FloatArray]:
    """(16, 2) directions (slopes x/z, y/z) over the lamp and (40, 2) over the sky.

    All of the lamp are as bright on the table as each other, and so are those of the sky.
    """
    share, flat = _spiral(16)
    lamp = (LAMP / LAMP[2])[:2] + math.tan(math.radians(9.0)) * np.sqrt(share) * flat
    share, flat = _spiral(40)
    square = 0.94 * share  # of the sine: weighted by the cosine
    return lamp, np.sqrt(square / (1.0 - square)) * flat


_SPHERE, (_LAMP_SLOPES, _SKY_SLOPES) = _sphere(), _table_slopes()


def ambient_visibility(
    vertices: FloatArray, normals: FloatArray, spacing: float
) -> NDArray[np.float32]:
    """(n, DIRECTIONS) cosine of each direction at each vertex, 0 where the pig hides it.

    Args:
        vertices: (n, 3) [m].
        normals: (n, 3) unit normals.
        spacing: typical distance of neighbouring vertices [m]; what is nearer hides nothing.
    """
    steep = np.abs(_SPHERE[:, 2:]) >= 0.9
    across = np.cross(_SPHERE, np.where(steep, [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    visible = np.maximum(_SPHERE @ normals.T, 0.0, dtype=np.float32)
    cell = vertices.T.astype(np.float32) / np.float32(1.5 * spacing)
    frames = zip(_SPHERE, across, np.cross(_SPHERE, across), strict=True)
    for number, frame in enumerate(frames):
        depth, x, y = (axis.astype(np.float32) @ cell for axis in frame)
        row = (x - x.min()).astype(np.int32)
        column = (y - y.min()).astype(np.int32)
        index = row * (column.max() + 1) + column
        front = np.full(int(index.max()) + 1, -np.inf, dtype=np.float32)
        np.maximum.at(front, index, depth)
        visible[number] *= depth > front[index] - 4.0 / 1.5
    return np.ascontiguousarray(visible.T)


def shade(
    visibility: NDArray[np.float32],
    turn: FloatArray,
    heights_m: FloatArray,
    size_m: float,
    table_color: FloatArray,
) -> FloatArray:
    """(n, 3) light that falls on each vertex of a pig, linear RGB.

    Args:
        visibility: of its model (`ambient_visibility`).
        turn: (3, 3) pig frame to world.
        heights_m: (n,) of the vertices above the table [m].
        size_m: of the pig; nearer to the table than a part of it, the table is dark.
        table_color: (3,) linear RGB.
    """
    world = _SPHERE @ turn.T
    up = world[:, 2]
    above = np.clip(0.5 + 4.0 * up, 0.0, 1.0)[:, None]
    light = above * (SKY_RIM + np.clip(up, 0.0, 1.0)[:, None] * (SKY_TOP - SKY_RIM))
    light *= 4.0 / DIRECTIONS
    lobe = np.exp(LAMP_SHARPNESS * (world @ LAMP - 1.0))
    light += (lobe / lobe.sum())[:, None] * LAMP_LIGHT
    below = (1.0 - above) * BOUNCE * table_color * (8.0 / DIRECTIONS)
    both = visibility @ np.concatenate([light, below], axis=1).astype(np.float32)
    open_share = np.clip(heights_m / (0.4 * size_m), 0.0, 1.0)[:, None]
    return np.asarray(both[:, :3] + open_share * both[:, 3:])


@dataclass(frozen=True, eq=False)
class ShadowMap(ExactValue):
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
    def of(cls, points_m: FloatArray, spacing_m: float) -> ShadowMap:
        """The shadow of pigs, given as points all over their surfaces, (n, 3) in the world [m]."""
        above = points_m[points_m[:, 2] > -1e-3]
        if len(above) == 0:
            return cls(np.zeros(2), 1.0, np.broadcast_to(OPEN_LIGHT, (2, 2, 3)))
        high = np.maximum(above[:, 2], 0.0)
        dropped = above[:, :2] - high[:, None] * (LAMP / LAMP[2])[:2]
        low = np.minimum(above[:, :2].min(axis=0), dropped.min(axis=0))
        top = np.maximum(above[:, :2].max(axis=0), dropped.max(axis=0))
        side = 1.7 * float((top - low).max()) + 0.02
        texel = max(side / _TEXELS, 0.9 * spacing_m)
        texels = math.ceil(side / texel)
        corner = 0.5 * (low + top) - 0.5 * side
        start = ((above[:, :2] - corner) / texel).T
        lamp = 1.0 - _hidden_share(start, high / texel, _LAMP_SLOPES, texels)
        sky = 1.0 - _hidden_share(start, high / texel, _SKY_SLOPES, texels)
        light = lamp[..., None] * _LAMP_ON_TABLE + sky[..., None] * _SKY_ON_TABLE
        return cls(corner, texel, light)


def _hidden_share(
    start: FloatArray, rise: FloatArray, slopes: FloatArray, texels: int
) -> FloatArray:
    """(texels, texels) share of these directions (m, 2) that points hide.

    The points lie above the texels `start` (2, n), `rise` (n,) texels high.
    """
    total = np.zeros((texels, texels), dtype=np.float32)
    for slope in slopes:
        x, y = (start - rise * slope[:, None]).astype(np.int64)
        inside = (x >= 0) & (x < texels) & (y >= 0) & (y < texels)
        hidden = np.zeros((texels, texels), dtype=bool)
        hidden[x[inside], y[inside]] = True
        total += hidden
    return np.asarray(gaussian_filter(total / len(slopes), _BLUR_TEXELS, mode="nearest"))

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
from scipy.ndimage import gaussian_filter, map_coordinates

from physim.rotations import matrix
from physim.values import FloatArray

DIRECTIONS = 128
LAMP = np.array([-0.38, -0.35, 0.86]) / math.sqrt(0.38**2 + 0.35**2 + 0.86**2)  # towards it
LAMP_SHARPNESS = 24.0  # of the lamp's lobe, exp(sharpness (cos - 1)): about 12 degrees wide
LAMP_LIGHT = np.array([1.62, 1.56, 1.45])  # irradiance on a surface that faces it, linear RGB
SKY_TOP, SKY_RIM = np.array([0.62, 0.66, 0.74]), np.array([0.50, 0.50, 0.52])
BOUNCE = 0.55  # of the table's own light, seen from just above it far from any shadow
_TABLE_RAYS = 40  # directions of the sky in the table's shading
_LAMP_RAYS = 16
_TEXELS = 176  # of the shadow's picture, each way


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
    cosines = np.maximum(normals @ sphere(DIRECTIONS).T, 0.0)
    for number, direction in enumerate(sphere(DIRECTIONS)):
        across = np.cross(direction, [0.0, 0.0, 1.0] if abs(direction[2]) < 0.9 else [1.0, 0, 0])
        across /= math.sqrt(float(across @ across))
        flat = np.stack([vertices @ across, vertices @ np.cross(direction, across)], axis=1)
        cells = np.floor((flat - flat.min(axis=0)) / (1.5 * spacing)).astype(np.int64)
        size = cells.max(axis=0) + 1
        index = cells[:, 0] * size[1] + cells[:, 1]
        depth = vertices @ direction
        front = np.full(int(size.prod()), -np.inf)
        np.maximum.at(front, index, depth)
        cosines[:, number] *= depth > front[index] - 4.0 * spacing
    return cosines.astype(np.float32)


def lit(
    sky: NDArray[np.float32],
    quat_xyzw: FloatArray,
    heights_m: FloatArray,
    size_m: float,
    table_color: FloatArray,
) -> FloatArray:
    """(n, 3) light that falls on each vertex of a pig, linear RGB.

    Args:
        sky: of its model (`seen_sky`).
        quat_xyzw: pig frame to world.
        heights_m: (n,) of the vertices above the table [m].
        size_m: of the pig; nearer to the table than a part of it, the table is dark.
        table_color: (3,) linear RGB.
    """
    world = sphere(DIRECTIONS) @ matrix(quat_xyzw).T
    up = world[:, 2]
    above = np.clip(0.5 + 4.0 * up, 0.0, 1.0)[:, None]
    light = above * (SKY_RIM + np.clip(up, 0.0, 1.0)[:, None] * (SKY_TOP - SKY_RIM))
    light *= 4.0 / DIRECTIONS
    lobe = np.exp(LAMP_SHARPNESS * (world @ LAMP - 1.0))
    light += (lobe / lobe.sum())[:, None] * LAMP_LIGHT
    below = (1.0 - above) * BOUNCE * table_color * (4.0 / DIRECTIONS) * 2.0
    open_share = np.clip(heights_m / (0.4 * size_m), 0.0, 1.0)[:, None]
    return np.asarray(
        sky @ light.astype(np.float32) + open_share * (sky @ below.astype(np.float32))
    )


@dataclass(frozen=True)
class Shade:
    """How much of the light the pigs take from the table, as two pictures of a square of it.

    Attributes:
        corner_m: (2,) of the square [m].
        texel_m: [m].
        lamp, sky: (texels, texels) share of the light that is left, by x and y.
    """

    corner_m: FloatArray
    texel_m: float
    lamp: FloatArray
    sky: FloatArray

    @property
    def side_m(self) -> float:
        return self.texel_m * len(self.lamp)

    @classmethod
    def of(cls, points_m: FloatArray, spacing_m: float) -> Shade:
        """The shade of pigs, given as points all over their surfaces, (n, 3) in the world [m]."""
        above = points_m[points_m[:, 2] > -1e-3]
        if len(above) == 0:
            return cls(np.zeros(2), 1.0, np.ones((2, 2)), np.ones((2, 2)))
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
        lamp = _shadow(above, high, _lamp_rays(), corner, texel, texels)
        sky = _shadow(above, high, _sky_rays(), corner, texel, texels)
        return cls(corner, texel, 1.0 - lamp, 1.0 - sky)

    def holds(self, places_m: FloatArray) -> NDArray[np.bool_]:
        """(n,) whether places (n, 2) are in the square; elsewhere there is no shade."""
        half = 0.5 * self.side_m
        return within(places_m - (self.corner_m + half), np.array([half, half]))

    def at(self, places_m: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n,) shares of lamp and sky that reach places (n, 2) of the table."""
        where = ((places_m - self.corner_m) / self.texel_m - 0.5).T
        lamp, sky = (
            map_coordinates(share, where, order=1, mode="constant", cval=1.0, prefilter=False)
            for share in (self.lamp, self.sky)
        )
        return lamp, sky


def within(places: FloatArray, half: FloatArray) -> NDArray[np.bool_]:
    """(n,) whether places (n, 2) are in the rectangle about 0 with these half sides."""
    x, y = places[:, 0], places[:, 1]
    return np.asarray((np.abs(x) <= half[0]) & (np.abs(y) <= half[1]))


def table_light(shade: Shade, places_m: FloatArray) -> FloatArray:
    """(n, 3) light that falls on places (n, 2) of the table, linear RGB."""
    lamp, sky = shade.at(places_m)
    open_sky = SKY_RIM + 0.6 * (SKY_TOP - SKY_RIM)
    return np.asarray(lamp[:, None] * (LAMP[2] * LAMP_LIGHT) + sky[:, None] * open_sky)


def _lamp_rays() -> FloatArray:
    """Directions (slopes x/z, y/z) over the disc of the lamp, each as bright."""
    k = np.arange(_LAMP_RAYS) + 0.5
    radius = math.tan(math.radians(9.0)) * np.sqrt(k / _LAMP_RAYS)
    angle = k * (math.pi * (3.0 - math.sqrt(5.0)))
    slope = (LAMP / LAMP[2])[:2]
    return np.asarray(slope + np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1))


def _sky_rays() -> FloatArray:
    """Slopes over the upper half of the sky, each as bright on the table (cosine-weighted)."""
    k = np.arange(_TABLE_RAYS) + 0.5
    sine = np.sqrt(0.94 * k / _TABLE_RAYS)
    angle = k * (math.pi * (3.0 - math.sqrt(5.0)))
    slope = sine / np.sqrt(1.0 - sine * sine)
    return np.stack([slope * np.cos(angle), slope * np.sin(angle)], axis=1)


def _shadow(
    points: FloatArray,
    high: FloatArray,
    slopes: FloatArray,
    corner: FloatArray,
    texel: float,
    texels: int,
) -> FloatArray:
    """(texels, texels) share of these directions that the points hide."""
    hidden = np.zeros(texels * texels)
    start = (points[:, :2] - corner) / texel
    for slope in slopes:
        cells = (start - (high / texel)[:, None] * slope).astype(np.int64)
        inside = within(cells - 0.5 * (texels - 1), np.full(2, 0.5 * texels))
        index = cells[inside, 0] * texels + cells[inside, 1]
        hidden += np.bincount(index, minlength=texels * texels) > 0
    picture = (hidden / len(slopes)).reshape(texels, texels)
    return np.asarray(gaussian_filter(picture, 1.3))

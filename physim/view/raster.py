"""Which triangle is seen at which pixel: a rasteriser in NumPy.

Triangles are sorted by the size of their boxes, and all pixels of all boxes of a size are tested
at once. Meshes of pigs have many small triangles, for which this is quick.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from physim.values import FloatArray

_AT_ONCE = 2_000_000  # tests of a pixel, to bound the memory

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Seen:
    """The pixels at which a mesh is seen, each once.

    Attributes:
        pixels: (k,) row x width + column.
        faces: (k,) index of the nearest triangle there.
        weights: (k, 3) of its corners, for what is linear on the triangle in the world.
        nearness: (k,) 1 / distance along the view [1/m].
    """

    pixels: IntArray
    faces: IntArray
    weights: FloatArray
    nearness: FloatArray


def rasterise(places: FloatArray, faces: IntArray, width: int, height: int) -> Seen:
    """The nearest triangle at every pixel whose middle is inside one that faces the camera.

    Args:
        places: (n, 3) of the corners: pixels to the right and down, distance along the view [m].
        faces: (m, 3) indices of corners, counter-clockwise seen from outside.
        width: of the picture [pixels].
        height: [pixels].
    """
    a, b, c = (places[faces[:, k], :2] for k in range(3))
    twice = _cross(b - a, c - a)  # y points down: what faces the camera turns clockwise
    low = np.ceil(np.minimum(np.minimum(a, b), c) - 0.5)
    high = np.floor(np.maximum(np.maximum(a, b), c) - 0.5)
    low, high = np.maximum(low, 0.0), np.minimum(high, [width - 1.0, height - 1.0])
    size = high - low + 1.0
    span = np.maximum(size[:, 0], size[:, 1])
    near = places[:, 2] > 1e-6
    usable = (twice < 0.0) & (size[:, 0] >= 1.0) & (size[:, 1] >= 1.0)
    usable &= near[faces[:, 0]] & near[faces[:, 1]] & near[faces[:, 2]]
    pieces = [
        _covered(chosen, side, places, faces, twice, low, high)
        for side, chosen in _classes(np.flatnonzero(usable), span)
    ]
    if not pieces:
        none = np.zeros(0, dtype=np.int64)
        return Seen(none, none, np.zeros((0, 3)), np.zeros(0))
    columns, rows, found, weights, nearness = (
        np.concatenate([piece[k] for piece in pieces]) for k in range(5)
    )
    pixels = rows * width + columns
    nearest = np.zeros(width * height)
    np.maximum.at(nearest, pixels, nearness)
    first = np.flatnonzero(nearest[pixels] == nearness)
    winner = np.full(width * height, -1)
    winner[pixels[first]] = first  # of equals, the last
    kept = winner[winner >= 0]
    return Seen(pixels[kept], found[kept], weights[kept], nearness[kept])


def _classes(usable: IntArray, span: FloatArray) -> list[tuple[int, IntArray]]:
    """Side of a box, and the triangles that fit into one of it and no smaller."""
    sides = 2 ** np.ceil(np.log2(np.maximum(span[usable], 1.0))).astype(np.int64)
    classes = []
    for side in np.unique(sides).tolist():
        chosen = usable[sides == side]
        step = max(1, _AT_ONCE // (side * side))
        classes += [(side, chosen[k : k + step]) for k in range(0, len(chosen), step)]
    return classes


def _covered(
    chosen: IntArray,
    side: int,
    places: FloatArray,
    faces: IntArray,
    twice: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray]:
    """Columns, rows, triangles, weights and nearness of what these triangles cover."""
    grid = np.arange(side)
    x = low[chosen, 0, None, None] + grid[None, None, :]
    y = low[chosen, 1, None, None] + grid[None, :, None]
    corners = [places[faces[chosen, k]] for k in range(3)]
    shares = []
    for k in range(3):
        p, q = corners[(k + 1) % 3], corners[(k + 2) % 3]
        edge = (q - p)[:, :2, None, None]
        away = edge[:, 0] * (y + 0.5 - p[:, 1, None, None])
        away = away - edge[:, 1] * (x + 0.5 - p[:, 0, None, None])
        shares.append(away / twice[chosen, None, None])
    inside = (shares[0] >= 0.0) & (shares[1] >= 0.0) & (shares[2] >= 0.0)
    inside &= (x <= high[chosen, 0, None, None]) & (y <= high[chosen, 1, None, None])
    which, row, column = np.nonzero(inside)
    # What is linear in the world is linear in the picture only after division by the distance.
    scaled = np.stack(
        [share[inside] / corner[which, 2] for share, corner in zip(shares, corners, strict=True)],
        axis=1,
    )
    nearness = scaled.sum(axis=1)
    columns = low[chosen[which], 0].astype(np.int64) + column
    rows = low[chosen[which], 1].astype(np.int64) + row
    return columns, rows, chosen[which], scaled / nearness[:, None], nearness


def _cross(u: FloatArray, v: FloatArray) -> FloatArray:
    return np.asarray(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])

"""Which triangle is seen at which pixel: a rasteriser in NumPy.

Triangles are sorted by the size of their boxes, and all pixels of all boxes of a size are tested
at once. Meshes of pigs have many small triangles, for which this is quick.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from physim.types import ExactValue, FloatArray

_AT_ONCE = 2_000_000  # tests of a pixel, to bound the memory

IntArray = NDArray[np.int64]
AnyFloats = NDArray[np.floating[Any]]  # colours are computed in 32 bits


@dataclass(frozen=True, eq=False)
class Seen(ExactValue):
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
    twice = _twice_area(places, faces)
    facing = np.flatnonzero(twice < 0.0)  # y points down: what faces the camera turns clockwise
    corners = places[faces[facing].T]
    corners[:, :, :2] -= 0.5
    one, two, three = corners
    lowest = np.minimum(np.minimum(one, two), three)  # several times as quick as `min(axis=0)`
    highest = np.maximum(np.maximum(one, two), three)
    low = np.maximum(np.ceil(lowest[:, :2]), 0.0)
    high = np.minimum(np.floor(highest[:, :2]), [width - 1.0, height - 1.0])
    wide, tall = (high - low + 1.0).T
    usable = (wide >= 1.0) & (tall >= 1.0) & (lowest[:, 2] > 1e-6)
    pieces = [
        _covered(
            corners[:, chosen],
            side,
            twice[facing[chosen]],
            low[chosen],
            high[chosen],
            facing[chosen],
        )
        for side, chosen in _classes(np.flatnonzero(usable), np.maximum(wide, tall))
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
    corners: FloatArray,
    side: int,
    twice: FloatArray,
    low: FloatArray,
    high: FloatArray,
    faces: IntArray,
) -> tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray]:
    """Columns, rows, triangles, weights and nearness of what these triangles cover."""
    grid = np.arange(side)
    x = low[:, 0, None, None] + grid[None, None, :]
    y = low[:, 1, None, None] + grid[None, :, None]
    shares = []
    for k in range(3):
        p, q = corners[(k + 1) % 3], corners[(k + 2) % 3]
        edge = ((q - p)[:, :2] / twice[:, None])[:, :, None, None]
        shares.append(
            edge[:, 0] * (y - p[:, 1, None, None]) - edge[:, 1] * (x - p[:, 0, None, None])
        )
    inside = (shares[0] >= 0.0) & (shares[1] >= 0.0) & (shares[2] >= 0.0)
    inside &= (x <= high[:, 0, None, None]) & (y <= high[:, 1, None, None])
    which, row, column = np.nonzero(inside)
    # What is linear in the world is linear in the picture only after division by the distance.
    scaled = np.stack(
        [share[inside] / corner[which, 2] for share, corner in zip(shares, corners, strict=True)],
        axis=1,
    )
    nearness = scaled.sum(axis=1)
    columns = low[which, 0].astype(np.int64) + column
    rows = low[which, 1].astype(np.int64) + row
    return columns, rows, faces[which], scaled / nearness[:, None], nearness


def _twice_area(places: FloatArray, faces: IntArray) -> FloatArray:
    """(m,) of the triangles in the picture, negative where they turn clockwise to the eye."""
    x, y = (axis[faces] for axis in (places[:, 0].copy(), places[:, 1].copy()))
    return np.asarray(
        (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (y[:, 1] - y[:, 0]) * (x[:, 2] - x[:, 0])
    )

"""A still picture of pigs on the table, by a rasteriser in NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from physim.geometry import matrix
from physim.render.camera import View, framing
from physim.render.light import LAMP, OPEN_LIGHT, ShadowMap, shade
from physim.render.pig_meshes import Color, PigLook, PlacedPig, linear, pig_look, srgb
from physim.types import FloatArray, Table

Image = NDArray[np.uint8]
IntArray = NDArray[np.int64]
AnyFloats = NDArray[np.floating[Any]]  # colours are computed in 32 bits
TABLE_COLORS: dict[str, Color] = {
    "laminate": (0.66, 0.72, 0.68),
    "wood": (0.72, 0.56, 0.40),
    "glass": (0.66, 0.75, 0.80),
    "cloth": (0.85, 0.82, 0.74),
    "felt": (0.30, 0.52, 0.36),
    "floor": (0.70, 0.58, 0.45),
}
FLOOR_COLOR: Color = (0.50, 0.47, 0.46)
OVERSAMPLING = 2  # pigs are drawn this many times larger each way, then averaged
EXPOSURE = 1.55  # light that shows a table in its colour
HIGHLIGHT, GLOSS = 0.16, 70.0  # of the soft plastic
_AT_ONCE = 2_000_000  # tests of a pixel, to bound the memory


def picture(
    pigs: Sequence[PlacedPig],
    width: int,
    height: int,
    view: View | None = None,
    table: Table | None = None,
) -> Image:
    """(height, width, 3) picture of pigs on the table.

    Without a view it is seen from where all pigs are held; without a table, on an endless one.
    """
    view = view or framing(pigs, width / height)
    color = linear(np.array(table_color(table)))
    looks = [pig_look(pig.model) for pig in pigs]
    points = np.concatenate(
        [pig.placed(look.points_m) for pig, look in zip(pigs, looks, strict=True)]
    )
    shadow = ShadowMap.of(points, max(look.spacing_m for look in looks))
    image = _ground(view, shadow, color, table, width, height)
    w, h = width * OVERSAMPLING, height * OVERSAMPLING
    drawn = [
        _drawn(pig, look, view, color, table, w, h) for pig, look in zip(pigs, looks, strict=True)
    ]
    nearest = np.zeros(w * h)
    for pixels, nearness, _ in drawn:
        nearest[pixels] = np.maximum(nearest[pixels], nearness)
    for pixels, nearness, colors in drawn:
        first = nearest[pixels] == nearness
        row, column = np.divmod(pixels[first], w)
        _blend(image, row // OVERSAMPLING * width + column // OVERSAMPLING, colors[first])
    return np.asarray(np.round(255.0 * image), dtype=np.uint8)


def table_color(table: Table | None) -> Color:
    """The colour of a table, by its surface; without a table that of laminate."""
    name = "laminate" if table is None else table.surface.name
    return TABLE_COLORS.get(name, TABLE_COLORS["laminate"])


def _drawn(
    pig: PlacedPig,
    look: PigLook,
    view: View,
    table_color: FloatArray,
    table: Table | None,
    width: int,
    height: int,
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Pixels at which a pig is seen, how near it is there, and its colours (k, 3) as written."""
    turn = matrix(pig.state.quat_xyzw)
    vertices = pig.placed(look.vertices_m)
    seen = rasterise(view.project(vertices, width, height), look.faces, width, height)
    light = shade(look.visibility, turn, vertices[:, 2], look.size_m, table_color)
    known = np.concatenate([light, look.normals @ turn.T, vertices], axis=1, dtype=np.float32)
    corners, weights = look.faces[seen.faces], seen.weights.astype(np.float32)
    shown = sum(weights[:, k, None] * known[corners[:, k]] for k in range(3))
    light, normals, places = np.split(shown, 3, axis=1)
    albedo = linear(look.colors(pig.name))[materials_at(look, seen)]
    colors = srgb(albedo * light + _highlight(normals, view.place_m - places))
    if table is None:
        return seen.pixels, seen.nearness, colors
    # What is below the table's top is hidden where the ray to it passes through the top.
    share = view.place_m[2] / np.maximum(view.place_m[2] - places[:, 2], 1e-9)
    hits = view.place_m[:2] + share[:, None] * (places - view.place_m)[:, :2]
    open_ = (places[:, 2] >= -1e-3) | ~_on_table(hits.T, table)
    return seen.pixels[open_], seen.nearness[open_], colors[open_]


def materials_at(look: PigLook, seen: Seen) -> IntArray:
    """(k,) number of the material at each pixel; borders run smoothly through triangles."""
    if look.shares is None:
        return np.asarray(look.materials[seen.faces])
    corners = look.faces[seen.faces]
    mixed = sum(seen.weights[:, k, None] * look.shares[corners[:, k]] for k in range(3))
    return np.asarray(np.argmax(mixed, axis=1))


def _highlight(normals: AnyFloats, to_camera: AnyFloats) -> AnyFloats:
    """(k, 1) what a glossy skin mirrors of the lamp; none of the vectors is of unit length."""
    half = to_camera / np.linalg.norm(to_camera, axis=1, keepdims=True) + LAMP
    lengths = np.linalg.norm(normals, axis=1) * np.linalg.norm(half, axis=1)
    facing = np.clip((normals * half).sum(axis=1) / lengths, 0.0, 1.0)
    return np.asarray(HIGHLIGHT * facing**GLOSS)[:, None]


def _blend(image: AnyFloats, index: IntArray, colors: FloatArray) -> None:
    """Lays samples of a pig over a picture, each at the pixel of that index.

    They are averaged as they are written down: bright edges would eat into dark ones otherwise.
    """
    flat = image.reshape(-1, 3)
    share = np.bincount(index, minlength=len(flat)) / OVERSAMPLING**2
    touched = np.flatnonzero(share)
    flat[touched] *= 1.0 - share[touched, None]
    for k in range(3):
        total = np.bincount(index, colors[:, k], minlength=len(flat))
        flat[touched, k] += total[touched] / OVERSAMPLING**2


def _ground(
    view: View, shadow: ShadowMap, color: FloatArray, table: Table | None, width: int, height: int
) -> AnyFloats:
    """(height, width, 3) the table and what is behind it, as written down."""
    x, y = view.slopes(width, height)
    texels = (_hits(view, x, y[:, None]) - shadow.corner_m[:, None, None]) / shadow.texel_m - 0.5
    shaded, open_ = srgb(color * shadow.light / EXPOSURE), srgb(color * OPEN_LIGHT / EXPOSURE)
    channels = [map_coordinates(shaded[..., k], texels, order=1, cval=open_[k]) for k in range(3)]
    image = np.stack(channels, axis=-1)
    share = _share_of_table(view, table, width, height)
    if (share < 1.0).any():
        rise = view.axes[2, 2] + y[:, None] * view.axes[1, 2]
        steep = rise / np.sqrt(1.0 + x**2 + y[:, None] ** 2)
        bright = 0.7 + 0.8 * np.clip(0.5 + 1.5 * steep, 0.0, 1.0)
        behind = srgb(linear(np.array(FLOOR_COLOR)) * bright[..., None])
        image = share[..., None] * image + (1.0 - share)[..., None] * behind
    return image


def _share_of_table(view: View, table: Table | None, width: int, height: int) -> FloatArray:
    """(height, width) share of each pixel that shows the table, of 4 x 4 samples."""
    x, y = view.slopes(4 * width, 4 * height)
    corners = _hits(view, x[[0, -1]], y[[0, -1], None])
    if _on_table(corners, table).all():  # and so is all between them
        return np.ones((height, width))
    share = np.zeros((height, width))
    for i, j in product(range(4), range(4)):
        share += _on_table(_hits(view, x[i::4], y[j::4, None]), table)
    return share / 16.0


def _hits(view: View, x: FloatArray, y: FloatArray) -> FloatArray:
    """(2, ...) where rays of these slopes meet the table's level [m], or very far away."""
    right, up, forward = view.axes
    far = view.place_m[2] / np.maximum(-forward[2] - y * up[2], 1e-9)  # `right` is level
    return np.stack(
        [view.place_m[k] + far * (forward[k] + x * right[k] + y * up[k]) for k in (0, 1)]
    )


def _on_table(hits: FloatArray, table: Table | None) -> NDArray[np.bool_]:
    """Whether places (2, ...) on the table's level are on the table; None is one without end."""
    length, width = (1e6, 1e6) if table is None else (table.length_m, table.width_m)
    return np.asarray((np.abs(hits[0]) <= 0.5 * length) & (np.abs(hits[1]) <= 0.5 * width))


class Seen(NamedTuple):
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
    pieces = list(_covered(places, faces, width, height))
    pixels, found, weights, nearness = (
        np.concatenate([piece[k] for piece in pieces]) for k in range(4)
    )
    nearest = np.zeros(width * height)
    np.maximum.at(nearest, pixels, nearness)
    first = np.flatnonzero(nearest[pixels] == nearness)
    winner = np.full(width * height, -1)
    winner[pixels[first]] = first  # of equals, the last
    kept = winner[winner >= 0]
    return Seen(pixels[kept], found[kept], weights[kept], nearness[kept])


def _covered(
    places: FloatArray, faces: IntArray, width: int, height: int
) -> Iterator[tuple[IntArray, IntArray, FloatArray, FloatArray]]:
    """Pixels, triangles, weights and nearness of what each triangle covers, some at a time.

    All pixels of the triangles' boxes are tested. Inside a triangle, the share of each corner,
    which is linear in the picture, is positive.
    """
    x, y, distance = np.moveaxis(places[faces.T] - [0.5, 0.5, 0.0], 2, 0)  # (3, m) each
    edge_x, edge_y = (np.roll(a, -2, axis=0) - np.roll(a, -1, axis=0) for a in (x, y))
    twice_area = edge_x[0] * edge_y[1] - edge_y[0] * edge_x[1]
    bounds = np.array([[width], [height]])
    low = np.clip(np.ceil([x.min(axis=0), y.min(axis=0)]), 0, bounds).astype(np.int64)
    high = np.clip(np.floor([x.max(axis=0), y.max(axis=0)]), -1, bounds - 1).astype(np.int64)
    size = np.maximum(high - low + 1, 0)
    # y points down: what faces the camera turns clockwise, and its area is negative.
    usable = np.flatnonzero((twice_area < 0.0) & (distance.min(axis=0) > 1e-6) & size.all(axis=0))
    tests = size[0, usable] * size[1, usable]
    pieces = np.flatnonzero(np.diff(np.cumsum(tests) // _AT_ONCE)) + 1
    for chosen, number in zip(np.split(usable, pieces), np.split(tests, pieces), strict=True):
        right, down = np.stack([-edge_y, edge_x])[:, :, chosen] / twice_area[chosen]
        start = (
            -right * np.roll(x, -1, axis=0)[:, chosen] - down * np.roll(y, -1, axis=0)[:, chosen]
        )
        which = np.repeat(np.arange(len(chosen)), number)
        place = np.arange(len(which)) - np.repeat(np.cumsum(number) - number, number)
        row, column = np.divmod(place, size[0, chosen][which])
        column, row = column + low[0, chosen][which], row + low[1, chosen][which]
        shares = right[:, which] * column + down[:, which] * row + start[:, which]
        inside = (shares >= -1e-9).all(axis=0)
        which = chosen[which[inside]]
        # What is linear in the world is linear in the picture only after division by the distance.
        scaled = (shares[:, inside] / distance[:, which]).T
        nearness = scaled.sum(axis=1)
        pixels = row[inside] * width + column[inside]
        yield pixels, which, scaled / nearness[:, None], nearness

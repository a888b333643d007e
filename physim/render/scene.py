"""A still picture of pigs on the table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from physim.quaternions import matrix
from physim.render import light
from physim.render.camera import View, framing
from physim.render.pig_meshes import Color, PigLook, PlacedPig, linear, pig_look, srgb
from physim.render.raster import AnyFloats, IntArray, rasterise
from physim.types import FloatArray, Table

Image = NDArray[np.uint8]
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


def picture(
    pigs: Sequence[PlacedPig],
    width: int,
    height: int,
    view: View | None = None,
    table: Table | None = None,
    oversampling: int = OVERSAMPLING,
) -> Image:
    """(height, width, 3) picture of pigs on the table.

    Args:
        pigs: what is seen.
        width: [pixels].
        height: [pixels].
        view: from where; None for one that holds them all.
        table: None for an endless one.
        oversampling: 1 is quick and has rough edges.
    """
    view = view or framing(pigs, width / height)
    color = linear(np.array(table_color(table)))
    looks = [pig_look(pig.model) for pig in pigs]
    points = np.concatenate(
        [
            k.points_m @ matrix(p.state.quat_xyzw).T + p.state.position_m
            for p, k in zip(pigs, looks, strict=True)
        ]
    )
    spacing = max(look.spacing_m for look in looks)
    image = _ground(view, light.Shade.of(points, spacing), color, table, width, height)
    w, h = width * oversampling, height * oversampling
    drawn = [
        _drawn(pig, look, view, color, table, w, h) for pig, look in zip(pigs, looks, strict=True)
    ]
    nearest = np.zeros(w * h)
    for pixels, nearness, _ in drawn:
        nearest[pixels] = np.maximum(nearest[pixels], nearness)
    for pixels, nearness, colors in drawn:
        first = nearest[pixels] == nearness
        row, column = np.divmod(pixels[first], w)
        _blend(image, row // oversampling, column // oversampling, colors[first], oversampling**2)
    return np.asarray(np.round(255.0 * image), dtype=np.uint8)


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
    vertices = look.vertices_m @ turn.T + pig.state.position_m
    got = rasterise(view.project(vertices, width, height), look.faces, width, height)
    lit = light.lit(look.sky, turn, vertices[:, 2], look.size_m, table_color)
    known = np.concatenate([lit, look.normals @ turn.T, vertices], axis=1, dtype=np.float32)
    corners, weights = look.faces[got.faces], got.weights.astype(np.float32)
    shown = weights[:, 0, None] * known[corners[:, 0]]
    for k in (1, 2):
        shown += weights[:, k, None] * known[corners[:, k]]
    albedo = linear(look.colors(pig.name))[look.materials_at(got)]
    colors = srgb(albedo * shown[:, :3] + _highlight(shown[:, 3:6], shown[:, 6:], view))
    if table is None:
        return got.pixels, got.nearness, colors
    open_ = ~_under_table(shown[:, 6:], view, table)
    return got.pixels[open_], got.nearness[open_], colors[open_]


def _blend(
    image: AnyFloats, row: IntArray, column: IntArray, colors: FloatArray, samples: int
) -> None:
    """Lays samples of a pig over a picture, each one of so many of its pixel.

    They are averaged as they are written down: bright edges would eat into dark ones otherwise.
    """
    height, width, _ = image.shape
    index = row * width + column
    share = np.bincount(index, minlength=height * width) / samples
    touched = np.flatnonzero(share)
    flat = image.reshape(-1, 3)
    flat[touched] *= 1.0 - share[touched, None]
    for k in range(3):
        total = np.bincount(index, colors[:, k], minlength=height * width)
        flat[touched, k] += total[touched] / samples


def table_color(table: Table | None) -> Color:
    """Of a table's surface."""
    name = "laminate" if table is None else table.surface.name
    return TABLE_COLORS.get(name, TABLE_COLORS["laminate"])


def _ground(
    view: View, shade: light.Shade, color: FloatArray, table: Table | None, width: int, height: int
) -> AnyFloats:
    """(height, width, 3) the table and what is behind it, as written down."""
    x, y = view.slopes(width, height)
    right, up, forward = view.axes
    rise = forward[2] + y * up[2]  # of the rays of each row; `right` is level
    rows = np.flatnonzero(rise < -1e-6)  # the last ones
    far = view.place_m[2] / -rise[rows]
    middle = view.place_m[:2] + far[:, None] * (forward + y[rows, None] * up)[:, :2]
    shaded, at = np.ones(1, dtype=bool), []
    for k in (0, 1):
        # Where the rays meet the plane of the table, in texels of the shade.
        first = (middle[:, k] - shade.corner_m[k]) / shade.texel_m - 0.5
        step = (far * right[k] / shade.texel_m)[:, None]
        texel = first.astype(np.float32)[:, None] + step.astype(np.float32) * x.astype(np.float32)
        shaded = shaded & (texel > 0.0) & (texel < len(shade.light) - 1)
        at.append(texel)
    image = np.empty((height, width, 3), dtype=np.float32)
    image[:] = srgb(color * light.OPEN_LIGHT / EXPOSURE)
    pixels = np.flatnonzero(shaded) + (height - len(rows)) * width
    image.reshape(-1, 3)[pixels] = _between(
        srgb(color * shade.light / EXPOSURE), at[0][shaded], at[1][shaded]
    )
    share = _share_of_table(view, table, width, height)
    row, column = np.nonzero(share < 1.0)
    if len(row):
        steep = rise[row] / np.sqrt(1.0 + x[column] ** 2 + y[row] ** 2)
        bright = 0.7 + 0.8 * np.clip(0.5 + 1.5 * steep, 0.0, 1.0)
        behind = srgb(linear(np.array(FLOOR_COLOR)) * bright[:, None])
        on = share[row, column][:, None]
        image[row, column] = on * image[row, column] + (1.0 - on) * behind
    return image


def _share_of_table(view: View, table: Table | None, width: int, height: int) -> AnyFloats:
    """(height, width) share of each pixel that shows the table, of 4 x 4 samples at its edge."""
    x, y = view.slopes(4 * width, 4 * height)
    # A pixel's samples lie between four places of this grid; where all four agree so do the
    # samples, as the table is convex.
    grid = _on_table(view, table, np.append(x[::4], x[-1]), np.append(y[::4], y[-1])[:, None])
    on = grid[:-1, :-1] & grid[:-1, 1:] & grid[1:, :-1] & grid[1:, 1:]
    off = ~(grid[:-1, :-1] | grid[:-1, 1:] | grid[1:, :-1] | grid[1:, 1:])
    share = on.astype(np.float32)
    row, column = np.nonzero(~(on | off))
    four = np.arange(4)
    fine = _on_table(
        view,
        table,
        x[4 * column[:, None, None] + four[None, None, :]],
        y[4 * row[:, None, None] + four[None, :, None]],
    )
    share[row, column] = fine.mean(axis=(1, 2), dtype=np.float32)
    return share


def _on_table(view: View, table: Table | None, x: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
    """Whether rays of these slopes meet the table; one without end lies to the horizon.

    Args:
        view: of the camera.
        table: None for one without end.
        x: slopes to the right.
        y: slopes up, of a shape that goes with that of `x`.
    """
    right, up, forward = view.axes
    rise = forward[2] + y * up[2]
    on = rise < -1e-6
    if table is None:
        return np.broadcast_to(on, np.broadcast_shapes(x.shape, y.shape))
    far = view.place_m[2] / np.maximum(-rise, 1e-6)
    for k, half in ((0, 0.5 * table.length_m), (1, 0.5 * table.width_m)):
        place = view.place_m[k] + far * (forward[k] + y * up[k]) + far * right[k] * x
        on = on & (np.abs(place) <= half)
    return np.asarray(on)


def _between(picture: AnyFloats, x: AnyFloats, y: AnyFloats) -> AnyFloats:
    """(n, 3) colours at places between the middles of a picture's texels."""
    side = len(picture)
    planes = np.moveaxis(picture, 2, 0).reshape(3, -1).astype(np.float32)
    row, column = x.astype(np.int32), y.astype(np.int32)
    right, down = (x - row).astype(np.float32), (y - column).astype(np.float32)
    index = row * side + column
    shares = ((1 - right) * (1 - down), (1 - right) * down, right * (1 - down), right * down)
    total = np.zeros((3, len(x)), dtype=np.float32)
    for share, away in zip(shares, (0, 1, side, side + 1), strict=True):
        total += share * np.take(planes, index + away, axis=1)
    return total.T


def _highlight(normals: AnyFloats, places: AnyFloats, view: View) -> AnyFloats:
    """(k, 1) what a glossy skin mirrors of the lamp."""
    normals = normals / np.sqrt((normals**2).sum(axis=1, keepdims=True))
    towards = view.place_m - places
    towards /= np.sqrt((towards**2).sum(axis=1, keepdims=True))
    half = towards + light.LAMP
    half /= np.sqrt((half**2).sum(axis=1, keepdims=True))
    facing = np.clip((normals * half).sum(axis=1, keepdims=True), 0.0, 1.0)
    return np.asarray(HIGHLIGHT * facing**GLOSS)


def _under_table(places: AnyFloats, view: View, table: Table) -> NDArray[np.bool_]:
    """(k,) whether the table's top hides these places from the camera."""
    camera = view.place_m
    share = camera[2] / np.maximum(camera[2] - places[:, 2], 1e-9)
    hits = camera[:2] + share[:, None] * (places[:, :2] - camera[:2])
    half = 0.5 * np.array([table.length_m, table.width_m])
    return np.asarray((places[:, 2] < -1e-3) & light.within(hits, half))

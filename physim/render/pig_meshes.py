"""What a pig looks like: the visual mesh of a model in the colours of its pair.

Both standard pigs are pink; the black one is told by its snout, as in Kern's study. A mesh from
elsewhere has no painted snout: there the black pig's whole skin is dark, and a dot is painted on
the flank that carries it.

Triangles of one colour, and the OBJ file that PyBullet's window reads them from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, identity

from physim.pigs.model import LoadedModel, load_all
from physim.render.light import seen_sky
from physim.render.raster import Seen
from physim.types import BLACK, ExactValue, FloatArray, RigidState

Color = tuple[float, float, float]  # red, green, blue in [0, 1], sRGB

PINK_COLORS: Mapping[str, Color] = {
    "skin": (0.96, 0.66, 0.69),
    "snout": (0.90, 0.48, 0.54),
    "dot": (0.13, 0.10, 0.12),
    "eye": (0.06, 0.05, 0.06),
}
BLACK_COLORS: Mapping[str, Color] = {**PINK_COLORS, "snout": (0.12, 0.11, 0.12)}
_BLACK_SKIN: Color = (0.45, 0.38, 0.42)  # dark, yet lighter than a dot
_DOT_SHARE, _DOT_CORNERS = 0.13, 36  # radius over the pig's height; a polygon


@dataclass(frozen=True, eq=False)
class PigLook(ExactValue):
    """A model ready to be drawn.

    Attributes:
        vertices_m: (n, 3) pig frame [m].
        normals: (n, 3) unit normals, pig frame.
        faces: (m, 3) vertex indices, counter-clockwise seen from outside.
        materials: (m,) number of each face's material in `names`.
        names: of the materials.
        shares: (n, materials) of each vertex, how much of it wears each material; None for a
            coarse mesh, whose faces are each of one.
        sky: which directions each vertex sees past the pig (`light.seen_sky`).
        spacing_m: typical distance of neighbouring vertices.
        points_m: (k, 3) points all over the surface, at most about `spacing_m` apart.
        size_m: height of the model.
    """

    vertices_m: FloatArray
    normals: FloatArray
    faces: NDArray[np.int64]
    materials: NDArray[np.int64]
    names: tuple[str, ...]
    shares: FloatArray | None
    sky: NDArray[np.float32]
    spacing_m: float
    points_m: FloatArray
    size_m: float

    def materials_at(self, seen: Seen) -> NDArray[np.int64]:
        """(k,) number of the material at each pixel; borders run smoothly through triangles."""
        if self.shares is None:
            return np.asarray(self.materials[seen.faces])
        corners = self.faces[seen.faces]
        mixed = sum(seen.weights[:, k, None] * self.shares[corners[:, k]] for k in range(3))
        return np.asarray(np.argmax(mixed, axis=1))

    def colors(self, name: str) -> FloatArray:
        """(materials, 3) sRGB of the pig of that name."""
        colors = BLACK_COLORS if name == BLACK else PINK_COLORS
        skin = _BLACK_SKIN if name == BLACK and "snout" not in self.names else colors["skin"]
        return np.array([skin if n == "skin" else colors.get(n, skin) for n in self.names])


@dataclass(frozen=True)
class PlacedPig:
    """A pig to be seen.

    Attributes:
        model: name of, or path to, its model.
        name: `black` or `pink`.
        state: where it lies, pig frame to world frame.
        radius_m: of its bounding sphere [m].
    """

    model: str
    name: str
    state: RigidState
    radius_m: float


def pig_look(model: str) -> PigLook:
    """The look of a model, made when it is first asked for.

    Args:
        model: name of, or path to, a pig model.
    """
    return _look(load_all(model))


def linear(srgb: FloatArray) -> FloatArray:
    """Light from a colour as it is written down (sRGB), both in [0, 1]."""
    return np.asarray(np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4))


def srgb(light: FloatArray) -> FloatArray:
    """The opposite of `linear`."""
    steps = (np.clip(light, 0.0, 1.0) * (len(_SRGB) - 1) + 0.5).astype(np.int64)
    return np.asarray(_SRGB[steps])


def _srgb_table() -> FloatArray:
    light = np.linspace(0.0, 1.0, 16_384)
    bright = 1.055 * np.maximum(light, 1e-9) ** (1.0 / 2.4) - 0.055
    return np.where(light <= 0.0031308, 12.92 * light, bright)


_SRGB = _srgb_table()  # a look-up is many times as fast as the power


def vertex_normals(vertices: FloatArray, faces: np.ndarray) -> FloatArray:
    """(n, 3) unit normals, each the area-weighted mean of the faces around a vertex."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    of_faces = np.cross(b - a, c - a)
    normals = np.zeros_like(vertices)
    for k in range(3):
        np.add.at(normals, faces[:, k], of_faces)
    lengths = np.sqrt((normals**2).sum(axis=1, keepdims=True))
    return np.asarray(normals / np.maximum(lengths, 1e-300))


_FINE = 6000  # vertices
_looks: dict[int, tuple[LoadedModel, PigLook]] = {}  # by identity: the library keeps one object


def _look(loaded: LoadedModel) -> PigLook:
    known = _looks.get(id(loaded))
    if known is not None:
        return known[1]
    visual = loaded.visual
    vertices, faces = visual.vertices_m, np.asarray(visual.faces, dtype=np.int64)
    normals = vertex_normals(vertices, faces)
    names = tuple(dict.fromkeys(visual.materials))
    number = {name: k for k, name in enumerate(names)}
    materials = np.array([number[name] for name in visual.materials])
    edges = vertices[faces] - vertices[np.roll(faces, 1, axis=1)]
    spacing = float(np.sqrt((edges**2).sum(axis=2)).mean())
    points = vertices[::3] if len(vertices) > _FINE else _points(vertices, faces)
    look = PigLook(
        vertices,
        normals,
        faces,
        materials,
        names,
        _shares(faces, materials, len(vertices)) if len(vertices) > _FINE else None,
        _smooth(seen_sky(vertices, normals, spacing), faces),
        spacing,
        points,
        loaded.model.height_m,
    )
    if "dot" not in names:
        look = _dotted(look, loaded)
    _looks[id(loaded)] = (loaded, look)
    return look


def _dotted(look: PigLook, loaded: LoadedModel) -> PigLook:
    """The look with a round dot on the flank that carries it, beside the centre of mass.

    Triangles are cut along the dot's border, so that it is round on coarse meshes too; the pieces
    have vertices of their own, with normals and light between those of the triangle's corners.
    """
    out = np.array([0.0, 1.0 if loaded.model.dot_side == "left" else -1.0, 0.0])
    a, b, c = (look.vertices_m[look.faces[:, k]] for k in range(3))
    facing = (np.cross(b - a, c - a) @ out > 0.0) & ((a + b + c) @ out > 0.0)
    angles = 2.0 * np.pi * np.arange(_DOT_CORNERS) / _DOT_CORNERS
    borders = np.column_stack([np.cos(angles), np.zeros_like(angles), np.sin(angles)])
    radius = _DOT_SHARE * float(np.ptp(look.vertices_m[:, 2]))
    beyond = (look.vertices_m @ borders.T - radius)[look.faces]  # (m, 3, borders), <= 0 within
    within = facing & (beyond <= 0.0).all(axis=(1, 2))
    crossing = facing & ~within & ~(beyond > 0.0).all(axis=1).any(axis=1)
    corners = np.hstack([look.vertices_m, look.normals, look.sky])
    dot = len(look.names)
    rows, faces = [corners], [look.faces[~crossing]]
    materials = [np.where(within, dot, look.materials)[~crossing]]
    count = len(corners)
    for face, material in zip(look.faces[crossing], look.materials[crossing], strict=True):
        inner, pieces = corners[face], []
        for border in borders:
            inner, outer = _cut(inner, inner[:, :3] @ border - radius)
            pieces.append(outer)
        for piece in (*pieces, inner):
            if len(piece) > 2:
                first = np.arange(1, len(piece) - 1)
                rows.append(piece)
                faces.append(count + np.column_stack([np.zeros_like(first), first, first + 1]))
                materials.append(np.full(len(first), dot if piece is inner else material))
                count += len(piece)
    painted = np.concatenate(materials)
    if not (painted == dot).any():  # no flank beside the centre of mass
        return look
    vertices = np.concatenate(rows)
    return replace(
        look,
        vertices_m=vertices[:, :3],
        normals=vertices[:, 3:6],
        sky=vertices[:, 6:].astype(np.float32),
        faces=np.concatenate(faces),
        materials=painted,
        names=(*look.names, "dot"),
        shares=None,
    )


def _cut(polygon: FloatArray, beyond: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The parts (k, n) of a convex polygon within and beyond a line.

    Args:
        polygon: (m, n) corners in order, with whatever else is to be interpolated.
        beyond: (m,) how far each lies beyond.
    """
    parts: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    ends = zip(np.roll(polygon, -1, axis=0), np.roll(beyond, -1), strict=True)
    for here, there, (corner, far) in zip(polygon, beyond, ends, strict=True):
        for part, sign in zip(parts, (-1.0, 1.0), strict=True):
            if sign * there >= 0.0:
                part.append(here)
            if there * far < 0.0:
                part.append(here + there / (there - far) * (corner - here))
    width = polygon.shape[1]
    within, outside = (np.array(part).reshape(-1, width) for part in parts)
    return within, outside


def _smooth(values: NDArray[np.float32], faces: NDArray[np.int64]) -> NDArray[np.float32]:
    """Each vertex's values averaged with its neighbours', twice."""
    ends = np.concatenate([faces, np.roll(faces, 1, axis=1)]).reshape(-1)
    starts = np.concatenate([np.roll(faces, 1, axis=1), faces]).reshape(-1)
    number = len(values)
    near = csr_matrix((np.ones(len(ends), np.float32), (starts, ends)), (number, number))
    near = near + identity(number, np.float32) * 2.0
    total = np.maximum(np.asarray(near.sum(axis=1), dtype=np.float32), 1.0)
    for _ in range(2):
        values = (near @ values) / total
    return values


def _shares(faces: NDArray[np.int64], materials: NDArray[np.int64], vertices: int) -> FloatArray:
    """(vertices, materials) share of the triangles around each vertex, smoothed once more."""
    shares = np.zeros((vertices, int(materials.max()) + 1))
    for k in range(3):
        np.add.at(shares, (faces[:, k], materials), 1.0)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1.0)
    return _smooth(shares.astype(np.float32), faces).astype(float)


def _points(vertices: FloatArray, faces: NDArray[np.int64]) -> FloatArray:
    """Points all over a coarse surface: corners and a grid on every triangle."""
    size = float(np.ptp(vertices, axis=0).max()) / 80
    corners = vertices[faces]
    longest = float(np.sqrt(((corners - np.roll(corners, 1, axis=1)) ** 2).sum(axis=2)).max())
    steps = max(1, min(200, int(np.ceil(longest / size))))
    i, j = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1))
    a, b = i[i + j <= steps] / steps, j[i + j <= steps] / steps
    weights = np.stack([a, b, 1.0 - a - b], axis=1)
    return np.asarray(np.einsum("kw,mwx->mkx", weights, corners).reshape(-1, 3))


def colored_meshes(model: str, name: str) -> list[ColoredMesh]:
    """The pig of that name (`black` or `pink`) for the window, a mesh a material, pig frame."""
    look = pig_look(model)
    return [
        ColoredMesh(
            look.vertices_m,
            look.normals,
            look.faces[look.materials == number],
            (float(red), float(green), float(blue)),
        )
        for number, (red, green, blue) in enumerate(look.colors(name))
    ]


@dataclass(frozen=True, eq=False)
class ColoredMesh(ExactValue):
    """Triangles of one colour.

    Attributes:
        vertices_m: (n, 3) [m], frame of the body.
        normals: (n, 3) unit normals for smooth shading.
        faces: (m, 3) vertex indices.
        color: red, green, blue in [0, 1].
    """

    vertices_m: FloatArray
    normals: FloatArray
    faces: NDArray[np.int64]
    color: Color


def shaded_obj(mesh: ColoredMesh, units_per_m: float) -> str:
    """An OBJ file of it with its normals, in units of 1 / `units_per_m` m."""
    used, faces = np.unique(mesh.faces, return_inverse=True)
    faces = faces.reshape(-1, 3) + 1
    vertices, normals = mesh.vertices_m[used] * units_per_m, mesh.normals[used]
    lines = [f"v {x:.7g} {y:.7g} {z:.7g}" for x, y, z in vertices.tolist()]
    lines += [f"vn {x:.5f} {y:.5f} {z:.5f}" for x, y, z in normals.tolist()]
    lines += [f"f {a}//{a} {b}//{b} {c}//{c}" for a, b, c in faces.tolist()]
    return "\n".join(lines) + "\n"

"""What a pig looks like: the visual mesh of a model in the colours of its pair.

Both standard pigs are pink; the black one is told by its snout, as in Kern's study. A mesh from
elsewhere has no painted snout: there the black pig's whole skin is dark, and a dot is painted on
the flank that carries it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from physim.geometry import rotate
from physim.pigs.model import LoadedModel, load_all
from physim.render.light import ambient_visibility
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
        visibility: of the sky past the pig from each vertex (`light.ambient_visibility`).
        spacing_m: typical distance of neighbouring vertices.
        points_m: (k, 3) points all over the surface, at most about `spacing_m` apart.
        size_m: height of the model.
    """

    vertices_m: FloatArray
    normals: FloatArray
    faces: NDArray[np.int64]
    materials: NDArray[np.int64]
    names: tuple[str, ...]
    shares: NDArray[np.float32] | None
    visibility: NDArray[np.float32]
    spacing_m: float
    points_m: FloatArray
    size_m: float

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

    def placed(self, points_m: FloatArray) -> FloatArray:
        """(n, 3) points of the pig frame in the world [m]."""
        return np.asarray(rotate(self.state.quat_xyzw, points_m) + self.state.position_m)


def linear(srgb: FloatArray) -> FloatArray:
    """Light from a colour as it is written down (sRGB), both in [0, 1]."""
    return np.asarray(np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4))


def srgb(light: FloatArray) -> FloatArray:
    """The opposite of `linear`; brighter than white is white."""
    light = np.clip(light, 0.0, 1.0)
    bright = 1.055 * np.maximum(light, 1e-9) ** (1.0 / 2.4) - 0.055
    return np.asarray(np.where(light <= 0.0031308, 12.92 * light, bright))


def vertex_normals(vertices: FloatArray, faces: NDArray[np.int64]) -> FloatArray:
    """(n, 3) unit normals, each the area-weighted mean of the faces around a vertex."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = _corners(faces, len(vertices)) @ np.cross(b - a, c - a)
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None])


_FINE = 6000  # vertices
_looks: dict[int, tuple[LoadedModel, PigLook]] = {}  # by identity: the library keeps one object


def pig_look(model: str) -> PigLook:
    """The look of a model, by its name or path, made when it is first asked for."""
    loaded = load_all(model)
    if id(loaded) not in _looks:
        _looks[id(loaded)] = (loaded, _look(loaded))
    return _looks[id(loaded)][1]


def _look(loaded: LoadedModel) -> PigLook:
    vertices = loaded.visual.vertices_m
    faces = np.asarray(loaded.visual.faces, dtype=np.int64)
    names = tuple(dict.fromkeys(loaded.visual.materials))
    materials = np.array([names.index(name) for name in loaded.visual.materials])
    normals = vertex_normals(vertices, faces)
    edges = vertices[faces] - vertices[np.roll(faces, 1, axis=1)]
    spacing = float(np.linalg.norm(edges, axis=2).mean())
    fine = len(vertices) > _FINE
    corners = _corners(faces, len(vertices))
    shares = corners @ np.eye(len(names), dtype=np.float32)[materials]
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1.0)
    look = PigLook(
        vertices,
        normals,
        faces,
        materials,
        names,
        _smooth(shares, corners) if fine else None,
        _smooth(ambient_visibility(vertices, normals, spacing), corners),
        spacing,
        vertices[::3] if fine else _points(vertices, faces),
        loaded.model.height_m,
    )
    return look if "dot" in names else _dotted(look, loaded.model.dot_side)


def _dotted(look: PigLook, side: str) -> PigLook:
    """The look with a round dot on the flank that carries it, beside the centre of mass.

    Triangles are cut along the dot's border, so that it is round on coarse meshes too; the pieces
    have vertices of their own, with normals and light between those of the triangle's corners.
    """
    out = np.array([0.0, 1.0 if side == "left" else -1.0, 0.0])
    a, b, c = (look.vertices_m[look.faces[:, k]] for k in range(3))
    facing = (np.cross(b - a, c - a) @ out > 0.0) & ((a + b + c) @ out > 0.0)
    angles = 2.0 * np.pi * np.arange(_DOT_CORNERS) / _DOT_CORNERS
    borders = np.column_stack([np.cos(angles), np.zeros_like(angles), np.sin(angles)])
    radius = _DOT_SHARE * float(np.ptp(look.vertices_m[:, 2]))
    beyond = (look.vertices_m @ borders.T - radius)[look.faces]  # (m, 3, borders), <= 0 within
    within = facing & (beyond <= 0.0).all(axis=(1, 2))
    crossing = facing & ~within & ~(beyond > 0.0).all(axis=1).any(axis=1)
    corners = np.hstack([look.vertices_m, look.normals, look.visibility])
    dot = len(look.names)
    rows, faces = [corners], [look.faces[~crossing]]
    materials = [np.where(within, dot, look.materials)[~crossing]]
    count = len(corners)
    for face, material in zip(look.faces[crossing], look.materials[crossing], strict=True):
        inner, pieces = corners[face], []
        for border in borders:
            beyond = inner[:, :3] @ border - radius
            pieces.append(_clipped(inner, -beyond))
            inner = _clipped(inner, beyond)
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
        visibility=vertices[:, 6:].astype(np.float32),
        faces=np.concatenate(faces),
        materials=painted,
        names=(*look.names, "dot"),
        shares=None,
    )


def _clipped(polygon: FloatArray, beyond: FloatArray) -> FloatArray:
    """(k, n) the part of a convex polygon (m, n) where `beyond` (m,), linear on it, is <= 0."""
    part = []
    for k in range(len(polygon)):
        before, here = beyond[k - 1], beyond[k]
        if before * here < 0.0:
            share = before / (before - here)
            part.append(polygon[k - 1] + share * (polygon[k] - polygon[k - 1]))
        if here <= 0.0:
            part.append(polygon[k])
    return np.array(part).reshape(-1, polygon.shape[1])


def _corners(faces: NDArray[np.int64], vertices: int) -> csr_matrix:
    """(vertices, faces) 1 where a vertex is a corner of a face."""
    ones = np.ones(faces.size, dtype=np.float32)
    ends = 3 * np.arange(len(faces) + 1)
    return csr_matrix((ones, faces.reshape(-1), ends), (len(faces), vertices)).T.tocsr()


def _smooth(values: NDArray[np.float32], corners: csr_matrix) -> NDArray[np.float32]:
    """Each vertex's values averaged with those of the triangles around it, three times."""
    three_times = 3.0 * np.maximum(corners.sum(axis=1), 1.0)
    for _ in range(3):
        values = np.asarray(corners @ (corners.T @ values) / three_times, dtype=np.float32)
    return values


def _points(vertices: FloatArray, faces: NDArray[np.int64]) -> FloatArray:
    """Points all over a coarse surface: corners and a grid on every triangle."""
    size = float(np.ptp(vertices, axis=0).max()) / 80
    corners = vertices[faces]
    longest = float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max())
    steps = max(1, min(200, int(np.ceil(longest / size))))
    i, j = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1))
    a, b = i[i + j <= steps] / steps, j[i + j <= steps] / steps
    weights = np.stack([a, b, 1.0 - a - b], axis=1)
    return np.asarray(np.einsum("kw,mwx->mkx", weights, corners).reshape(-1, 3))


def shaded_obj(look: PigLook, material: int, units_per_m: float) -> str:
    """An OBJ file of one material's faces with normals, in units of 1 / `units_per_m` m."""
    used, faces = np.unique(look.faces[look.materials == material], return_inverse=True)
    faces = faces.reshape(-1, 3) + 1
    vertices, normals = look.vertices_m[used] * units_per_m, look.normals[used]
    lines = [f"v {x:.7g} {y:.7g} {z:.7g}" for x, y, z in vertices.tolist()]
    lines += [f"vn {x:.5f} {y:.5f} {z:.5f}" for x, y, z in normals.tolist()]
    lines += [f"f {a}//{a} {b}//{b} {c}//{c}" for a, b, c in faces.tolist()]
    return "\n".join(lines) + "\n"

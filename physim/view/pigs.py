"""What a pig looks like: the visual mesh of a model in the colours of its pair.

Both pigs are pink; the black one is told by its snout, as in Kern's study.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, identity

from physim.pigs.library import load_all
from physim.pigs.model import LoadedModel
from physim.values import BLACK, ExactValue, FloatArray, RigidState
from physim.view.light import seen_sky
from physim.view.raster import Seen
from physim.world.shaded import ColoredMesh

Color = tuple[float, float, float]  # red, green, blue in [0, 1], sRGB

PINK_COLORS: Mapping[str, Color] = {
    "skin": (0.96, 0.66, 0.69),
    "snout": (0.90, 0.48, 0.54),
    "dot": (0.13, 0.10, 0.12),
    "eye": (0.06, 0.05, 0.06),
}
BLACK_COLORS: Mapping[str, Color] = {**PINK_COLORS, "snout": (0.12, 0.11, 0.12)}


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
        """(materials, 3) linear RGB of the pig of that name."""
        colors = BLACK_COLORS if name == BLACK else PINK_COLORS
        return linear(np.array([colors.get(n, colors["skin"]) for n in self.names]))


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
    _looks[id(loaded)] = (loaded, look)
    return look


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
    colors = BLACK_COLORS if name == BLACK else PINK_COLORS
    return [
        ColoredMesh(
            look.vertices_m,
            look.normals,
            look.faces[look.materials == number],
            colors.get(material, colors["skin"]),
        )
        for number, material in enumerate(look.names)
    ]

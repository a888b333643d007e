"""What a pig looks like: the visual mesh of a model in the colours of its pair.

Both pigs are pink; the black one is told by its snout, as in Kern's study.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from physim.pigs.library import visual_mesh
from physim.values import BLACK, FloatArray
from physim.world.bullet_camera import Color, ColoredMesh

PINK_COLORS: Mapping[str, Color] = {
    "skin": (0.96, 0.66, 0.69),
    "snout": (0.90, 0.48, 0.54),
    "dot": (0.13, 0.10, 0.12),
    "eye": (0.06, 0.05, 0.06),
}
BLACK_COLORS: Mapping[str, Color] = {**PINK_COLORS, "snout": (0.12, 0.11, 0.12)}


def pig_meshes(model: str, name: str) -> tuple[ColoredMesh, ...]:
    """The coloured meshes of a model, one a material, pig frame.

    Args:
        model: name of, or path to, a pig model.
        name: `black` or `pink`.
    """
    visual = visual_mesh(model)
    normals = vertex_normals(visual.vertices_m, visual.faces)
    materials = np.array(visual.materials)
    colors = BLACK_COLORS if name == BLACK else PINK_COLORS
    return tuple(
        ColoredMesh(
            visual.vertices_m,
            normals,
            visual.faces[materials == material],
            colors.get(material, colors["skin"]),
        )
        for material in dict.fromkeys(visual.materials)
    )


def vertex_normals(vertices: FloatArray, faces: np.ndarray) -> FloatArray:
    """(n, 3) unit normals, each the area-weighted mean of the faces around a vertex."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    of_faces = np.cross(b - a, c - a)
    normals = np.zeros_like(vertices)
    for k in range(3):
        np.add.at(normals, faces[:, k], of_faces)
    lengths = np.sqrt((normals**2).sum(axis=1, keepdims=True))
    return np.asarray(normals / np.maximum(lengths, 1e-300))

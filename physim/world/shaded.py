"""Triangles of one colour, and the OBJ file that PyBullet's window reads them from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from physim.values import ExactValue, FloatArray

Color = tuple[float, float, float]


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

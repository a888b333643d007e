"""What physics takes from a model's mesh: its size and its mass integrals."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from physim import kept
from physim.pigs import mesh as meshes
from physim.pigs.modelfile import ModelFile
from physim.values import ExactValue, FloatArray


@dataclass(frozen=True, eq=False)
class Solid(ExactValue):
    """A closed mesh, in metres, along the pig's axes.

    Attributes:
        size_m: (3,) extent [m].
        integrals: [SI], at density 1.
    """

    size_m: FloatArray
    integrals: meshes.MassIntegrals


def solid_of(settings: ModelFile) -> Solid:
    """The solid of a model's mesh; the mesh is not parsed if that was done before (`kept`).

    Raises:
        ModelError: a missing or unusable mesh file.
    """
    content = meshes.read_plain(settings.mesh)
    frame = json.dumps([settings.unit_m, settings.axes.tolist()]).encode()
    numbers = kept.result("solid", frame + content, lambda: _computed(content, settings))
    integrals = meshes.MassIntegrals(
        numbers["volume"], np.array(numbers["center"]), np.array(numbers["inertia"])
    )
    return Solid(np.array(numbers["size_m"]), integrals)


def mesh_vertices_m(obj: meshes.ObjMesh, settings: ModelFile) -> FloatArray:
    """(n, 3) vertices along the pig's axes, in the place that the file gives them [m]."""
    vertices: FloatArray = obj.vertices * settings.unit_m @ settings.axes.T
    return vertices


def _computed(content: bytes, settings: ModelFile) -> dict[str, Any]:
    obj = meshes.parse_obj(content, settings.mesh)
    vertices = mesh_vertices_m(obj, settings)
    meshes.refuse_size(vertices, settings.mesh)
    integrals = meshes.mass_integrals(vertices, obj.faces, str(settings.mesh))
    return {
        "size_m": np.ptp(vertices, axis=0).tolist(),
        "volume": integrals.volume,
        "center": integrals.center.tolist(),
        "inertia": integrals.inertia.tolist(),
    }

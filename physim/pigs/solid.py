"""What physics takes from a model's mesh: its size and mass integrals, kept beside it.

To read a mesh and to integrate over it takes a second, so `physim model build` keeps the few
numbers that it comes to in `solid.json`. They count only for the bytes and the frame that they
were computed from, and only as they were written; else they are computed anew.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from physim.pigs import mesh as meshes
from physim.pigs.modelfile import ModelFile
from physim.values import FloatArray

FILE_NAME = "solid.json"
_METHOD = 1  # raise when the same mesh comes to other numbers
_SHAPES = {"size_m": (3,), "volume": (), "center": (3,), "inertia": (3, 3)}


@dataclass(frozen=True)
class Solid:
    """A closed mesh, in metres, along the pig's axes.

    Attributes:
        size_m: (3,) extent [m].
        integrals: [SI], at density 1.
    """

    size_m: FloatArray
    integrals: meshes.MassIntegrals


def solid_of(settings: ModelFile) -> Solid:
    """The solid of a model's mesh, kept or computed.

    Raises:
        ModelError: a missing or unusable mesh file.
    """
    content = meshes.read_plain(settings.mesh)
    kept = _kept(settings.mesh.with_name(FILE_NAME), _key(content, settings))
    return kept or _computed(content, settings)


def keep_solid(settings: ModelFile) -> None:
    """Computes the solid of a model's mesh and writes it beside that.

    Raises:
        ModelError: a missing or unusable mesh file, or a folder that cannot be written to.
    """
    content = meshes.read_plain(settings.mesh)
    solid = _computed(content, settings)
    numbers = {
        "size_m": solid.size_m.tolist(),
        "volume": solid.integrals.volume,
        "center": solid.integrals.center.tolist(),
        "inertia": solid.integrals.inertia.tolist(),
    }
    key = _key(content, settings)
    kept = {"computed_from": key, **numbers, "seal": _seal(key, numbers)}
    meshes.write_text(settings.mesh.with_name(FILE_NAME), json.dumps(kept, indent=1) + "\n")


def mesh_vertices_m(obj: meshes.ObjMesh, settings: ModelFile) -> FloatArray:
    """(n, 3) vertices along the pig's axes, in the place that the file gives them [m]."""
    vertices: FloatArray = obj.vertices * settings.unit_m @ settings.axes.T
    return vertices


def _computed(content: bytes, settings: ModelFile) -> Solid:
    obj = meshes.parse_obj(content, settings.mesh)
    vertices = mesh_vertices_m(obj, settings)
    meshes.refuse_size(vertices, settings.mesh)
    integrals = meshes.mass_integrals(vertices, obj.faces, str(settings.mesh))
    return Solid(np.ptp(vertices, axis=0), integrals)


def _kept(path: Path, key: str) -> Solid | None:
    """What the file holds, if it was computed from just this and is as it was written."""
    try:
        data = json.loads(path.read_bytes())
        numbers = {name: data[name] for name in _SHAPES}
        if data["computed_from"] != key or data["seal"] != _seal(key, numbers):
            return None
        arrays = {name: np.array(numbers[name], dtype=np.float64) for name in _SHAPES}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    if any(arrays[name].shape != shape for name, shape in _SHAPES.items()):
        return None
    volume, center, inertia = float(arrays["volume"]), arrays["center"], arrays["inertia"]
    return Solid(arrays["size_m"], meshes.MassIntegrals(volume, center, inertia))


def _key(content: bytes, settings: ModelFile) -> str:
    """A hash of all that the numbers depend on."""
    frame = [_METHOD, settings.unit_m, settings.axes.tolist()]
    return hashlib.sha256(json.dumps(frame).encode() + content).hexdigest()


def _seal(key: str, numbers: dict[str, object]) -> str:
    """A hash of the numbers, to the last bit; an edited file has another one."""
    return hashlib.sha256((key + json.dumps(numbers)).encode()).hexdigest()

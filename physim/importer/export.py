"""A model as a mesh file: to print it, or to look at it in a 3D program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from physim.errors import ModelError
from physim.files import told, write_whole
from physim.importer import formats
from physim.importer.child import missing_library
from physim.importer.solids import Solid, center_of, volume_of
from physim.pigs.model import LoadedModel
from physim.types import FloatArray


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes:
        path: of the file.
        faces: how many triangles.
        volume_mm3: of the closed surface.
        offset_mm: (3,) of the pig's centre of mass from the centroid: forward, left, up.
        mass_g: of the pig.
    """

    path: Path
    faces: int
    volume_mm3: float
    offset_mm: FloatArray
    mass_g: float


def export(loaded: LoadedModel, path: Path, drawn: bool = False) -> Exported:
    """Writes a model in mm, x forward, y left, z up, the centre of mass at the origin.

    Args:
        loaded: from `physim.pigs.load_all`.
        path: its suffix says the format; a file there is replaced.
        drawn: the mesh of the pictures, in place of the solid that is thrown (the union of the
            convex parts), from which it differs by a few tenths of a millimetre.

    Raises:
        ModelError: another format, a missing library, or a file that cannot be written.
    """
    if drawn:
        vertices = 1e3 * loaded.visual.vertices_m
        faces = np.asarray(loaded.visual.faces, dtype=np.int64)
    else:
        try:
            parts = [Solid.hull(1e3 * part.vertices_m) for part in loaded.model.parts]
            vertices, faces = Solid.union(parts).mesh()
        except ImportError as error:
            raise missing_library(error) from error
    content = formats.content_of(vertices, faces, path)
    with told(ModelError, f"{path}: cannot be written", "choose another file"):
        write_whole(path, content)
    offset_mm, mass_g = -center_of(vertices, faces), 1e3 * loaded.model.mass_kg
    return Exported(path, len(faces), volume_of(vertices, faces), offset_mm, mass_g)

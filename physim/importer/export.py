"""A model as a mesh file: to print it, or to look at it in a 3D program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from physim.errors import ModelError
from physim.files import told, write_whole
from physim.importer import formats
from physim.importer.child import missing_library
from physim.importer.solids import IntArray, Solid, center_of, volume_of
from physim.pigs import mesh as meshes
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
    try:
        vertices, faces = _drawn(loaded) if drawn else _thrown(loaded)
    except ImportError as error:
        raise missing_library(error) from error
    content = formats.content_of(vertices, faces, path)
    with told(ModelError, f"{path}: cannot be written", "choose another file"):
        write_whole(path, content)
    return Exported(
        path,
        len(faces),
        volume_of(vertices, faces),
        -center_of(vertices, faces),
        1e3 * loaded.model.mass_kg,
    )


def _thrown(loaded: LoadedModel) -> tuple[FloatArray, IntArray]:
    solids = []
    for part in loaded.model.parts:
        corners, faces = meshes.convex_hull(1e3 * part.vertices_m, part.label)
        solid = Solid.of(corners, np.asarray(faces, dtype=np.int64))
        assert solid is not None  # a convex hull is closed
        solids.append(solid)
    return Solid.union(solids).mesh()


def _drawn(loaded: LoadedModel) -> tuple[FloatArray, IntArray]:
    visual = loaded.visual
    return 1e3 * visual.vertices_m, np.asarray(visual.faces, dtype=np.int64)

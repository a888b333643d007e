"""The mesh files of 3D programs: which formats are read, and written of a model.

Reading runs in a child process (`child`). Nothing but the named file is read, and buffers beside a
glTF: no textures or materials, nothing elsewhere, nothing over the network.

The readers are physim's own: what a file announces must be what is read, and what is left out must
be told. The mesh libraries drop what they do not know. Writing is left to one of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from physim.errors import ModelError, PhysimError, shown_name
from physim.files import told, write_whole
from physim.importer.child import missing_library
from physim.importer.gltf import read_glb, read_gltf
from physim.importer.reading import RawMesh, plain_content
from physim.importer.solids import IntArray, Solid, center_of, volume_of
from physim.importer.text_formats import is_binary_stl, read_obj, read_off, read_ply, read_stl
from physim.importer.threemf import content_3mf, read_3mf
from physim.pigs.model import LoadedModel
from physim.types import FloatArray

READERS: dict[str, Callable[[RawMesh, bytes], None]] = {
    ".stl": read_stl,
    ".obj": read_obj,
    ".ply": read_ply,
    ".glb": read_glb,
    ".gltf": read_gltf,
    ".3mf": read_3mf,
    ".off": read_off,
}
WRITTEN = (".stl", ".obj", ".ply", ".glb", ".3mf", ".off")
_UNIT_SAID = re.compile(
    rb"\bunits?\b[\s:=]*(?:are|is|in)?\s*(mm|cm|m|inch(?:es)?|in|milli\w+|centi\w+|met(?:er|re)s?|"
    rb"feet|foot|ft)\b",
    re.I,
)
_UNIT_STARTS = {"mm": "mm", "mi": "mm", "c": "cm", "i": "inch", "f": "foot", "m": "m"}


def read(path: Path) -> RawMesh:
    """Reads a mesh file of any of the formats.

    Raises:
        ModelError: no such file, another format, or nothing in it that can be used.
    """
    raw = RawMesh(path)
    kind = path.suffix.lower()
    if kind not in READERS:
        raise raw.refused(f"no format that is read ({', '.join(READERS)})")
    content = plain_content(path)
    if kind not in (".glb", ".3mf") and not (kind == ".stl" and is_binary_stl(content)):
        content = _text(raw, content)
    try:
        READERS[kind](raw, content)
    except (PhysimError, ImportError, MemoryError):
        raise
    except Exception as error:  # a tree whose entries are of other kinds than the format's
        raise raw.refused(
            f"cannot be read as {kind[1:].upper()}: it is damaged, cut off or of another format"
        ) from error
    said = _UNIT_SAID.search(content[:2000])
    if said and not raw.unit:
        word = said[1].lower().decode()
        raw.unit_remark = next(u for start, u in _UNIT_STARTS.items() if word.startswith(start))
        action = "no standard, so taken only if it gives a likely size; else give --unit"
        raw.note("unit", f"{shown_name(b' '.join(said[0].split()).decode())}, in its text", action)
    return raw.finish()


def _text(raw: RawMesh, content: bytes) -> bytes:
    """Text without a mark of its encoding and what fills its end, or a binary PLY as it is."""
    zeros = [byte == 0 for byte in content[:16]]
    wide = content.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff"))
    marked = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    if wide or marked or all(zeros[::2]) != all(zeros[1::2]):
        raise raw.refused(f"is UTF-{32 if wide else 16} text", "save it as UTF-8")
    if raw.path.suffix.lower() not in (".ply", ".stl"):  # which may be binary
        content = content.rstrip(b"\0\x1a \t\r\n")
    return content.removeprefix(b"\xef\xbb\xbf")


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
    content = content_of(vertices, faces, path)
    with told(ModelError, f"{path}: cannot be written", "choose another file"):
        write_whole(path, content)
    offset_mm, mass_g = -center_of(vertices, faces), 1e3 * loaded.model.mass_kg
    return Exported(path, len(faces), volume_of(vertices, faces), offset_mm, mass_g)


def content_of(vertices: FloatArray, faces: IntArray, path: Path) -> bytes:
    """A mesh file's content.

    Args:
        vertices: (n, 3) in mm, x forward, z up.
        faces: (m, 3).
        path: its suffix says the format; glTF has metres and y up.

    Raises:
        ModelError: a format that is not written.
    """
    kind = path.suffix.lower()
    if kind not in WRITTEN:
        remedy = f"choose one of {', '.join(WRITTEN)}"
        raise RawMesh(path).refused("no format that is written", remedy)
    if kind == ".3mf":
        return content_3mf(vertices, faces)
    if kind == ".glb":
        vertices = vertices[:, [1, 2, 0]] / 1e3
    import trimesh

    content = trimesh.Trimesh(vertices, faces, process=False).export(file_type=kind[1:])
    return content.encode() if isinstance(content, str) else bytes(content)

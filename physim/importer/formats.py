"""The mesh files of 3D programs: which formats are read and written.

Reading runs in a child process (`child`). Nothing but the named file is read, and buffers beside a
glTF: no textures or materials, nothing elsewhere, nothing over the network.

The readers are physim's own: what a file announces must be what is read, and what is left out must
be told. The mesh libraries drop what they do not know. Writing is left to one of them.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from physim.errors import shown_name
from physim.importer.gltf import read_glb, read_gltf
from physim.importer.ply import read_ply
from physim.importer.polygons import is_binary_stl, read_obj, read_off, read_stl
from physim.importer.reading import RawMesh, Reading, plain_content
from physim.importer.solids import IntArray
from physim.importer.threemf import content_3mf, read_3mf
from physim.types import FloatArray

READERS: dict[str, Callable[[Reading, bytes], None]] = {
    ".stl": read_stl,
    ".obj": read_obj,
    ".ply": read_ply,
    ".glb": read_glb,
    ".gltf": read_gltf,
    ".3mf": read_3mf,
    ".off": read_off,
}
SUFFIXES = tuple(READERS)
WRITTEN = (".stl", ".obj", ".ply", ".glb", ".3mf", ".off")
_DAMAGED = (  # what comes of a tree whose entries are of other kinds than the format's
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    RuntimeError,  # also nested too deeply, or of a later ZIP than is known
    SyntaxError,  # of XML
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
_WIDE = re.compile(  # by its mark, or as every other byte of the start is 0
    rb"(\xff\xfe\0\0|\0\0\xfe\xff)|\xff\xfe|\xfe\xff|([\t\r\n -~]\0){8}|(\0[\t\r\n -~]){8}"
)
_UNIT_SAID = re.compile(
    rb"\bunits?\b[\s:=]*(?:are|is|in)?\s*(mm|cm|m|inch(?:es)?|in|milli\w+|centi\w+|met(?:er|re)s?|"
    rb"feet|foot|ft)\b",
    re.I,
)


def read(path: Path) -> RawMesh:
    """Reads a mesh file of any of the `SUFFIXES`.

    Raises:
        ModelError: no such file, another format, or nothing in it that can be used.
    """
    reading = Reading(path)
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise reading.refused(f"no format that is read ({', '.join(SUFFIXES)})")
    content = plain_content(path)
    if kind in (".stl", ".obj", ".ply", ".off", ".gltf"):
        content = _text(reading, content)
    try:
        READERS[kind](reading, content)
    except _DAMAGED as error:
        raise reading.refused(
            f"cannot be read as {kind[1:].upper()}: it is damaged, cut off or of another format"
        ) from error
    said = _UNIT_SAID.search(content[:2000])
    if said and not reading.unit:
        words = shown_name(b" ".join(said[0].split()).decode())
        reading.unit_remark = _unit_named(said[1].lower().decode())
        action = "no standard, so taken only if it gives a likely size; else give --unit"
        reading.note("unit", f"{words}, in its text", action)
    return reading.mesh(kind in (".glb", ".gltf"))


def _unit_named(word: str) -> str:
    """The key of `scale.UNITS_MM` for a word that `_UNIT_SAID` finds."""
    starts = {"mm": "mm", "mi": "mm", "c": "cm", "i": "inch", "f": "foot", "m": "m"}
    return next(unit for start, unit in starts.items() if word.startswith(start))


def _text(reading: Reading, content: bytes) -> bytes:
    """Text without a mark of its encoding, or a binary file as it is."""
    if reading.path.suffix.lower() == ".stl" and is_binary_stl(content):
        return content
    wide = _WIDE.match(content)
    if wide:
        raise reading.refused(f"is UTF-{32 if wide[1] else 16} text", "save it as UTF-8")
    if reading.path.suffix.lower() not in (".ply", ".stl"):  # which may be binary
        content = content.rstrip(b"\0\x1a \t\r\n")
    return content.removeprefix(b"\xef\xbb\xbf")


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
        raise Reading(path).refused(
            "no format that is written", f"choose one of {', '.join(WRITTEN)}"
        )
    if kind == ".3mf":
        return content_3mf(vertices, faces)
    if kind == ".glb":
        vertices = vertices[:, [1, 2, 0]] / 1e3
    import trimesh

    content = trimesh.Trimesh(vertices, faces, process=False).export(file_type=kind[1:])
    return content.encode() if isinstance(content, str) else bytes(content)

"""The mesh files of 3D programs: the importer's only door to the mesh library.

Reading runs in a child process (`child`). Nothing but the named file is read, and buffers beside a
glTF: no textures or materials, nothing elsewhere, nothing over the network.
"""

from __future__ import annotations

import base64
import io
import json
import stat
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from physim.arguments import shown_name
from physim.errors import ModelError
from physim.importer.child import missing_library
from physim.importer.solids import IntArray
from physim.values import FloatArray

SUFFIXES = (".stl", ".obj", ".ply", ".glb", ".gltf", ".3mf", ".off")
WRITTEN = (".stl", ".obj", ".ply", ".glb", ".3mf", ".off")
MAX_BYTES = 200_000_000  # of a file, unpacked
MAX_FACES = 1_000_000
MAX_COORDINATE = 1e9  # of any unit
_UNITS = {"millimeter": "mm", "centimeter": "cm", "meter": "m", "inch": "inch", "foot": "", "": ""}
_EXPORT = "export it again from the 3D program"


@dataclass(frozen=True)
class RawMesh:
    """A file's triangles, as they are.

    Attributes:
        vertices: (n, 3) in the file's unit and axes.
        faces: (m, 3) vertex indices.
        unit: "mm", "cm", "m" or "inch" where the file says it, else "".
        y_up: whether the format has y upwards and z forward (glTF).
    """

    vertices: FloatArray
    faces: IntArray
    unit: str
    y_up: bool


def read(path: Path) -> RawMesh:
    """Reads a mesh file of any of the `SUFFIXES`.

    Raises:
        ModelError: no such file, another format, or nothing in it that can be used.
    """
    kind = path.suffix.lower()
    name = shown_name(path.name)
    if kind not in SUFFIXES:
        raise ModelError(f"{name}: no format that is read ({', '.join(SUFFIXES)}); {_EXPORT}")
    content = _plain(path)
    if kind == ".3mf":
        _refuse_archive(content, name)
    elif kind == ".gltf":
        content = _self_contained(content, path)
    elif kind == ".stl":
        _refuse_truncated(content, name)
    elif kind in (".obj", ".off"):  # else the library would want another one that guesses encodings
        content = content.decode("utf-8", errors="replace").encode()
    vertices, faces, unit = _triangles(content, kind, name)
    _refuse_numbers(vertices, faces, name)
    gltf = kind in (".glb", ".gltf")
    return RawMesh(vertices, faces, "m" if gltf else unit, gltf)


def content_of(vertices: FloatArray, faces: IntArray, path: Path) -> bytes:
    """A mesh file's content.

    Args:
        vertices: (n, 3) in mm, x forward, z up.
        faces: (m, 3).
        path: its suffix says the format; glTF has metres and y up.

    Raises:
        ModelError: a format that is not written.
    """
    import trimesh

    kind = path.suffix.lower()
    name = shown_name(path.name)
    if kind not in WRITTEN:
        raise ModelError(f"{name}: no format that is written ({', '.join(WRITTEN)})")
    if kind == ".glb":
        vertices = vertices[:, [1, 2, 0]] / 1e3
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    if kind == ".3mf":
        mesh.units = "millimeter"
    try:
        content = mesh.export(file_type=kind[1:])
    except ImportError as error:
        raise missing_library(error) from error
    return content.encode() if isinstance(content, str) else bytes(content)


def _plain(path: Path) -> bytes:
    name = shown_name(path.name)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ModelError(f"{name}: no plain file; name the mesh file itself")
        if status.st_size > MAX_BYTES:
            raise ModelError(
                f"{name}: larger than {MAX_BYTES // 10**6} MB; simplify the mesh, 100,000 faces "
                "are plenty"
            )
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"{name}: cannot be read ({error.strerror}); name a mesh file that may be read"
        ) from error
    if not content.strip(b"\0 \r\n\t"):
        raise ModelError(f"{name}: the file is empty; {_EXPORT}")
    return content


def _triangles(content: bytes, kind: str, name: str) -> tuple[FloatArray, IntArray, str]:
    import trimesh

    options: dict[str, Any] = {"process": False}
    if kind in (".obj", ".glb", ".gltf"):
        options["skip_materials"] = True
    try:
        scene = trimesh.load_scene(io.BytesIO(content), file_type=kind[1:], **options)
        meshes = [mesh for mesh in scene.dump() if isinstance(mesh, trimesh.Trimesh)]
    except (MemoryError, ImportError):
        raise
    except Exception as error:  # whatever the library makes of a broken file
        text = " ".join(f"{type(error).__name__}: {error}".split())[:120]
        raise ModelError(
            f"{name}: cannot be read as {kind[1:].upper()} ({text}); the file is damaged or of "
            f"another format; {_EXPORT}"
        ) from error
    meshes = [mesh for mesh in meshes if len(mesh.faces)]
    if not meshes:
        raise ModelError(f"{name}: holds no faces; {_EXPORT}, as triangles")
    if sum(len(mesh.faces) for mesh in meshes) > MAX_FACES:
        raise ModelError(
            f"{name}: more than {MAX_FACES:,} faces; simplify the mesh, 100,000 are plenty"
        )
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    vertices = np.concatenate([np.asarray(mesh.vertices, dtype=np.float64) for mesh in meshes])
    faces = np.concatenate(
        [
            np.asarray(mesh.faces, dtype=np.int64) + start
            for mesh, start in zip(meshes, starts[:-1], strict=True)
        ]
    )
    declared = str(scene.units or "").lower().rstrip("s")
    return vertices, faces, _UNITS.get(declared, "")


def _refuse_numbers(vertices: FloatArray, faces: IntArray, name: str) -> None:
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise ModelError(f"{name}: a face names a vertex that does not exist; {_EXPORT}")
    used = vertices[np.unique(faces)]
    if not np.isfinite(used).all():
        raise ModelError(f"{name}: holds coordinates that are not numbers; {_EXPORT}")
    if np.abs(used).max() > MAX_COORDINATE:
        raise ModelError(
            f"{name}: holds coordinates beyond {MAX_COORDINATE:g}; move the mesh to its origin "
            f"and {_EXPORT}"
        )


def _refuse_truncated(content: bytes, name: str) -> None:
    """A binary STL says how many faces it has: a file that holds fewer was cut off."""
    if len(content) < 84 or (
        content.lstrip()[:5].lower() == b"solid" and b"facet" in content[:999]
    ):
        return
    (count,) = struct.unpack("<I", content[80:84])
    if count > MAX_FACES and 84 + 50 * count <= len(content):
        raise ModelError(f"{name}: {count:,} faces, more than {MAX_FACES:,}; simplify the mesh")
    if 84 + 50 * count > len(content) and b"facet" not in content:
        raise ModelError(
            f"{name}: no STL, or cut off: it has {len(content)} bytes where its head promises "
            f"{84 + 50 * count}; {_EXPORT} or copy it again"
        )


def _refuse_archive(content: bytes, name: str) -> None:
    """A 3MF file is a ZIP archive: its size unpacked is checked before anything is unpacked."""
    try:
        entries = zipfile.ZipFile(io.BytesIO(content)).infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error) as error:
        raise ModelError(f"{name}: no 3MF archive ({error}); {_EXPORT}") from error
    if sum(entry.file_size for entry in entries) > MAX_BYTES or len(entries) > 1000:
        raise ModelError(
            f"{name}: unpacks to more than {MAX_BYTES // 10**6} MB or 1,000 files; no pig does; "
            f"{_EXPORT}"
        )
    for entry in entries:
        if entry.filename.startswith(("/", "\\")) or ".." in Path(entry.filename).parts:
            raise ModelError(f"{name}: an entry leads out of the archive; {_EXPORT}")
    if not any("3d/3dmodel.model" in entry.filename.lower() for entry in entries):
        raise ModelError(f"{name}: an archive without a 3D model; {_EXPORT} as 3MF")


def _self_contained(content: bytes, path: Path) -> bytes:
    """A glTF text with its buffers inside it; of other files, only those beside it are read."""
    name = shown_name(path.name)
    try:
        tree = json.loads(content)
        buffers = tree.get("buffers", [])
        uris = [buffer.get("uri", "") for buffer in buffers]
    except (ValueError, AttributeError, RecursionError) as error:
        raise ModelError(f"{name}: no glTF text ({type(error).__name__}); {_EXPORT}") from error
    for buffer, uri in zip(buffers, uris, strict=True):
        if not str(uri).startswith("data:"):
            beside = _beside(path, str(uri))
            buffer["uri"] = "data:;base64," + base64.b64encode(beside).decode()
            continue
        try:
            base64.b64decode(str(uri).partition(",")[2], validate=True)
        except ValueError as error:
            raise ModelError(f"{name}: a buffer is no base64 text; {_EXPORT}") from error
    for image in ("images", "textures", "materials", "samplers"):  # of no use here
        tree.pop(image, None)
    for mesh in tree.get("meshes", []):
        for primitive in mesh.get("primitives", []):
            primitive.pop("material", None)
    return json.dumps(tree).encode()


def _beside(path: Path, uri: str) -> bytes:
    """The content of a buffer's file, which must lie in the folder of its glTF."""
    beside = path.parent / uri
    inside = bool(uri) and Path(uri).name == uri
    if not inside or not beside.resolve().is_relative_to(path.parent.resolve()):
        raise ModelError(
            f"{shown_name(path.name)}: keeps its mesh in a file that is not in its folder "
            f"({shown_name(uri)}), which is not read; export it as GLB, which holds all in one file"
        )
    if not beside.is_file():
        raise ModelError(
            f"{shown_name(path.name)}: its buffer {shown_name(uri)} is not beside it; copy it "
            "there, or export the mesh as GLB, which holds all in one file"
        )
    return _plain(beside)

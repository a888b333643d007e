"""Triangle meshes: the only file that imports the mesh library.

Reads Wavefront OBJ and refuses what physics cannot use: broken numbers, holes,
no volume. Winding that is inside out is turned round.

Mass properties of a solid of uniform density.

What physics takes from a model's mesh: its size and its mass integrals.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from physim import files, precomputed
from physim.errors import ModelError
from physim.pigs.model_file import ModelFile
from physim.types import ExactValue, FloatArray

IntArray = NDArray[np.int64]
_FLAT = 1e-4  # least thickness and least share of the bounding box that count as solid
PARTS_COUNTED = "# parts:"  # before the number of parts, in a file that tells it
MAX_BYTES = 50_000_000  # a pig of 15,000 faces takes 1 MB
MIN_LENGTH_M, MAX_LENGTH_M = 0.005, 2.0  # beyond, a unit is wrong
MAX_COORDINATE = 1e6  # of any unit; further out too few digits are left for a pig
_NAME_AN_OBJ = "`mesh` and `parts` in model.yaml must name OBJ files in its folder"


@dataclass(frozen=True, eq=False)
class MassIntegrals(ExactValue):
    """Volume [u3], centre (3,) [u] and second moment (3, 3) about it at density 1 [u5]."""

    volume: float
    center: FloatArray
    inertia: FloatArray


@dataclass(frozen=True, eq=False)
class ObjGroup(ExactValue):
    """Faces that share an `o` or `g` name and a `usemtl` material."""

    name: str
    material: str
    faces: IntArray


@dataclass(frozen=True, eq=False)
class ObjMesh(ExactValue):
    """An OBJ file: vertices (n, 3) in the file's unit, faces in groups."""

    vertices: FloatArray
    groups: tuple[ObjGroup, ...]

    @property
    def faces(self) -> IntArray:
        """(m, 3) faces of all groups, in the order of the file."""
        return np.concatenate([group.faces for group in self.groups])


def read_plain(path: Path) -> bytes:
    """The content of a mesh file.

    Raises:
        ModelError: unreadable, too large, or no plain file.
    """
    return files.read_plain(path, ModelError, _NAME_AN_OBJ, MAX_BYTES)


def read_obj(path: Path) -> ObjMesh:
    """As `parse_obj`, of a file; raises as `read_plain` too."""
    return parse_obj(read_plain(path), path)


def parse_obj(content: bytes, path: Path) -> ObjMesh:
    """Vertices and groups of an OBJ file; polygons are cut into fans.

    Args:
        content: of the file.
        path: named in messages.

    Raises:
        ModelError: empty, broken, or with numbers that are not finite.
    """
    text = content.decode("utf-8", errors="replace")
    vertices: list[list[float]] = []
    faces: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    name, material = "", ""
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        try:
            if words[0] == "v":
                vertices.append([float(w) for w in words[1:4]])
                if len(words) < 4:
                    raise ValueError
            elif words[0] == "f":
                loop = [_index(w, len(vertices)) for w in words[1:]]
                if len(loop) < 3:
                    raise ValueError
                group = faces.setdefault((name, material), [])
                group.extend((loop[0], loop[i], loop[i + 1]) for i in range(1, len(loop) - 1))
        except ValueError as error:
            raise ModelError(f"{path}: line {number} is not valid OBJ: {line[:60]!r}") from error
        if words[0] in ("o", "g"):
            name = " ".join(words[1:])
        elif words[0] == "usemtl":
            material = " ".join(words[1:])
    if not vertices or not faces:
        raise ModelError(f"{path}: holds no faces; export the mesh as OBJ with faces")
    array = np.array(vertices)
    if not np.isfinite(array).all():
        raise ModelError(f"{path}: holds coordinates that are not numbers; export the mesh again")
    if np.abs(array).max() > MAX_COORDINATE:
        raise ModelError(
            f"{path}: holds coordinates beyond {MAX_COORDINATE:g}; export the mesh again, near its "
            "origin and in the unit of `mesh_unit`"
        )
    groups = tuple(ObjGroup(n, m, np.array(f, dtype=np.int64)) for (n, m), f in faces.items())
    return ObjMesh(array, groups)


def _index(word: str, count: int) -> int:
    """Zero-based vertex of a face corner such as `7`, `7/1/2` or `-1`."""
    value = int(word.split("/", maxsplit=1)[0])
    value = value - 1 if value > 0 else count + value
    if not 0 <= value < count:
        raise ValueError
    return value


def refuse_size(vertices_m: FloatArray, path: Path) -> None:
    """Refuses (n, 3) points of which a wrong unit made a giant or a mite.

    Raises:
        ModelError: names the length and the allowed range.
    """
    length_m = float(np.ptp(vertices_m, axis=0).max())
    if not MIN_LENGTH_M <= length_m <= MAX_LENGTH_M:
        raise ModelError(
            f"{path}: the pig is {1e3 * length_m:g} mm long, it must be from "
            f"{1e3 * MIN_LENGTH_M:g} to {1e3 * MAX_LENGTH_M:g}; check `mesh_unit` and the mesh"
        )


def mass_integrals(vertices: FloatArray, faces: IntArray, where: str) -> MassIntegrals:
    """Volume, centre and inertia of a closed mesh at uniform density 1, any unit.

    Raises:
        ModelError: holes, edges shared by more than two faces, or no volume.
    """
    import trimesh  # here: it takes half a second to load, and workers are sent finished models

    origin = vertices.mean(axis=0)  # keeps digits when a mesh lies far from its origin
    size = np.ptp(vertices, axis=0)
    if size.min() < _FLAT * size.max():
        raise ModelError(f"{where}: the mesh is flat: it encloses no volume; give it thickness")
    mesh = trimesh.Trimesh(vertices - origin, faces, process=False)
    if not mesh.is_watertight:
        mesh = trimesh.Trimesh(vertices - origin, faces, process=True)  # merges doubled vertices
    if not mesh.is_watertight:
        raise ModelError(f"{where}: the mesh has holes; close it (every edge needs two faces)")
    if not mesh.is_winding_consistent:
        raise ModelError(f"{where}: faces are wound both ways; recalculate the normals outwards")
    if mesh.volume < 0:
        mesh.invert()
    if not mesh.volume > _FLAT * float(np.prod(size)):
        raise ModelError(
            f"{where}: the mesh encloses no volume; give it thickness, and faces wound outwards"
        )
    return MassIntegrals(
        float(mesh.volume), np.array(mesh.center_mass) + origin, np.array(mesh.moment_inertia)
    )


def convex_hull(points: FloatArray, where: str) -> tuple[FloatArray, IntArray]:
    """Corners (n, 3) and triangles (m, 3), wound outwards, of the hull of `points`.

    Raises:
        ModelError: fewer than four points, or all in one plane.
    """
    from scipy.spatial import ConvexHull, QhullError  # here, as everywhere: see `batch.preload`

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise ModelError(f"{where}: a collision part is flat; give it thickness") from error
    used = np.asarray(hull.vertices)
    renumber = np.full(len(points), -1)
    renumber[used] = np.arange(len(used))
    triangles = np.array(hull.simplices)
    a, b, c = (points[triangles[:, i]] for i in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    return np.asarray(points[used]), np.asarray(renumber[triangles])


def hull_corners(points: FloatArray, where: str) -> FloatArray:
    """The corners alone; raises as `convex_hull`."""

    def compute() -> list[list[float]]:
        corners: list[list[float]] = convex_hull(points, where)[0].tolist()
        return corners

    return np.array(precomputed.result("corners", np.ascontiguousarray(points).tobytes(), compute))


def write_visual(
    path: Path, vertices: FloatArray, groups: list[tuple[str, IntArray]], mtl: str, digits: int = 6
) -> None:
    """Writes one mesh (n, 3) whose faces (m, 3) are grouped by material.

    Raises:
        ModelError: the file cannot be written.
    """
    lines = [f"mtllib {mtl}", "o pig", *_vertex_lines(vertices, digits)]
    for material, faces in groups:
        lines += [f"usemtl {material}", *_face_lines(faces)]
    write_text(path, "\n".join(lines) + "\n")


def write_parts(
    path: Path,
    parts: list[tuple[str, FloatArray, IntArray]],
    digits: int = 6,
    *,
    counted: bool = False,
) -> None:
    """Writes one `o` group a part: (label, vertices, faces).

    Args:
        path: of the file.
        parts: each of them.
        digits: after the point.
        counted: says first how many there are, so that a file that was cut off is told.

    Raises:
        ModelError: the file cannot be written.
    """
    lines, base = [f"{PARTS_COUNTED} {len(parts)}"] if counted else [], 0
    for label, vertices, faces in parts:
        lines += [f"o {label}", *_vertex_lines(vertices, digits), *_face_lines(faces + base)]
        base += len(vertices)
    write_text(path, "\n".join(lines) + "\n")


def parts_counted(path: Path) -> int | None:
    """How many parts a file says that it has, if it says so.

    Raises:
        ModelError: the file cannot be read.
    """
    with (
        files.told(ModelError, f"{path}: cannot be read", _NAME_AN_OBJ),
        path.open(encoding="utf-8", errors="replace") as file,
    ):
        first = file.readline(100)
    number = first.removeprefix(PARTS_COUNTED).strip()
    return int(number) if first.startswith(PARTS_COUNTED) and number.isdecimal() else None


def _vertex_lines(vertices: FloatArray, digits: int) -> list[str]:
    rounded = np.round(vertices, digits) + 0.0  # no minus before a zero
    return [f"v {x:.{digits}f} {y:.{digits}f} {z:.{digits}f}" for x, y, z in rounded.tolist()]


def _face_lines(faces: IntArray) -> list[str]:
    return [f"f {a} {b} {c}" for a, b, c in (faces + 1).tolist()]


def write_text(path: Path, text: str) -> None:
    """Writes a text file, whole or not at all.

    Raises:
        ModelError: the file cannot be written.
    """
    remedy = "choose a folder that can be written to, and run the same command again"
    with files.told(ModelError, f"{path}: cannot be written", remedy):
        files.write_whole(path, text.encode())


@dataclass(frozen=True, eq=False)
class MassProperties(ExactValue):
    """Of a rigid body, in the frame of its mesh.

    Attributes:
        mass_kg: [kg].
        volume_m3: [m3].
        center_of_mass_m: (3,) [m].
        inertia_kg_m2: (3, 3) about the centre of mass, along the mesh's axes [kg m2].
    """

    mass_kg: float
    volume_m3: float
    center_of_mass_m: FloatArray
    inertia_kg_m2: FloatArray


def mass_properties(
    vertices_m: FloatArray,
    faces: IntArray,
    mass_kg: float,
    offset_m: FloatArray | None = None,
    where: str = "mesh",
) -> MassProperties:
    """Mass properties of a closed mesh filled evenly with `mass_kg`.

    Args:
        vertices_m: (n, 3) [m].
        faces: (m, 3) vertex indices.
        mass_kg: total mass, > 0 [kg].
        offset_m: (3,) shift of the centre of mass from the centroid, for a body that is known
            not to be even [m]. The inertia about the centre of mass is kept: the small lump that
            causes the shift is not modelled.
        where: named in messages.

    Raises:
        ModelError: the mesh is not closed or encloses no volume, or the mass is not positive.
    """
    if not mass_kg > 0:
        raise ModelError(f"{where}: the mass must be positive, found {mass_kg:g} kg")
    return filled(mass_integrals(vertices_m, faces, where), mass_kg, offset_m)


def filled(
    integrals: MassIntegrals, mass_kg: float, offset_m: FloatArray | None = None
) -> MassProperties:
    """As `mass_properties`, from the integrals over a mesh in metres."""
    center = integrals.center if offset_m is None else integrals.center + offset_m
    inertia = integrals.inertia * (mass_kg / integrals.volume)
    return MassProperties(
        mass_kg, integrals.volume, center, 0.5 * (inertia + np.transpose(inertia))
    )


@dataclass(frozen=True, eq=False)
class Solid(ExactValue):
    """A closed mesh, in metres, along the pig's axes.

    Attributes:
        size_m: (3,) extent [m].
        integrals: [SI], at density 1.
    """

    size_m: FloatArray
    integrals: MassIntegrals


def solid_of(settings: ModelFile) -> Solid:
    """The solid of a model's mesh; the mesh is not parsed if that was done before (`kept`).

    Raises:
        ModelError: a missing or unusable mesh file.
    """
    content = read_plain(settings.mesh)
    frame = json.dumps([settings.unit_m, settings.axes.tolist()]).encode()
    numbers = precomputed.result("solid", frame + content, lambda: _computed(content, settings))
    integrals = MassIntegrals(
        numbers["volume"], np.array(numbers["center"]), np.array(numbers["inertia"])
    )
    return Solid(np.array(numbers["size_m"]), integrals)


def mesh_vertices_m(obj: ObjMesh, settings: ModelFile) -> FloatArray:
    """(n, 3) vertices along the pig's axes, in the place that the file gives them [m]."""
    vertices: FloatArray = obj.vertices * settings.unit_m @ settings.axes.T
    return vertices


def _computed(content: bytes, settings: ModelFile) -> dict[str, Any]:
    obj = parse_obj(content, settings.mesh)
    vertices = mesh_vertices_m(obj, settings)
    refuse_size(vertices, settings.mesh)
    integrals = mass_integrals(vertices, obj.faces, str(settings.mesh))
    return {
        "size_m": np.ptp(vertices, axis=0).tolist(),
        "volume": integrals.volume,
        "center": integrals.center.tolist(),
        "inertia": integrals.inertia.tolist(),
    }

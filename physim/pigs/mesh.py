"""Triangle meshes of models: OBJ files, convex hulls and the mass properties of what they enclose.

It is the only file that imports the mesh library. What physics cannot use is refused: broken
numbers, holes, no volume. Winding that is inside out is turned round.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
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
_PARTS_COUNTED = "# parts:"  # before the number of parts, in a file that tells it
MAX_BYTES = 50_000_000  # a pig of 15,000 faces takes 1 MB
MIN_LENGTH_M, MAX_LENGTH_M = 0.005, 2.0  # beyond, a unit is wrong
MAX_COORDINATE = 1e6  # of any unit; further out too few digits are left for a pig
_NAME_AN_OBJ = "`mesh` and `parts` in model.yaml must name OBJ files in its folder"


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
    parts_counted: int | None = None
    """How many parts the file says that it has, if it says so."""

    @property
    def faces(self) -> IntArray:
        """(m, 3) faces of all groups, in the order of the file."""
        return np.concatenate([group.faces for group in self.groups])


def read_obj(path: Path) -> ObjMesh:
    """The mesh of a file.

    Raises:
        ModelError: unreadable, too large or no plain file, or as `parse_obj`.
    """
    return parse_obj(files.read_plain(path, ModelError, _NAME_AN_OBJ, MAX_BYTES), path)


def parse_obj(content: bytes, path: Path) -> ObjMesh:
    """Vertices and groups of an OBJ file; polygons are cut into fans.

    Raises:
        ModelError: empty, broken, or with numbers that are not finite; names the `path`.
    """
    vertices: list[list[float]] = []
    faces: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    name, material = "", ""
    lines = content.decode("utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, start=1):
        words = line.split()
        try:
            match words:
                case ["v", x, y, z, *_]:
                    vertices.append([float(x), float(y), float(z)])
                case ["f", _, _, _, *_]:
                    first, *others = [_index(word, len(vertices)) for word in words[1:]]
                    fan = [(first, *pair) for pair in pairwise(others)]
                    faces.setdefault((name, material), []).extend(fan)
                case ["v" | "f", *_]:
                    raise ValueError
                case ["o" | "g", *given]:
                    name = " ".join(given)
                case ["usemtl", *given]:
                    material = " ".join(given)
        except ValueError as error:
            raise ModelError(f"{path}: line {number} is not valid OBJ: {line[:60]!r}") from error
    if not vertices or not faces:
        raise ModelError(f"{path}: holds no faces; export the mesh as OBJ with faces")
    array = np.array(vertices)
    if not (np.abs(array) <= MAX_COORDINATE).all():
        raise ModelError(
            f"{path}: holds coordinates beyond {MAX_COORDINATE:g} or that are not numbers; export "
            "the mesh again, near its origin and in the unit of `mesh_unit`"
        )
    groups = tuple(ObjGroup(n, m, np.array(f, dtype=np.int64)) for (n, m), f in faces.items())
    count = lines[0].removeprefix(_PARTS_COUNTED).strip()
    told = lines[0].startswith(_PARTS_COUNTED) and count.isdecimal()
    return ObjMesh(array, groups, int(count) if told else None)


def _index(word: str, count: int) -> int:
    """Zero-based vertex of a face corner such as `7`, `7/1/2` or `-1`."""
    value = int(word.split("/", maxsplit=1)[0])
    value = value - 1 if value > 0 else count + value
    if not 0 <= value < count:
        raise ValueError
    return value


def write_visual(
    path: Path, vertices: FloatArray, groups: list[tuple[str, IntArray]], mtl: str, digits: int = 6
) -> None:
    """Writes one mesh (n, 3) whose faces (m, 3) are grouped by material; raises as `write_text`."""
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
    """Writes one `o` group a part: (label, vertices, faces); raises as `write_text`.

    With `counted` it says first how many there are, so that a file that was cut off is told.
    """
    lines, base = [f"{_PARTS_COUNTED} {len(parts)}"] if counted else [], 0
    for label, vertices, faces in parts:
        lines += [f"o {label}", *_vertex_lines(vertices, digits), *_face_lines(faces + base)]
        base += len(vertices)
    write_text(path, "\n".join(lines) + "\n")


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
    triangles = np.array(hull.simplices)
    a, b, c = (points[triangles[:, i]] for i in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    number = np.full(len(points), -1)
    number[hull.vertices] = np.arange(len(hull.vertices))
    return np.asarray(points[hull.vertices]), np.asarray(number[triangles])


def hull_corners(points: FloatArray, where: str) -> FloatArray:
    """The corners alone; raises as `convex_hull`."""

    def compute() -> list[list[float]]:
        corners: list[list[float]] = convex_hull(points, where)[0].tolist()
        return corners

    return np.array(precomputed.result("corners", np.ascontiguousarray(points).tobytes(), compute))


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


@dataclass(frozen=True, eq=False)
class UniformSolid(ExactValue):
    """What a closed mesh encloses.

    Attributes:
        size_m: (3,) extent [m].
        volume_m3: [m3].
        center_m: (3,) centroid [m].
        inertia_m5: (3, 3) about the centroid, at density 1 [m5].
    """

    size_m: FloatArray
    volume_m3: float
    center_m: FloatArray
    inertia_m5: FloatArray

    def filled(self, mass_kg: float, offset_m: FloatArray) -> MassProperties:
        """Mass properties where it is filled evenly.

        Args:
            mass_kg: total mass [kg].
            offset_m: (3,) shift of the centre of mass from the centroid, for a body that is known
                not to be even [m]. The inertia about the centre of mass is kept: the small lump
                that causes the shift is not modelled.
        """
        inertia = self.inertia_m5 * (mass_kg / self.volume_m3)
        inertia = 0.5 * (inertia + np.transpose(inertia))
        return MassProperties(mass_kg, self.volume_m3, self.center_m + offset_m, inertia)


def uniform_solid(vertices_m: FloatArray, faces: IntArray, where: str) -> UniformSolid:
    """What a closed mesh of vertices (n, 3) and faces (m, 3) encloses.

    Raises:
        ModelError: a pig of no sane size, holes, edges shared by more than two faces, or no volume.
    """
    import trimesh  # here: it takes half a second to load, and workers are sent finished models

    size = np.ptp(vertices_m, axis=0)
    length_m = float(size.max())
    if not MIN_LENGTH_M <= length_m <= MAX_LENGTH_M:
        raise ModelError(
            f"{where}: the pig is {1e3 * length_m:g} mm long, it must be from "
            f"{1e3 * MIN_LENGTH_M:g} to {1e3 * MAX_LENGTH_M:g}; check `mesh_unit` and the mesh"
        )
    if size.min() < _FLAT * size.max():
        raise ModelError(f"{where}: the mesh is flat: it encloses no volume; give it thickness")
    origin = vertices_m.mean(axis=0)  # keeps digits when a mesh lies far from its origin
    mesh = trimesh.Trimesh(vertices_m - origin, faces, process=False)
    if not mesh.is_watertight:
        mesh = trimesh.Trimesh(vertices_m - origin, faces, process=True)  # merges doubled vertices
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
    center = np.array(mesh.center_mass) + origin
    return UniformSolid(size, float(mesh.volume), center, np.array(mesh.moment_inertia))


def solid_of(settings: ModelFile) -> UniformSolid:
    """The solid of a model's mesh, along the pig's axes; parsed once for all (`precomputed`).

    Raises:
        ModelError: a missing or unusable mesh file.
    """
    content = files.read_plain(settings.mesh, ModelError, _NAME_AN_OBJ, MAX_BYTES)

    def compute() -> dict[str, Any]:
        obj = parse_obj(content, settings.mesh)
        solid = uniform_solid(mesh_vertices_m(obj, settings), obj.faces, str(settings.mesh))
        return {
            "size_m": solid.size_m.tolist(),
            "volume": solid.volume_m3,
            "center": solid.center_m.tolist(),
            "inertia": solid.inertia_m5.tolist(),
        }

    frame = json.dumps([settings.unit_m, settings.axes.tolist()]).encode()
    found = precomputed.result("solid", frame + content, compute)
    arrays = {name: np.array(value) for name, value in found.items()}
    return UniformSolid(arrays["size_m"], found["volume"], arrays["center"], arrays["inertia"])


def mesh_vertices_m(obj: ObjMesh, settings: ModelFile) -> FloatArray:
    """(n, 3) vertices along the pig's axes, in the place that the file gives them [m]."""
    vertices: FloatArray = obj.vertices * settings.unit_m @ settings.axes.T
    return vertices

"""From a mesh file to a pig in its own axes, with convex parts and labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from physim.errors import ModelError
from physim.importer import formats, landmarks
from physim.importer.child import ChildError, run_limited
from physim.importer.convex_parts import Parts, convex_parts
from physim.importer.landmarks import Landmarks, legs_of, orient
from physim.importer.reading import RawMesh
from physim.importer.repair import repair
from physim.importer.solids import IntArray, Problem, center_of, outside, volume_of
from physim.pigs.mesh import MAX_LENGTH_M, MIN_LENGTH_M
from physim.pigs.model_file import MASS_G
from physim.types import FloatArray

TIME_S = 30.0  # to read and repair
_SAME = 5e-4  # of the size: simplifying may take less from it
UNITS_MM = {"mm": 1.0, "cm": 10.0, "inch": 25.4, "m": 1000.0, "foot": 304.8, "micron": 1e-3}
GUESSED = ("mm", "inch", "m")  # in this order the first that gives a likely size
LIKELY_MM = (10.0, 300.0)
USUAL_MM = (8.0, 500.0)  # beyond, only with `force`


@dataclass(frozen=True)
class Options:
    """What the user says of a mesh; None is guessed.

    Attributes:
        unit: "mm", "cm", "inch" or "m".
        length_mm: the longest side is made this long.
        force: take an unlikely size too.
        forward, up: an axis of the file, such as "x" or "-y".
        dot_side: "right" or "left".
        mass_g: of the pig; None for that of `density_g_cm3`.
        density_g_cm3: of the material, evenly filled; as the standard pig's.
        offset_mm: of the centre of mass from the centroid, pig's axes.
        largest: of several bodies that do not touch, keep the largest.
    """

    unit: str | None = None
    length_mm: float | None = None
    force: bool = False
    forward: str | None = None
    up: str | None = None
    dot_side: str | None = None
    mass_g: float | None = None
    density_g_cm3: float = 0.96
    offset_mm: tuple[float, float, float] = (0.0, 0.0, 0.0)
    largest: bool = False


@dataclass
class PreparedMesh:
    """A mesh in the pig's axes, ready to be cut.

    Attributes:
        vertices_mm: (n, 3) about the middle of the bounding box; empty where it was refused.
        faces: (m, 3).
        marks: boxes of body parts.
        axes: (3, 3) the pig's forward, left and up in the file's axes.
        middle_mm: (3,) the middle of the bounding box in the file's axes.
        problems: found on the way.
    """

    vertices_mm: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    faces: IntArray = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    marks: Landmarks = field(default_factory=dict)
    axes: FloatArray = field(default_factory=lambda: np.eye(3))
    middle_mm: FloatArray = field(default_factory=lambda: np.zeros(3))
    problems: list[Problem] = field(default_factory=list)


class RefusedMeshError(ModelError):
    """A mesh that was read, but cannot be a pig before its maker has put it right."""

    def __init__(self, name: str, problems: list[Problem]) -> None:
        self.problems = problems
        text = "; ".join(f"{p.kind}: {p.where}: {p.action}" for p in problems if not p.solved)
        super().__init__(f"{name}: {text}")


@dataclass(frozen=True)
class Imported:
    """The mesh of a file by the user's options, its convex parts and the pig's mass."""

    path: Path
    options: Options
    mesh: PreparedMesh
    parts: Parts
    mass_g: float

    @property
    def problems(self) -> list[Problem]:
        """All that was found."""
        return [*self.mesh.problems, *self.parts.problems]


def import_mesh(path: Path, options: Options) -> Imported:
    """Reads, repairs and cuts a mesh.

    Raises:
        RefusedMeshError: read, but of no use as it is.
        ModelError: a file that cannot be read.
    """
    doing = f"{path}: reading and repairing it"
    try:
        mesh = run_limited(prepare, path, options, time_s=TIME_S, doing=doing)
    except ChildError as error:
        raise ModelError(
            f"{error}; the file is damaged or far too detailed: export it again, as a closed mesh "
            "of some 10,000 faces"
        ) from error
    if any(not problem.solved for problem in mesh.problems):
        raise RefusedMeshError(str(path), mesh.problems)
    if options.dot_side is None and mesh.marks:
        mesh.problems.append(Problem("dot", "right flank", "taken to carry it; else --dot-side"))
    volume_cm3 = 1e-3 * volume_of(mesh.vertices_mm, mesh.faces)
    mass_g = options.mass_g or options.density_g_cm3 * volume_cm3
    if not MASS_G[0] <= mass_g <= MASS_G[1]:
        raise ModelError(
            f"{path}: a mass of {mass_g:.3g} g; a pig's is {MASS_G[0]:g} to {MASS_G[1]:g} g; give "
            "another --mass-g or --density-g-cm3"
        )
    try:
        parts = convex_parts(mesh.vertices_mm, mesh.faces, mesh.marks)
    except ChildError as error:
        raise ModelError(f"{path}: {error}; simplify the mesh") from error
    return Imported(path, options, mesh, parts, mass_g)


def prepare(path: Path, options: Options) -> PreparedMesh:
    """The part of `import_mesh` that handles what a stranger wrote; runs in a child process."""
    raw = formats.read(path)
    longest = float(np.ptp(raw.vertices[np.unique(raw.faces)], axis=0).max())
    if longest <= 0:
        raise ModelError(f"{path}: all vertices are in one place; export the mesh again")
    scale, how = _scale(raw, longest, options)
    repaired = repair(raw.vertices * scale, raw.faces, options.largest)
    if repaired.solid is not None:  # the size is that of what was kept, without loose bodies
        kept = float(np.ptp(repaired.solid.bounds, axis=0).max()) / scale
        if kept < (1.0 - _SAME) * longest:
            longest, before = kept, scale
            scale, how = _scale(raw, longest, options)
            if scale != before:
                repaired = repair(raw.vertices * scale, raw.faces, options.largest)
    said = _size_note(path, longest * scale, how, options)
    problems = [*raw.notes, *said, *repaired.problems]
    if repaired.solid is None:
        return PreparedMesh(problems=problems)
    axes, on_legs, said = orient(repaired.solid, options.forward, options.up, raw.y_up)
    problems += said
    solid = repaired.solid.turned(axes, np.zeros(3))
    middle = solid.bounds.mean(axis=0)
    solid = solid.turned(np.eye(3), -middle)
    marks, said = landmarks.guess(solid, legs_of(solid) if on_legs else None)
    problems += said
    vertices, faces = solid.mesh()
    center = center_of(vertices, faces) + options.offset_mm
    if float(outside(center[None], vertices)[0]) > -1e-3:
        where = "({:.1f}, {:.1f}, {:.1f}) mm from the middle, pig's axes".format(*center)
        action = "lies outside the hull; give a smaller --center-of-mass-offset-mm"
        problems.append(Problem("centre of mass", where, action, solved=False))
    return PreparedMesh(vertices, faces, marks, axes, middle @ axes, problems)


def _scale(raw: RawMesh, longest: float, options: Options) -> tuple[float, str]:
    """The length of one unit of a file whose longest side is so long [mm], and where it is from."""
    if options.length_mm is not None:
        return options.length_mm / longest, "scaled to the length given"
    if options.unit is not None:
        return UNITS_MM[options.unit], f"1 unit = 1 {options.unit}, as given"
    if raw.y_up and _likely(longest):  # 10 to 300 m: the common slip of writing mm into glTF
        return 1.0, f"glTF is in metres, yet {longest:g} m are no pig's: 1 unit taken for 1 mm"
    if raw.unit:
        return UNITS_MM[raw.unit], f"1 unit = 1 {raw.unit}, as the file says"
    said = raw.unit_remark
    if said and _likely(longest * UNITS_MM[said]):
        how = f"1 unit taken for 1 {said}, as its text says and the size allows"
        return UNITS_MM[said], how
    for guess in GUESSED:
        if _likely(longest * UNITS_MM[guess]):
            return UNITS_MM[guess], f"1 unit taken for 1 {guess}, from the size"
    return 1.0, "1 unit taken for 1 mm, no unit gives a likely size"


def _likely(length_mm: float) -> bool:
    return LIKELY_MM[0] <= length_mm <= LIKELY_MM[1]


def _size_note(path: Path, found_mm: float, how: str, options: Options) -> list[Problem]:
    """What there is to say of a length that comes from there; one that is absurd is refused."""
    low, high = 1e3 * MIN_LENGTH_M, 1e3 * MAX_LENGTH_M
    least, most = (low, high) if options.force else USUAL_MM
    if not least <= found_mm <= most:
        remedy = "give --unit or --length-mm"
        if low <= found_mm <= high:
            remedy += ", or --force to take it as it is"
        shown = f"{found_mm:.0f}" if found_mm >= 100 else f"{found_mm:.3g}"
        raise ModelError(
            f"{path}: {shown} mm long ({how}); a pig is from {least:g} to {most:g} mm; {remedy}"
        )
    if options.unit is not None or options.length_mm is not None:
        return []
    return [Problem("unit", f"{found_mm:.1f} mm long", f"{how}; else give --unit")]

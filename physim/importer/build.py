"""From a mesh file to a pig in its own axes, with convex parts and labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from physim.errors import ModelError
from physim.importer import formats, landmarks
from physim.importer.child import ChildError, run_limited
from physim.importer.convex_parts import Parts, convex_parts
from physim.importer.landmarks import Landmarks, legs_of
from physim.importer.orient import orient, scale_of, size_note
from physim.importer.repair import repair
from physim.importer.solids import IntArray, Problem, Solid, center_of, volume_of
from physim.pigs.model_file import MASS_G
from physim.types import FloatArray

TIME_S = 30.0  # to read and repair
_SAME = 5e-4  # of the size: simplifying may take less from it
DENSITY_G_CM3 = 0.96  # of the standard pig


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
        density_g_cm3: of the material, evenly filled.
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
    density_g_cm3: float = DENSITY_G_CM3
    offset_mm: tuple[float, float, float] = (0.0, 0.0, 0.0)
    largest: bool = False


@dataclass
class Prepared:
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
    """A mesh with its convex parts.

    Attributes:
        path: of the file.
        options: what the user said.
        mesh: in the pig's axes.
        parts: convex, labelled.
        mass_g: of the pig.
    """

    path: Path
    options: Options
    mesh: Prepared
    parts: Parts
    mass_g: float

    @property
    def problems(self) -> list[Problem]:
        """All that was found."""
        return [*self.mesh.problems, *self.parts.problems]

    @property
    def dot_side(self) -> str:
        return self.options.dot_side or "right"


def import_mesh(path: Path, options: Options) -> Imported:
    """Reads, repairs and cuts a mesh.

    Raises:
        RefusedMeshError: read, but of no use as it is.
        ModelError: a file that cannot be read.
    """
    try:
        mesh = run_limited(
            prepare, path, options, time_s=TIME_S, doing=f"{path}: reading and repairing it"
        )
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


def prepare(path: Path, options: Options) -> Prepared:
    """The part of `import_mesh` that handles what a stranger wrote; runs in a child process."""
    raw = formats.read(path)
    longest = float(np.ptp(raw.vertices[np.unique(raw.faces)], axis=0).max())
    if longest <= 0:
        raise ModelError(f"{path}: all vertices are in one place; export the mesh again")
    scale = scale_of(raw, longest, options.unit, options.length_mm)
    repaired = repair(raw.vertices * scale.mm, raw.faces, options.largest)
    if repaired.solid is not None:  # the size is that of what was kept, without loose bodies
        kept = float(np.ptp(repaired.solid.bounds, axis=0).max()) / scale.mm
        if kept < (1.0 - _SAME) * longest:
            longest, before = kept, scale
            scale = scale_of(raw, longest, options.unit, options.length_mm)
            if scale != before:
                repaired = repair(raw.vertices * scale.mm, raw.faces, options.largest)
    declared = options.unit is not None or options.length_mm is not None
    said = size_note(scale, longest * scale.mm, options.force, declared, str(path))
    problems = [*raw.notes, *said, *repaired.problems]
    if repaired.solid is None:
        return Prepared(problems=problems)
    pose, said = orient(repaired.solid, options.forward, options.up, raw.y_up)
    problems += said
    middle = repaired.solid.turned(pose.axes, np.zeros(3)).bounds.mean(axis=0)
    solid = repaired.solid.turned(pose.axes, -middle)
    marks, said = landmarks.guess(solid, legs_of(solid) if pose.legs else None)
    problems += said
    vertices, faces = solid.mesh()
    _refuse_outside(solid, np.array(options.offset_mm), problems)
    return Prepared(vertices, faces, marks, pose.axes, middle @ pose.axes, problems)


def _refuse_outside(solid: Solid, offset_mm: FloatArray, problems: list[Problem]) -> None:
    """A centre of mass outside the hull is no pig's."""
    from scipy.spatial import ConvexHull

    vertices, faces = solid.mesh()
    center = center_of(vertices, faces) + offset_mm
    planes = ConvexHull(vertices).equations
    if float((planes[:, :3] @ center + planes[:, 3]).max()) > -1e-3:
        x, y, z = center
        problems.append(
            Problem(
                "centre of mass",
                f"({x:.1f}, {y:.1f}, {z:.1f}) mm from the middle, pig's axes",
                "lies outside the hull; give a smaller --center-of-mass-offset-mm",
                solved=False,
            )
        )

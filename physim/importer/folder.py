"""Writes an imported mesh as a model folder, cuts its parts anew, and tells what was found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from physim.errors import ConfigError, ModelError, PhysimError
from physim.files import real_path, scratch, told, write_whole
from physim.importer.build import Imported
from physim.importer.child import ChildError
from physim.importer.convex_parts import Parts, convex_parts
from physim.importer.landmarks import axes_text
from physim.importer.solids import Problem, volume_of
from physim.pigs import mesh as meshes
from physim.pigs.mesh import solid_of
from physim.pigs.model import MTL_NAME, write_fingerprint, write_materials
from physim.pigs.model_file import FILE_NAME, fingerprint_of, model_folder, read_model_file
from physim.simulator import RestTable, write_precomputed
from physim.types import FloatArray, Pose

DIGITS = 5  # of mm
SYMMETRIC = 0.005  # of the length: mean distance between a mesh and its mirror image


def write_folder(imported: Imported, folder: Path, name: str) -> None:
    """Writes a model folder; without its YAML, which comes last, it is no model yet.

    Raises:
        ConfigError: the folder is there already.
        ModelError: it cannot be written to, or the model is of no use.
    """
    refuse_taken(folder)
    with told(ModelError, f"{folder}: cannot be written", "choose another --out"):
        folder = real_path(folder)
        with scratch() as unfinished:
            try:
                _write(imported, unfinished, name)
                write_precomputed(unfinished)
            except PhysimError as error:
                said = str(error).replace(str(unfinished), str(folder))
                raise ModelError(f"{imported.path}: no model can be made of it: {said}") from error
            folder.mkdir(parents=True, exist_ok=True)
            paths = sorted(unfinished.iterdir(), key=lambda path: path.name == FILE_NAME)
            try:
                for path in paths:
                    write_whole(folder / path.name, path.read_bytes())
            except OSError:
                for path in paths:
                    (folder / path.name).unlink(missing_ok=True)
                raise


def refuse_taken(folder: Path) -> None:
    """A model is never written over anything.

    Raises:
        ConfigError: something is there already.
    """
    with told(ConfigError, f"{folder}: cannot be read", "choose another --out"):
        taken = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    if taken:
        raise ConfigError(
            f"{folder}: there is something already; remove it, or choose another --out or --name"
        )


def rebuild_parts(folder: Path) -> Parts:
    """Cuts the parts of an added model anew, by the landmarks that its YAML has now.

    Raises:
        ConfigError, ModelError: a model without landmarks, or unusable files.
    """
    settings = read_model_file(folder)
    if settings.landmarks is None:
        raise ModelError(
            f"{settings.path}: has no `landmarks` to cut the mesh by; give boxes there"
        )
    solid_of(settings)  # refuses what is no solid, with what to do
    obj = meshes.read_obj(settings.mesh)
    faces = obj.faces if volume_of(obj.vertices, obj.faces) > 0 else obj.faces[:, ::-1]
    unit = 1e3 * settings.unit_m
    marks = {label: tuple(box.tolist()) for label, box in settings.landmarks.items()}
    try:
        parts = convex_parts(obj.vertices * unit, faces, marks)
    except ChildError as error:
        raise ModelError(
            f"{settings.mesh}: {error}; make the model anew with `physim model add`"
        ) from error
    if not marks:
        action = "no pose of the rules is read, every rest is `other`; give some in model.yaml"
        parts.problems.append(Problem("landmarks", "no boxes", action))
    _write_parts(settings.parts, [(label, c / unit) for label, c in parts.corners])
    write_fingerprint(settings.path, "landmarks_fingerprint", fingerprint_of(settings.landmarks))
    write_precomputed(folder)
    return parts


def _write(imported: Imported, folder: Path, name: str) -> None:
    mesh = imported.mesh
    meshes.write_visual(
        folder / "pig.obj", mesh.vertices_mm, [("skin", mesh.faces)], MTL_NAME, DIGITS
    )
    write_materials(folder / MTL_NAME)
    _write_parts(folder / "parts.obj", imported.parts.corners)
    meshes.write_text(folder / FILE_NAME, _yaml(imported, name))


def _write_parts(path: Path, corners: list[tuple[str, FloatArray]]) -> None:
    seen: dict[str, int] = {}
    groups = []
    for label, points in corners:
        seen[label] = seen.get(label, 0) + 1
        group = label if seen[label] == 1 else f"{label}.{seen[label]}"
        groups.append((group, *meshes.convex_hull(points, label)))
    meshes.write_parts(path, groups, DIGITS, counted=True)


def _yaml(imported: Imported, name: str) -> str:
    options, marks = imported.options, imported.mesh.marks
    standard = read_model_file(model_folder("standard"))
    mass = "the mass was given"
    if options.mass_g is None:
        mass = f"no mass was given, it is that of {options.density_g_cm3:g} g/cm3"
    boxes = "".join(f"\n  {label}: {json.dumps(list(box))}" for label, box in marks.items())
    fingerprint = fingerprint_of({label: np.array(box) for label, box in marks.items()})
    return f"""\
# Made by `physim model add` from {json.dumps(imported.path.name)}; edit as you like.
# After a change under `landmarks`: physim model build FOLDER
description: {json.dumps(name)}
mesh: pig.obj
parts: parts.obj
mesh_unit: mm
mass_g: {imported.mass_g:.4f}
center_of_mass_offset_mm: [{", ".join(f"{c:g}" for c in options.offset_mm)}]
lateral_friction: {standard.lateral_friction:g}
restitution: {standard.restitution:g}
rolling_friction: 0.0
spinning_friction: 0.0
dot_side: {options.dot_side or "right"}
assumption: >
  Friction and restitution are the standard pig's; {mass}
  evenly filled. Fit them to your own rolls with `physim calibrate`.
# Boxes in mm: x from, to, y from, to, z from, to (x forward, y left, z up). A box cuts
# its body part out of the mesh; the earlier one takes first. What is left is the trunk.
landmarks:{boxes or " {}"}
landmarks_fingerprint: "{fingerprint}"
"""


def problems_to_json(problems: list[Problem]) -> list[dict[str, str]]:
    """As plain values."""
    return [{"kind": p.kind, "where": p.where, "action": p.action} for p in problems]


def to_json(imported: Imported, rests: RestTable) -> dict[str, Any]:
    """What the mesh's own folder does not tell: problems, symmetry, poses, parts' distance."""
    poses = {pose.value: 0.0 for pose in Pose}
    for named in rests.rests:
        poses[named.pose.value] += named.rest.probability
    held = {named.pose for named in rests.rests}
    share = asymmetry(imported.mesh.vertices_mm)
    return {
        "ok": True,
        "file": str(imported.path),
        "problems": problems_to_json(imported.problems),
        "axes": axes_text(imported.mesh.axes),
        "asymmetry": share,
        "symmetric": share < SYMMETRIC,
        "landmarks": {label: list(box) for label, box in imported.mesh.marks.items()},
        "parts_distance_mm": {
            "mesh_out_of_parts": imported.parts.uncovered_mm,
            "parts_out_of_mesh": imported.parts.bulge_mm,
        },
        "poses": poses,
        "cannot_hold": [pose.value for pose in Pose if pose is not Pose.OTHER and pose not in held],
    }


def asymmetry(vertices: FloatArray) -> float:
    """Mean distance of a pig's vertices (n, 3) from their mirror image, as a share of its length.

    The mirror is the plane between left and right through the middle of the bounding box.
    """
    from scipy.spatial import cKDTree

    middle = 0.5 * float(vertices[:, 1].min() + vertices[:, 1].max())
    mirrored = vertices * np.array([1.0, -1.0, 1.0]) + np.array([0.0, 2.0 * middle, 0.0])
    distance, _ = cKDTree(vertices).query(mirrored)
    return float(distance.mean() / np.ptp(vertices[:, 0]))


def text(report: dict[str, Any]) -> str:
    """The findings as lines of text."""
    lines = [f"{report['file']}: {report['axes']}"]
    mirror = "symmetric" if report["symmetric"] else "not symmetric"
    lines.append(f"left and right: {mirror} ({report['asymmetry']:.1%} of the length)")
    apart = report["parts_distance_mm"]
    lines.append(
        f"parts: the mesh reaches {apart['mesh_out_of_parts']:.2f} mm out of them, they "
        f"{apart['parts_out_of_mesh']:.2f} mm out of the mesh (over hollows), the most of all "
        "corners and some thousand points of each surface"
    )
    held = ", ".join(f"{name} {p:.1%}" for name, p in report["poses"].items() if p > 0)
    lines.append(f"poses it can hold, from random orientations without speed: {held or 'none'}")
    if report["cannot_hold"]:
        lines.append("poses of the rules that it cannot: " + ", ".join(report["cannot_hold"]))
    return "\n".join([*lines, *problem_lines(report["problems"])])


def parts_lines(parts: Parts) -> list[str]:
    """What each label took of the mesh."""
    labels = [label for label, _ in parts.corners]
    return [
        f"{label}: {share:.1%} of the volume, {count} part{'s' if count > 1 else ''}"
        for label, share in parts.shares.items()
        if (count := labels.count(label))
    ]


def problem_lines(problems: list[dict[str, str]]) -> list[str]:
    """One line a problem."""
    if not problems:
        return ["no problems"]
    return ["found:", *(f"  {p['kind']}: {p['where']}: {p['action']}" for p in problems)]

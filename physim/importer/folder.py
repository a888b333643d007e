"""Writes an imported mesh as a model folder, and cuts its parts anew when landmarks change."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from physim.errors import ConfigError, ModelError, PhysimError
from physim.files import real_path, scratch, told, write_whole
from physim.importer.build import Imported
from physim.importer.child import ChildError
from physim.importer.convex_parts import Parts, convex_parts
from physim.importer.solids import Problem, volume_of
from physim.pigs import mesh as meshes
from physim.pigs.mesh import solid_of
from physim.pigs.model import MTL_NAME, write_fingerprint, write_materials
from physim.pigs.model_file import FILE_NAME, fingerprint_of, model_folder, read_model_file
from physim.simulator import keep
from physim.types import FloatArray

DIGITS = 5  # of mm


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
                keep(unfinished)
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
    keep(folder)
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

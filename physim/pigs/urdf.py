"""Writes a model as URDF, for other simulators.

The link's frame is the pig frame, so that the inertial origin is zero. Mind that
PyBullet uses the tensor only with `URDF_USE_INERTIA_FROM_FILE`.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from physim.errors import ModelError
from physim.files import real_path, told
from physim.pigs import mesh as meshes
from physim.pigs.model import COLORS, MTL_NAME, LoadedModel, write_materials

_TENSOR = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}


def write_urdf(loaded: LoadedModel, folder: Path) -> Path:
    """Writes `pig.urdf` and the meshes that it names, in metres; returns its path.

    Args:
        loaded: from `physim.pigs.load_all`.
        folder: made if it does not exist; files of the same names are replaced.

    Raises:
        ModelError: the folder cannot be written to.
    """
    with told(ModelError, f"{folder}: cannot be made", "choose another folder"):
        real_path(folder).mkdir(parents=True, exist_ok=True)
    visual = loaded.visual
    by_material: dict[str, list[int]] = {}
    for face, material in enumerate(visual.materials):
        by_material.setdefault(material if material in COLORS else "skin", []).append(face)
    groups = [(material, visual.faces[faces]) for material, faces in by_material.items()]
    meshes.write_visual(folder / "visual.obj", visual.vertices_m, groups, MTL_NAME, digits=9)
    write_materials(folder / MTL_NAME)
    collisions = []
    for i, part in enumerate(loaded.model.parts):
        name = f"{i:02d}_{re.sub(r'[^A-Za-z0-9_]', '_', part.label)}.obj"
        corners, triangles = meshes.convex_hull(part.vertices_m, part.label)
        meshes.write_parts(folder / name, [(part.label, corners, triangles)], digits=9)
        collisions.append(
            f"    <collision name={quoteattr(part.label)}>\n"
            f'      <geometry><mesh filename="{name}"/></geometry>\n    </collision>\n'
        )
    path = folder / "pig.urdf"
    meshes.write_text(path, _document(loaded, "".join(collisions)))
    return path


def _document(loaded: LoadedModel, collisions: str) -> str:
    model = loaded.model
    tensor = " ".join(
        f'{key}="{model.inertia_kg_m2[i, j]:.12g}"' for key, (i, j) in _TENSOR.items()
    )
    return (
        '<?xml version="1.0"?>\n'
        f"<!-- {escape(model.name).replace('--', '- -')}: metres, kilograms; x forward, y left, "
        "z up; origin at the centre of mass -->\n"
        '<robot name="pig">\n  <link name="pig">\n'
        f'    <contact><lateral_friction value="{model.lateral_friction:g}"/>'
        f'<restitution value="{model.restitution:g}"/>'
        f'<rolling_friction value="{model.rolling_friction:g}"/>'
        f'<spinning_friction value="{model.spinning_friction:g}"/></contact>\n'
        '    <inertial>\n      <origin xyz="0 0 0" rpy="0 0 0"/>\n'
        f'      <mass value="{model.mass_kg:.12g}"/>\n      <inertia {tensor}/>\n'
        "    </inertial>\n"
        '    <visual>\n      <geometry><mesh filename="visual.obj"/></geometry>\n    </visual>\n'
        f"{collisions}  </link>\n</robot>\n"
    )

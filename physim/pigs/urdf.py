"""Writes a model as URDF, for other simulators.

The link's frame is the pig frame, so that the inertial origin is zero. Mind that
PyBullet uses the tensor only with `URDF_USE_INERTIA_FROM_FILE`.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from physim.errors import ModelError
from physim.files import real_path, told
from physim.pigs import mesh as meshes
from physim.pigs.model import COLORS, MTL_NAME, LoadedModel, write_materials

_DOCUMENT = """<?xml version="1.0"?>
<!-- {comment}: metres, kilograms; x forward, y left, z up; origin at the centre of mass -->
<robot name="pig">
  <link name="pig">
    <contact><lateral_friction value="{pig.lateral_friction:g}"/>\
<restitution value="{pig.restitution:g}"/>\
<rolling_friction value="{pig.rolling_friction:g}"/>\
<spinning_friction value="{pig.spinning_friction:g}"/></contact>
    <inertial>
      <origin xyz="0 0 0" rpy="0 0 0"/>
      <mass value="{pig.mass_kg:.12g}"/>
      <inertia {tensor}/>
    </inertial>
    <visual>
      <geometry><mesh filename="visual.obj"/></geometry>
    </visual>
{collisions}  </link>
</robot>
"""
_COLLISION = """    <collision name={name}>
      <geometry><mesh filename="{file}"/></geometry>
    </collision>
"""


def write_urdf(loaded: LoadedModel, folder: Path) -> Path:
    """Writes `pig.urdf` and the meshes that it names, in metres; returns its path.

    Raises:
        ModelError: the folder cannot be written to.
    """
    with told(ModelError, f"{folder}: cannot be made", "choose another folder"):
        real_path(folder).mkdir(parents=True, exist_ok=True)
    visual, pig = loaded.visual, loaded.model
    names = np.array([name if name in COLORS else "skin" for name in visual.materials])
    groups = [(name, visual.faces[names == name]) for name in dict.fromkeys(names.tolist())]
    meshes.write_visual(folder / "visual.obj", visual.vertices_m, groups, MTL_NAME, digits=9)
    write_materials(folder / MTL_NAME)
    collisions = ""
    for i, part in enumerate(pig.parts):
        file = f"{i:02d}_{re.sub(r'[^A-Za-z0-9_]', '_', part.label)}.obj"
        corners, triangles = meshes.convex_hull(part.vertices_m, part.label)
        meshes.write_parts(folder / file, [(part.label, corners, triangles)], digits=9)
        collisions += _COLLISION.format(name=quoteattr(part.label), file=file)
    tensor = " ".join(
        f'i{"xyz"[i]}{"xyz"[j]}="{pig.inertia_kg_m2[i, j]:.12g}"'
        for i, j in zip(*np.triu_indices(3), strict=True)
    )
    comment = escape(pig.name).replace("--", "- -")
    text = _DOCUMENT.format(comment=comment, pig=pig, tensor=tensor, collisions=collisions)
    meshes.write_text(folder / "pig.urdf", text)
    return folder / "pig.urdf"

"""Builds and loads one pig model: YAML, visual mesh and convex parts in one folder.

Writes a model as URDF, for other simulators.

The link's frame is the pig frame, so that the inertial origin is zero. Mind that
PyBullet uses the tensor only with `URDF_USE_INERTIA_FROM_FILE`.
"""

from __future__ import annotations

import re
import shlex
import warnings
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from physim import precomputed
from physim.errors import ConfigError, ModelError
from physim.files import real_path, told
from physim.pigs import mesh as meshes
from physim.pigs.mesh import (
    MassProperties,
    UniformSolid,
    mesh_vertices_m,
    solid_of,
    uniform_solid,
)
from physim.pigs.mesh_builder import MATERIALS, SculptedMesh, sculpt
from physim.pigs.model_file import ModelFile, fingerprint_of, model_folder, read_model_file
from physim.pigs.parts import convex_parts
from physim.pigs.shape import PigShape
from physim.types import ConvexPart, ExactValue, FloatArray, PigModel

MOST_PARTS = 16  # PyBullet keeps 16 shapes of a compound and drops the others without a word
MTL_NAME = "pig.mtl"
ANOTHER_PIG = 0.25  # share of the volume by which parts and mesh may differ
_HOLDS = 0.01  # of the size: how far out of a part another may reach that it still holds
_WHOLE = 0.9  # of each side of the pig, from which on a part is as large as all of it
_CELLS = 80  # along the longest side, to measure the volume of the parts' union
# Turns the grid: no face of a block lies along it, to gain or lose a whole layer of cells.
_ASLANT = np.array([[6.0, -2.0, 3.0], [3.0, 6.0, -2.0], [-2.0, 3.0, 6.0]]) / 7.0
_CONVEX = 0.02  # a part whose hull has no more volume than this share above its own is convex
Hull = tuple[str, FloatArray, meshes.IntArray]
# Diffuse colours; renderers may replace them by material name.
COLORS = {
    "skin": (0.93, 0.60, 0.62),
    "snout": (0.90, 0.50, 0.54),
    "dot": (0.16, 0.12, 0.14),
    "eye": (0.10, 0.08, 0.09),
}


@dataclass(frozen=True, eq=False)
class VisualMesh(ExactValue):
    """What a pig looks like.

    Attributes:
        vertices_m: (n, 3) pig frame [m].
        faces: (m, 3) vertex indices, counter-clockwise seen from outside.
        materials: (m,) material name of each face; "" where the file names none.
    """

    vertices_m: FloatArray
    faces: meshes.IntArray
    materials: tuple[str, ...]


@dataclass(frozen=True)
class LoadedModel:
    """A model for physics, with its YAML file and the mass properties of its mesh."""

    model: PigModel
    mass: MassProperties
    settings: ModelFile

    @cached_property
    def visual(self) -> VisualMesh:
        """For pictures: read when it is first asked for; raises as `read_obj`."""
        obj = meshes.read_obj(self.settings.mesh)
        materials = tuple(group.material for group in obj.groups for _ in group.faces)
        vertices = mesh_vertices_m(obj, self.settings) - self.mass.center_of_mass_m
        return VisualMesh(vertices, obj.faces, materials)

    @cached_property
    def parts_union(self) -> tuple[float, FloatArray]:
        """Volume [m3] and centroid (3,) [m] of all parts together, pig frame.

        To some thousandths: of the cells of a grid whose middles lie in any part.
        """
        from scipy.spatial import ConvexHull  # here, as everywhere: see `batch.preload`

        parts = [part.vertices_m @ _ASLANT for part in self.model.parts]
        low, high = np.min(np.concatenate(parts), axis=0), np.max(np.concatenate(parts), axis=0)
        cell = float((high - low).max()) / _CELLS
        axes = [np.arange(a + 0.5 * cell, b, cell) for a, b in zip(low, high, strict=True)]
        middles = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        filled = np.zeros(len(middles), dtype=bool)
        for part in parts:
            near = np.all((middles >= part.min(axis=0)) & (middles <= part.max(axis=0)), axis=1)
            inside = np.flatnonzero(near)
            for *normal, offset in ConvexHull(part).equations.tolist():
                inside = inside[middles[inside] @ normal + offset <= 0.0]
            filled[inside] = True
        return int(filled.sum()) * cell**3, middles[filled].mean(axis=0) @ _ASLANT.T

    @cached_property
    def hulls(self) -> dict[str, float]:
        """By which share the hull of a part is larger than the part, of those not convex."""
        from scipy.spatial import ConvexHull

        obj = meshes.read_obj(self.settings.parts)
        found = {}
        for group in obj.groups:
            points = obj.vertices - obj.vertices[group.faces[0, 0]]
            a, b, c = (points[group.faces[:, k]] for k in range(3))
            volume = abs(float(np.einsum("ij,ij->", a, np.cross(b, c)))) / 6.0
            share = float(ConvexHull(points[np.unique(group.faces)]).volume) / max(volume, 1e-300)
            if share > 1.0 + _CONVEX:
                found[group.name] = share - 1.0
        return found


def load_all(name_or_path: str | Path) -> LoadedModel:
    """The model with its visual mesh and mass properties.

    Raises:
        ConfigError: unknown name or unusable YAML.
        ModelError: missing, stale or unusable mesh files.
    """
    folder = model_folder(name_or_path)
    files = [path for path in sorted(folder.iterdir()) if path.is_file()]
    stamps = tuple((path.name, path.stat().st_mtime_ns) for path in files)
    return _load(folder, str(name_or_path), stamps)


@lru_cache(maxsize=8)
def _load(folder: Path, name: str, stamps: tuple[tuple[str, int], ...]) -> LoadedModel:
    del stamps  # only makes an edited file a different key
    return load_folder(folder, name)


def load_model(name_or_path: str | Path) -> PigModel:
    """The model as physics sees it; raises as `load_all`."""
    return load_all(name_or_path).model


def build_model(name_or_path: str | Path) -> LoadedModel:
    """Makes a sculpted model's mesh files anew, and loads them; raises as `build_folder`."""
    build_folder(model_folder(name_or_path))
    return load_all(name_or_path)


def load_folder(folder: Path, name: str) -> LoadedModel:
    """Loads and checks a model; raises as `load_all`."""
    settings = read_model_file(folder)
    _refuse_stale(settings)
    results = precomputed.read(folder / precomputed.FILE_NAME)
    solid = solid_of(settings)
    mass = solid.filled(settings.mass_kg, settings.axes @ settings.offset_m)
    parts = _read_parts(settings, mass.center_of_mass_m)
    size, visual_size = np.ptp(np.concatenate([p.vertices_m for p in parts]), axis=0), solid.size_m
    if (size > 1.25 * visual_size).any() or (size < 0.8 * visual_size).any():
        raise ModelError(
            f"{settings.parts}: the parts measure {_mm(size)} but the mesh {_mm(visual_size)}; "
            "use the same unit and frame for both"
        )
    _refuse_hull(parts, mass.volume_m3, settings)
    model = replace(_pig_model(name, settings, mass, parts), kept=results)
    return LoadedModel(model, mass, settings)


def build_folder(folder: Path) -> None:
    """Makes the mesh files of a sculpted model anew from the YAML's `shape`.

    Raises:
        ConfigError: unusable YAML.
        ModelError: the model has no `shape`, or the folder cannot be written to.
    """
    settings = read_model_file(folder)
    if settings.shape is None:
        raise ModelError(f"{settings.path}: has no `shape`; only sculpted models can be built")
    if not np.array_equal(settings.axes, np.eye(3)):
        raise ModelError(f"{settings.path}: a sculpted model takes no `forward` and `up`")
    unit = 1e-3 / settings.unit_m
    sculpted, _, hulls = _sculpted(settings.shape, str(settings.path))
    groups = [
        (material, faces)
        for i, material in enumerate(MATERIALS)
        if len(faces := sculpted.faces[sculpted.materials == i])
    ]
    parts = [(label, corners * unit, triangles) for label, corners, triangles in hulls]
    # All is computed: from here on, files change.
    meshes.write_visual(settings.mesh, sculpted.vertices_mm * unit, groups, MTL_NAME)
    write_materials(settings.mesh.parent / MTL_NAME)
    meshes.write_parts(settings.parts, parts)
    write_fingerprint(settings.path, "shape_fingerprint", settings.shape.fingerprint())


def model_from_shape(shape: PigShape, settings: ModelFile, name: str) -> PigModel:
    """A model straight from parameters, without files; for searching over shapes.

    Raises:
        ModelError: numbers each in its range that do not make a pig together.
    """
    _, solid, hulls = _sculpted(shape, name)
    mass = solid.filled(settings.mass_kg, settings.offset_m)
    parts = tuple(
        ConvexPart(label, 1e-3 * corners - mass.center_of_mass_m) for label, corners, _ in hulls
    )
    return _pig_model(name, settings, mass, parts)


def _sculpted(shape: PigShape, where: str) -> tuple[SculptedMesh, UniformSolid, list[Hull]]:
    """The visual mesh [mm], what it encloses and the hull of each part [mm], all fit for use."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is no number is found below
            sculpted = sculpt(shape)
            hulls = [(label, *meshes.convex_hull(p, label)) for label, p in convex_parts(shape)]
            solid = uniform_solid(1e-3 * sculpted.vertices_mm, sculpted.faces, "the body")
    except (ModelError, ValueError, IndexError, ArithmeticError, RuntimeError) as error:
        raise ModelError(
            f"{where}: the numbers under `shape` are each in range but make no pig together "
            f"({error}); start from those of the standard model and change them step by step"
        ) from error
    return sculpted, solid, hulls


def _pig_model(
    name: str, settings: ModelFile, mass: MassProperties, parts: tuple[ConvexPart, ...]
) -> PigModel:
    size = np.ptp(np.concatenate([part.vertices_m for part in parts]), axis=0)
    return PigModel(
        name=name,
        length_m=float(size[0]),
        height_m=float(size[2]),
        mass_kg=mass.mass_kg,
        inertia_kg_m2=mass.inertia_kg_m2,
        parts=parts,
        lateral_friction=settings.lateral_friction,
        restitution=settings.restitution,
        rolling_friction=settings.rolling_friction,
        spinning_friction=settings.spinning_friction,
        dot_side=settings.dot_side,
        contact_stiffness_n_m=settings.contact_stiffness_n_m,
    )


def _read_parts(settings: ModelFile, center_of_mass_m: FloatArray) -> tuple[ConvexPart, ...]:
    """The hull corners of each `o` group of the parts file, pig frame."""
    obj, path = meshes.read_obj(settings.parts), settings.parts
    if len(obj.groups) > MOST_PARTS:
        raise ModelError(
            f"{path}: {len(obj.groups)} parts, but the engine takes {MOST_PARTS}; merge some"
        )
    if obj.parts_counted not in (None, len(obj.groups)):
        raise ModelError(
            f"{path}: holds {len(obj.groups)} parts of {obj.parts_counted}; {_anew(settings)}"
        )
    vertices, parts = mesh_vertices_m(obj, settings), []
    for group in obj.groups:
        if not group.name:
            raise ModelError(f"{path}: a part has no name; start it with `o snout`")
        corners = meshes.hull_corners(vertices[np.unique(group.faces)], f"{path}: {group.name}")
        label = group.name.partition(".")[0]  # `trunk.2` is another part of the trunk
        parts.append(ConvexPart(label, corners - center_of_mass_m))
    return tuple(parts)


def _refuse_hull(parts: tuple[ConvexPart, ...], volume_m3: float, settings: ModelFile) -> None:
    """Refuses a part like the hull of the whole pig: others lie inside it and never touch.

    Boxes about the parts, which cost nothing, tell in which a closer look is worth its while. The
    hull may stand for the whole pig where it is the only part and no body parts were marked.
    """
    from scipy.spatial import ConvexHull

    lows = np.array([part.vertices_m.min(axis=0) for part in parts])
    highs = np.array([part.vertices_m.max(axis=0) for part in parts])
    size = highs.max(axis=0) - lows.min(axis=0)
    edge = _HOLDS * float(size.max())
    inside = np.all((lows[:, None] - edge <= lows) & (highs <= highs[:, None] + edge), axis=2)
    most = (len(parts) + 1) / 2  # a part's own box is among those that it holds
    is_cut = len(parts) > 1 or bool(settings.landmarks)
    whole = np.all(highs - lows > _WHOLE * size, axis=1) & is_cut
    remedy = "give each part the form of its own body part, and cut what is hollow into several"
    for index in np.flatnonzero(whole | (inside.sum(axis=1) > most)).tolist():
        hull = ConvexHull(parts[index].vertices_m)
        normals, offsets = hull.equations[:, :3], hull.equations[:, 3]
        others = [parts[k].vertices_m for k in np.flatnonzero(inside[index]).tolist()]
        held = sum(bool((points @ normals.T + offsets <= edge).all()) for points in others)
        whose = f"{settings.parts}: the hull of the part `{parts[index].label}`"
        if held > most:
            raise ModelError(
                f"{whose} holds {held - 1} of the {len(parts) - 1} others, which would never "
                f"touch anything; {remedy}"
            )
        if whole[index] and (more := float(hull.volume) / volume_m3 - 1.0) > ANOTHER_PIG:
            raise ModelError(f"{whose} alone has {more:.0%} more volume than the mesh; {remedy}")


def _refuse_stale(settings: ModelFile) -> None:
    """Refuses mesh files that were made from other parameters."""
    marks, shape = settings.landmarks, settings.shape
    stale = {
        "shape": shape is not None and shape.fingerprint() != settings.fingerprint,
        "landmarks": marks is not None and fingerprint_of(marks) != settings.landmarks_fingerprint,
    }
    for name in filter(stale.get, stale):
        raise ModelError(
            f"{settings.path}: `{name}` has changed since the mesh files were made; "
            f"{_anew(settings)}"
        )


def _anew(settings: ModelFile) -> str:
    folder = shlex.quote(str(settings.path.parent))
    return f"make them anew with `physim model build {folder}`"


def write_fingerprint(path: Path, key: str, fingerprint: str) -> None:
    """Notes in the YAML what the files were built from; the rest of the text stays."""
    with told(ConfigError, f"{path}: cannot be read", "see to its permissions"):
        lines = path.read_text(encoding="utf-8").splitlines()
    lines = [old for old in lines if not old.startswith(f"{key}:")]
    meshes.write_text(path, "\n".join([*lines, f'{key}: "{fingerprint}"']) + "\n")


def write_materials(path: Path) -> None:
    """Writes the colours of `COLORS` as a material library."""
    text = "".join(
        f"newmtl {name}\nKd {r:.2f} {g:.2f} {b:.2f}\nKs 0.20 0.20 0.20\nNs 40\n\n"
        for name, (r, g, b) in COLORS.items()
    )
    meshes.write_text(path, text)


def _mm(size: FloatArray) -> str:
    return " x ".join(f"{1000 * s:.1f}" for s in size) + " mm"


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

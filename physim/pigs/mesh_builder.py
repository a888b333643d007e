"""Sculpts the standard pig: a closed triangle mesh with a material for every face."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from skimage.measure import marching_cubes

from physim.pigs.mesh import IntArray
from physim.pigs.parts import convex_parts
from physim.pigs.shape import PigShape, whole_pig
from physim.types import ExactValue, FloatArray

MATERIALS = ("skin", "snout", "dot", "eye")  # the nostrils wear the eyes' colour
VOXEL_MM = 0.36  # about 44,000 faces; collision parts do not depend on it
_BATCH = 60_000  # points a call: keeps the working memory in the processor's cache
_NEAR = 1.5  # coarse steps: farther from the surface than that, only the field's sign matters
_BORDER_MM = 1.5  # room around the collision parts; the surface stays within 0.4 mm of them
_EYE_RADIUS_MM, _NOSTRIL_RADIUS_MM = 0.75, 0.6
_FACE_RADII = 2.2  # of the snout: what may be painted as snout
_NEWTON_STEPS = 5
_STEP_MM = 1e-3  # for numerical gradients

Region = Callable[[FloatArray], FloatArray]
"""Signed distance to a region's border [mm], negative inside: (n, 3) -> (n,)."""


@dataclass(frozen=True, eq=False)
class SculptedMesh(ExactValue):
    """A closed mesh in the sculpting frame.

    Attributes:
        vertices_mm: (n, 3) [mm].
        faces: (m, 3) vertex indices, counter-clockwise seen from outside.
        materials: (m,) index into `MATERIALS`.
    """

    vertices_mm: FloatArray
    faces: IntArray
    materials: IntArray


def sculpt(shape: PigShape, voxel_mm: float = VOXEL_MM) -> SculptedMesh:
    """The visual mesh, on a grid of cells `voxel_mm` wide; the same numbers give the same bits."""
    points = np.concatenate([p for _, p in convex_parts(shape)]) / shape.scale
    low, high = points.min(axis=0) - _BORDER_MM, points.max(axis=0) + _BORDER_MM
    # The plane of the soles lies half-way between two layers: there the field is linear across
    # z = 0, so that flat soles come out at exactly that height.
    low[2] = -1.5 * voxel_mm
    counts = 2 * np.ceil((high - low) / (2.0 * voxel_mm)).astype(int) + 1
    axes = [low[i] + voxel_mm * np.arange(counts[i]) for i in range(3)]
    vertices, faces, _, _ = marching_cubes(  # type: ignore[no-untyped-call]
        _values(shape, axes), 0.0, spacing=(voxel_mm,) * 3, gradient_direction="descent"
    )
    vertices, faces = vertices.astype(np.float64) + low, faces.astype(np.int64)
    vertices[np.abs(vertices[:, 2]) < 0.02, 2] = 0.0  # single-precision noise
    vertices, materials = _painted(shape, vertices, faces, 0.4 * voxel_mm)
    return SculptedMesh(vertices * shape.scale, faces, materials)


def _values(shape: PigShape, axes: list[FloatArray]) -> FloatArray:
    """The field on a grid; away from the surface only its sign is right.

    Every other grid point comes first. Cells of that coarse grid with a corner near the surface
    are filled in; all of the others take the value of a corner.
    """
    grid = np.stack(np.meshgrid(*(axis[::2] for axis in axes), indexing="ij"), axis=-1)
    coarse: FloatArray = _evaluate(shape, grid.reshape(-1, 3)).reshape(grid.shape[:3])
    step = axes[0][2] - axes[0][0]
    close = np.abs(coarse) < _NEAR * step
    cells = np.zeros([n - 1 for n in coarse.shape], dtype=bool)
    for corner in np.ndindex(2, 2, 2):
        cells |= close[tuple(slice(c, c + n) for c, n in zip(corner, cells.shape, strict=True))]
    fine = np.zeros([len(axis) for axis in axes], dtype=bool)
    for place in np.ndindex(3, 3, 3):
        block = tuple(slice(p, p + 2 * n, 2) for p, n in zip(place, cells.shape, strict=True))
        fine[block] |= cells
    values = coarse
    for i in range(3):
        values = np.repeat(values, 2, axis=i).take(np.arange(len(axes[i])), axis=i)
    where = np.nonzero(fine)
    values[where] = _evaluate(shape, np.stack([a[w] for a, w in zip(axes, where, strict=True)], 1))
    return np.asarray(values)


def _evaluate(shape: PigShape, points: FloatArray) -> FloatArray:
    batches = [points[i : i + _BATCH] for i in range(0, len(points), _BATCH)]
    return np.concatenate([whole_pig(shape, batch) for batch in batches])


def _painted(
    shape: PigShape, vertices: FloatArray, faces: IntArray, reach_mm: float
) -> tuple[FloatArray, IntArray]:
    """Vertices slid along the surface onto the colours' borders, and a material for each face."""
    regions = _regions(shape)
    for _, region in regions:
        vertices = _slid(shape, vertices, region, reach_mm)
    middles = vertices[faces].mean(axis=1)
    materials = np.zeros(len(faces), dtype=np.int64)
    for name, region in regions:
        materials[region(middles) < 0] = MATERIALS.index(name)
    return vertices, materials


def _regions(shape: PigShape) -> list[tuple[str, Region]]:
    """What is painted over the skin, in this order."""
    border = shape.snout_x_mm - 0.32 * (shape.snout_x_mm - shape.head_x_mm)

    def snout(points: FloatArray) -> FloatArray:
        # The ears reach as far forward, but are farther out.
        away = np.hypot(points[:, 1], points[:, 2] - shape.snout_z_mm)
        ahead = border - shape.snout_lean(points) - points[:, 0]
        return np.maximum(ahead, away - _FACE_RADII * shape.snout_radius_mm)

    def dot(points: FloatArray) -> FloatArray:
        disc = np.hypot(points[:, 0] - shape.dot_x_mm, points[:, 2] - shape.dot_z_mm)
        return np.maximum(disc - shape.dot_radius_mm, points[:, 1])  # on the right flank

    regions: list[tuple[str, Region]] = [("snout", snout), ("dot", dot)]
    head, face = shape.ellipsoid("head")
    for side in (1.0, -1.0):
        eye = head + face * np.array([0.62, 0.58 * side, 0.55])
        regions.append(("eye", _ball(_on_surface(shape, eye), _EYE_RADIUS_MM)))
        nostril = np.array([0.0, 0.42 * side * shape.snout_radius_mm, 0.0])
        nostril += np.array([shape.snout_x_mm, 0.0, shape.snout_z_mm + 0.1 * shape.snout_radius_mm])
        nostril[0] -= float(shape.snout_lean(nostril[None])[0])
        regions.append(("eye", _ball(_on_surface(shape, nostril), _NOSTRIL_RADIUS_MM)))
    return regions


def _on_surface(shape: PigShape, point: FloatArray) -> FloatArray:
    """The point moved straight to the surface, (3,)."""
    at = point[None]
    for _ in range(_NEWTON_STEPS):
        at = at - whole_pig(shape, at)[:, None] * _gradient(lambda p: whole_pig(shape, p), at)
    return np.asarray(at[0])


def _ball(center: FloatArray, radius: float) -> Region:
    def region(points: FloatArray) -> FloatArray:
        away = points - center
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", away, away)) - radius)

    return region


def _slid(shape: PigShape, vertices: FloatArray, region: Region, reach_mm: float) -> FloatArray:
    """Vertices within reach of a border moved onto it, and back onto the surface."""
    near = (np.abs(region(vertices)) < reach_mm) & (vertices[:, 2] > reach_mm)
    points = vertices[near]
    normal = _gradient(lambda p: whole_pig(shape, p), points)
    across = _gradient(region, points)
    across -= np.einsum("ij,ij->i", across, normal)[:, None] * normal
    steep = np.einsum("ij,ij->i", across, across)
    shift = np.where(steep > 0.25, region(points) / np.maximum(steep, 0.25), 0)
    points = points - shift[:, None] * across
    moved = vertices.copy()
    moved[near] = points - whole_pig(shape, points)[:, None] * normal
    return moved


def _gradient(function: Region, points: FloatArray) -> FloatArray:
    """Unit gradient by central differences: (n, 3) -> (n, 3)."""
    steps = _STEP_MM * np.eye(3)
    slopes = np.stack([function(points + s) - function(points - s) for s in steps], axis=1)
    return np.asarray(slopes / np.maximum(np.sqrt((slopes**2).sum(axis=1)), 1e-12)[:, None])

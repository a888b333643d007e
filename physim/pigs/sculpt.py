"""Carves the standard pig: a closed triangle mesh with a material for every face."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from skimage.measure import marching_cubes

from physim.pigs import field, paint
from physim.pigs.mesh import IntArray
from physim.pigs.parts import convex_parts
from physim.pigs.shape import PigShape
from physim.values import FloatArray

VOXEL_MM = 0.6  # about 15,000 faces; collision parts do not depend on it
_BATCH = 60_000  # points a call: keeps the working memory in the processor's cache
_BORDER_MM = 1.5  # room around the collision parts; the surface stays within 0.4 mm of them


@dataclass(frozen=True)
class SculptedMesh:
    """A closed mesh in the sculpting frame.

    Attributes:
        vertices_mm: (n, 3) [mm].
        faces: (m, 3) vertex indices, counter-clockwise seen from outside.
        materials: (m,) index into `paint.MATERIALS`.
    """

    vertices_mm: FloatArray
    faces: IntArray
    materials: IntArray


def sculpt(shape: PigShape, voxel_mm: float = VOXEL_MM) -> SculptedMesh:
    """The visual mesh; the same numbers give the same bits.

    Args:
        shape: the parameters.
        voxel_mm: edge of the grid's cells before scaling [mm].
    """
    points = np.concatenate([p for _, p in convex_parts(shape)]) / shape.scale
    low, high = points.min(axis=0) - _BORDER_MM, points.max(axis=0) + _BORDER_MM
    # The plane of the soles lies half-way between two layers: there the field is linear across
    # z = 0, so that flat soles come out at exactly that height.
    low[2] = -1.5 * voxel_mm
    counts = np.ceil((high - low) / voxel_mm).astype(int) + 1
    axes = [low[i] + voxel_mm * np.arange(counts[i]) for i in range(3)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    values = np.concatenate(
        [field.pig(shape, grid[i : i + _BATCH]) for i in range(0, len(grid), _BATCH)]
    )
    vertices, faces, _, _ = marching_cubes(  # type: ignore[no-untyped-call]
        values.reshape(counts), 0.0, spacing=(voxel_mm,) * 3, gradient_direction="descent"
    )
    vertices = vertices.astype(np.float64) + low
    vertices[np.abs(vertices[:, 2]) < 0.02, 2] = 0.0  # single-precision noise
    vertices, materials = paint.paint(shape, vertices, faces.astype(np.int64), voxel_mm)
    return SculptedMesh(vertices * shape.scale, faces.astype(np.int64), materials)

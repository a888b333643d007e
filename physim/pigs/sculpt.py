"""Carves the standard pig: a closed triangle mesh with a material for every face."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from skimage.measure import marching_cubes

from physim.pigs import field
from physim.pigs.shape import PigShape
from physim.values import FloatArray

VOXEL_MM = 0.6  # about 12,000 faces; collision parts do not depend on it
MATERIALS = ("skin", "snout", "dot", "eye")
_BATCH = 60_000  # points a call: keeps the working memory in the processor's cache


@dataclass(frozen=True)
class SculptedMesh:
    """A closed mesh in the sculpting frame.

    Attributes:
        vertices_mm: (n, 3) [mm].
        faces: (m, 3) vertex indices, counter-clockwise seen from outside.
        materials: (m,) index into `MATERIALS`.
    """

    vertices_mm: FloatArray
    faces: np.ndarray
    materials: np.ndarray


def _bounds(shape: PigShape) -> tuple[FloatArray, FloatArray]:
    """A box around the pig [mm]."""
    from physim.pigs.parts import convex_parts

    points = np.concatenate([p for _, p in convex_parts(shape)]) / shape.scale
    return points.min(axis=0) - 1.5, points.max(axis=0) + 1.5


def sculpt(shape: PigShape, voxel_mm: float = VOXEL_MM) -> SculptedMesh:
    """The visual mesh; deterministic."""
    low, high = _bounds(shape)
    # The plane of the soles lies half-way between two layers: flat soles come out at exactly z = 0.
    low[2] = -1.5 * voxel_mm
    counts = np.ceil((high - low) / voxel_mm).astype(int) + 1
    axes = [low[i] + voxel_mm * np.arange(counts[i]) for i in range(3)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    values = np.concatenate(
        [field.pig(shape, points[i : i + _BATCH]) for i in range(0, len(points), _BATCH)]
    )
    vertices, faces, _, _ = marching_cubes(
        values.reshape(counts), 0.0, spacing=(voxel_mm,) * 3, gradient_direction="descent"
    )
    vertices = vertices.astype(np.float64) + low
    vertices[np.abs(vertices[:, 2]) < 0.02, 2] = 0.0
    materials = _paint(shape, vertices[faces].mean(axis=1))
    return SculptedMesh(vertices * shape.scale, faces.astype(np.int64), materials)


def _paint(shape: PigShape, centers: FloatArray) -> np.ndarray:
    """Material index of each face from its middle (m, 3) [mm]."""
    x, y, z = centers.T
    materials = np.zeros(len(centers), dtype=np.int64)
    materials[(x > shape.snout_x_mm - 0.3 * shape.head_length_mm) & (np.abs(y) < 1.5 * shape.snout_radius_mm)] = 1
    dot = np.hypot(x - shape.dot_x_mm, z - shape.dot_z_mm) < shape.dot_radius_mm
    materials[dot & (y < 0)] = 2
    return materials

"""Carves the standard pig: a closed triangle mesh with a material for every face."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from skimage.measure import marching_cubes

from physim.pigs import field, paint
from physim.pigs.mesh import IntArray
from physim.pigs.parts import convex_parts
from physim.pigs.shape import PigShape
from physim.values import ExactValue, FloatArray

VOXEL_MM = 0.36  # about 44,000 faces; collision parts do not depend on it
_BATCH = 60_000  # points a call: keeps the working memory in the processor's cache
_NEAR = 1.5  # coarse steps: farther from the surface than that, only the field's sign matters
_BORDER_MM = 1.5  # room around the collision parts; the surface stays within 0.4 mm of them


@dataclass(frozen=True, eq=False)
class SculptedMesh(ExactValue):
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
    counts = 2 * np.ceil((high - low) / (2.0 * voxel_mm)).astype(int) + 1
    axes = [low[i] + voxel_mm * np.arange(counts[i]) for i in range(3)]
    vertices, faces, _, _ = marching_cubes(  # type: ignore[no-untyped-call]
        _values(shape, axes), 0.0, spacing=(voxel_mm,) * 3, gradient_direction="descent"
    )
    vertices = vertices.astype(np.float64) + low
    vertices[np.abs(vertices[:, 2]) < 0.02, 2] = 0.0  # single-precision noise
    vertices, materials = paint.paint(shape, vertices, faces.astype(np.int64), voxel_mm)
    return SculptedMesh(vertices * shape.scale, faces.astype(np.int64), materials)


def _values(shape: PigShape, axes: list[FloatArray]) -> FloatArray:
    """The field on a grid; away from the surface only its sign is right.

    Every other grid point comes first. Cells of that coarse grid with a corner near the surface
    are filled in; all of the others take the value of a corner.
    """
    coarse = _evaluate(shape, _grid([axis[::2] for axis in axes]))
    coarse = coarse.reshape([len(axis[::2]) for axis in axes])
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


def _grid(axes: list[FloatArray]) -> FloatArray:
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def _evaluate(shape: PigShape, points: FloatArray) -> FloatArray:
    return np.concatenate(
        [field.pig(shape, points[i : i + _BATCH]) for i in range(0, len(points), _BATCH)]
    )

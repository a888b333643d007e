"""Colours the standard pig: snout, dot and eyes. Nothing here changes its form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from physim.pigs import field
from physim.pigs.mesh import IntArray
from physim.pigs.shape import PigShape
from physim.values import FloatArray

MATERIALS = ("skin", "snout", "dot", "eye")  # the nostrils wear the eyes' colour
_EYE_RADIUS_MM, _NOSTRIL_RADIUS_MM = 0.75, 0.6
_FACE_RADII = 2.2  # of the snout: what may be painted as snout
_NEWTON_STEPS = 5
_STEP_MM = 1e-3  # for numerical gradients

# Signed distance to a region's border [mm], negative inside: (n, 3) -> (n,).
Region = Callable[[FloatArray], FloatArray]


def paint(
    shape: PigShape, vertices: FloatArray, faces: IntArray, voxel_mm: float
) -> tuple[FloatArray, IntArray]:
    """Vertices slid along the surface onto the colours' borders, and a material for each face.

    Args:
        shape: the parameters.
        vertices: (n, 3) sculpting frame, before scaling [mm].
        faces: (m, 3) vertex indices.
        voxel_mm: spacing of the vertices [mm].
    """
    regions = _regions(shape)
    for _, region in regions:
        vertices = _slide(shape, vertices, region, 0.4 * voxel_mm)
    middles = vertices[faces].mean(axis=1)
    materials = np.zeros(len(faces), dtype=np.int64)
    for name, region in regions:
        materials[region(middles) < 0] = MATERIALS.index(name)
    return vertices, materials


def _regions(shape: PigShape) -> list[tuple[str, Region]]:
    """What is painted over the skin, in this order."""
    border = shape.snout_x_mm - 0.32 * (shape.snout_x_mm - shape.head_x_mm)
    head = np.array([shape.head_x_mm, 0.0, shape.head_z_mm])
    face = 0.5 * np.array([shape.head_length_mm, shape.head_width_mm, shape.head_height_mm])
    regions: list[tuple[str, Region]] = [
        (
            "snout",
            lambda p: np.maximum(
                border - field.snout_lean(shape, p) - p[:, 0], _from_snout(shape, p)
            ),
        ),
        ("dot", lambda p: _flank_disc(shape, p)),
    ]
    for side in (1.0, -1.0):
        eye = head + face * np.array([0.62, 0.58 * side, 0.55])
        regions.append(("eye", _ball(_on_surface(shape, eye), _EYE_RADIUS_MM)))
        nostril = np.array([0.0, 0.42 * side * shape.snout_radius_mm, 0.0])
        nostril += np.array([shape.snout_x_mm, 0.0, shape.snout_z_mm + 0.1 * shape.snout_radius_mm])
        nostril[0] -= float(field.snout_lean(shape, nostril[None])[0])
        regions.append(("eye", _ball(_on_surface(shape, nostril), _NOSTRIL_RADIUS_MM)))
    return regions


def _from_snout(shape: PigShape, points: FloatArray) -> FloatArray:
    """Negative where the face is; the ears reach as far forward, but are farther out."""
    away = np.hypot(points[:, 1], points[:, 2] - shape.snout_z_mm)
    return np.asarray(away - _FACE_RADII * shape.snout_radius_mm)


def _on_surface(shape: PigShape, point: FloatArray) -> FloatArray:
    """The point moved straight to the surface, (3,)."""
    at = point[None]
    for _ in range(_NEWTON_STEPS):
        at = at - field.pig(shape, at)[:, None] * _gradient(lambda p: field.pig(shape, p), at)
    return np.asarray(at[0])


def _ball(center: FloatArray, radius: float) -> Region:
    def region(points: FloatArray) -> FloatArray:
        away = points - center
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", away, away)) - radius)

    return region


def _flank_disc(shape: PigShape, points: FloatArray) -> FloatArray:
    """The dot: a disc seen from the right."""
    disc = np.hypot(points[:, 0] - shape.dot_x_mm, points[:, 2] - shape.dot_z_mm)
    return np.maximum(disc - shape.dot_radius_mm, points[:, 1])


def _slide(shape: PigShape, vertices: FloatArray, region: Region, reach: float) -> FloatArray:
    """Moves vertices within `reach` of a border onto it, and back onto the surface."""
    near = (np.abs(region(vertices)) < reach) & (vertices[:, 2] > reach)
    if not near.any():
        return vertices
    points = vertices[near]
    normal = _gradient(lambda p: field.pig(shape, p), points)
    across = _gradient(region, points)
    across -= np.einsum("ij,ij->i", across, normal)[:, None] * normal
    steep = np.einsum("ij,ij->i", across, across)
    points = (
        points
        - np.where(steep > 0.25, region(points) / np.maximum(steep, 0.25), 0)[:, None] * across
    )
    points = points - field.pig(shape, points)[:, None] * normal
    moved = vertices.copy()
    moved[near] = points
    return moved


def _gradient(function: Region, points: FloatArray) -> FloatArray:
    """Unit gradient by central differences: (n, 3) -> (n, 3)."""
    steps = _STEP_MM * np.eye(3)
    slopes = np.stack([function(points + s) - function(points - s) for s in steps], axis=1)
    return np.asarray(slopes / np.maximum(np.sqrt((slopes**2).sum(axis=1)), 1e-12)[:, None])

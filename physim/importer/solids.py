"""Closed solids: the importer's only door to the Boolean library (manifold3d).

What was found in a mesh, and what was done about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from physim.types import FloatArray

IntArray = NDArray[np.int64]

_SAME = 1e-6  # of the volume: how far the library's solid may differ from what it was given
_NUDGE = 1e-8  # of the longest side


class Solid:
    """A closed solid; cuts and unions give new ones."""

    def __init__(self, manifold: Any) -> None:
        self._it = manifold

    @classmethod
    def of(cls, vertices: FloatArray, faces: IntArray) -> Solid | None:
        """From vertices (n, 3) and faces (m, 3); None where its edges do not pair up."""
        import manifold3d

        volume = volume_of(vertices - vertices.mean(axis=0), faces)
        size = float(np.ptp(vertices, axis=0).max())
        shifts = np.random.default_rng(0).uniform(-1.0, 1.0, vertices.shape)
        for nudge in (0.0, _NUDGE * size):  # faces exactly upon each other may lead it astray
            made = manifold3d.Manifold(
                manifold3d.Mesh64(
                    np.ascontiguousarray(vertices + nudge * shifts, dtype=np.float64),
                    np.ascontiguousarray(faces, dtype=np.uint64),
                )
            )
            if made.status() != manifold3d.Error.NoError:
                break
            if abs(made.volume() - volume) <= _SAME * abs(volume):
                return cls(made)
        return None

    @classmethod
    def hull(cls, points: FloatArray) -> Solid:
        """The convex hull of points (n, 3)."""
        import manifold3d

        return cls(manifold3d.Manifold.hull_points(points))

    @classmethod
    def box(cls, low: FloatArray, high: FloatArray) -> Solid:
        """An upright box between two corners (3,)."""
        return cls.hull(np.array(list(product(*zip(low, high, strict=True)))))

    @classmethod
    def union(cls, solids: Sequence[Solid]) -> Solid:
        """All of them as one."""
        import manifold3d

        return cls(
            manifold3d.Manifold.batch_boolean([s._it for s in solids], manifold3d.OpType.Add)
        )

    def minus(self, other: Solid) -> Solid:
        """Without the other."""
        return Solid(self._it - other._it)

    def mesh(self) -> tuple[FloatArray, IntArray]:
        """Vertices (n, 3) and faces (m, 3)."""
        mesh = self._it.to_mesh64()
        vertices = np.array(mesh.vert_properties, dtype=np.float64)[:, :3]
        return vertices, np.array(mesh.tri_verts, dtype=np.int64)

    @property
    def faces(self) -> int:
        """How many."""
        return int(self._it.num_tri())

    @property
    def volume(self) -> float:
        return float(self._it.volume())

    @property
    def area(self) -> float:
        return float(self._it.surface_area())

    @property
    def bounds(self) -> FloatArray:
        """(2, 3) least and greatest coordinates."""
        return np.array(self._it.bounding_box(), dtype=np.float64).reshape(2, 3)

    def simplified(self, tolerance: float) -> Solid:
        """With fewer faces; no surface moves farther than `tolerance`."""
        return Solid(self._it.simplify(tolerance))

    def refined(self, length: float) -> Solid:
        """The same surface with more faces, none of whose sides is longer."""
        return Solid(self._it.refine_to_length(length))

    def grown(self, by: float) -> Solid:
        """Stretched about its middle, so that its box grows by this on every side."""
        low, high = self.bounds
        share = 2.0 * by / (high - low)
        return self.turned(np.diag(1.0 + share), -share * (low + high) / 2.0)

    def separate(self) -> list[Solid]:
        """Its unconnected pieces, the largest first; hollows have a negative volume."""
        return sorted((Solid(m) for m in self._it.decompose()), key=lambda s: -s.volume)

    def turned(self, axes: FloatArray, shift: FloatArray) -> Solid:
        """In other axes: x -> axes x + shift."""
        return Solid(self._it.transform(np.column_stack([axes, shift])))

    def halves(self, other: Solid) -> tuple[Solid, Solid]:
        """What lies inside the other one, and what does not."""
        inside, outside = self._it.split(other._it)
        return Solid(inside), Solid(outside)

    def outlines(self, height: float) -> list[FloatArray]:
        """The outer outlines (k, 2) of the section z = height, holes left out."""
        loops = [np.array(loop) for loop in self._it.slice(float(height)).to_polygons()]
        return [loop for loop in loops if area(loop) > 0]


def area(loop: FloatArray) -> float:
    """Of a polygon (k, 2); negative where it runs clockwise."""
    x, y = loop.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def triangulated(corners: FloatArray) -> IntArray | None:
    """Triangles (k - 2, 3) of a nearly plane polygon (k, 3); None where it crosses itself."""
    import manifold3d

    points = corners - corners[0]
    normal = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)  # as long as twice its area
    if not normal.any():
        return None
    across = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    plane = np.stack([across / np.linalg.norm(across), np.cross(normal, across)])
    plane[1] /= np.linalg.norm(plane[1])
    flat = points @ plane.T
    triangles = np.array(manifold3d.triangulate([flat]), dtype=np.int64).reshape(-1, 3)
    (ax, ay), (bx, by), (cx, cy) = np.moveaxis(flat[triangles], 0, 2)
    doubled = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    return None if doubled.min() < -1e-9 * doubled.sum() else triangles


def volume_of(vertices: FloatArray, faces: IntArray) -> float:
    """Of a closed mesh, vertices (n, 3) and faces (m, 3) wound outwards."""
    return float(tetrahedra(vertices, faces)[0].sum())


def center_of(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """(3,) its centroid."""
    volumes, middles = tetrahedra(vertices, faces)
    return np.asarray(volumes @ middles / volumes.sum())


def tetrahedra(vertices: FloatArray, faces: IntArray) -> tuple[FloatArray, FloatArray]:
    """Signed volume and middle of the tetrahedron from the origin to each face."""
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    return np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0, (a + b + c) / 4.0


@dataclass(frozen=True)
class Problem:
    """One finding.

    Attributes:
        kind: one word or two, such as "holes".
        where: the place, in the file's axes and mm, or what it is about.
        action: what was done, or what to do.
        solved: False where the mesh cannot be used before the user does what `action` says.
    """

    kind: str
    where: str
    action: str
    solved: bool = True


def place(point_mm: FloatArray) -> str:
    """A point as text."""
    x, y, z = (round(float(c), 1) + 0.0 for c in point_mm)
    return f"near ({x:g}, {y:g}, {z:g}) mm"

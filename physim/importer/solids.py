"""Closed solids: the importer's only door to the Boolean library (manifold3d).

What was found in a mesh, and what was done about it.

Convex hulls of few corners, and how far a set of them is from a mesh.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product
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


_EQUAL = 1e-5  # of the size: so near are the two distances of a mirrored pair in a file
_CANDIDATES = 30  # triangles that may be the nearest to a point: those of the nearest middles
_SIGNS = tuple(product((1.0, -1.0), repeat=3))


def ordered_corners(
    points: FloatArray, most: int, tolerance: float
) -> tuple[FloatArray, FloatArray]:
    """Corners of the hull of points (n, 3): the farthest again and again.

    Corners that are equally far come together, so that a symmetric shape keeps its symmetry and
    the order of the points does not matter. It ends at `most` or a few more, or when none is
    farther than `tolerance`.

    Returns:
        (k, 3) the corners; (k,) how far the hull of this corner and those before it leaves out a
        point, infinite where they are flat.
    """
    from scipy.spatial import ConvexHull, QhullError

    corners = points[ConvexHull(points).vertices]
    equal = _EQUAL * float(np.ptp(corners, axis=0).max())
    places = np.round((corners - corners.mean(axis=0)) / equal)
    corners, places = (x[np.lexsort(places.T)] for x in (corners, places))
    # To begin with, the first along any axes, in any order and direction of these.
    axes = [(order, signs) for order in permutations(range(3)) for signs in _SIGNS]
    first = [np.lexsort((places[:, order] * signs).T[::-1])[-1] for order, signs in axes]
    chosen = list(dict.fromkeys(int(k) for k in first))
    reach = [np.inf] * (len(chosen) - 1)
    while True:
        try:
            beyond = outside(corners, corners[chosen])
            left_out = float(beyond.max())
        except QhullError:  # flat as yet: the farthest from the middle makes it a solid
            beyond = ((corners - corners[chosen].mean(axis=0)) ** 2).sum(axis=1)
            left_out = np.inf
        beyond[chosen] = -1.0
        reach.append(max(0.0, left_out))
        if len(chosen) >= min(most, len(corners)) or left_out <= tolerance:
            return corners[chosen], np.array(reach)
        extreme = np.flatnonzero(beyond >= beyond.max() - equal)
        reach += [reach[-1]] * (len(extreme) - 1)
        chosen += extreme.tolist()


def needed(reach: FloatArray, tolerance: float) -> int:
    """How many of such ordered corners are needed for a tolerance, or at least for a solid."""
    enough = np.flatnonzero(np.isfinite(reach) & (reach <= tolerance))
    return int(enough[0]) + 1 if len(enough) else len(reach)


def few_corners(hulls: Sequence[FloatArray], most: int, tolerance: float) -> list[FloatArray]:
    """The corners (k, 3) of each of the hulls given as points, at most so many of all together.

    They leave out no point by more than `tolerance`, unless `most` are too few for that. There are
    more than `most` only where the fewest that keep each hull's symmetry are.
    """
    each = [ordered_corners(points, most // 2, tolerance) for points in hulls]
    most = max(most, sum(needed(reach, np.inf) for _, reach in each))
    while sum(needed(reach, tolerance) for _, reach in each) > most:
        tolerance *= 1.1
    return [corners[: needed(reach, tolerance)] for corners, reach in each]


def outside(points: FloatArray, hull: FloatArray) -> FloatArray:
    """(n,) how far points (n, 3) lie beyond a plane of the hull of others; negative inside."""
    from scipy.spatial import ConvexHull

    planes = ConvexHull(hull).equations
    return np.asarray((points @ planes[:, :3].T + planes[:, 3]).max(axis=1))


def volume(points: FloatArray) -> float:
    """Of the hull of (n, 3) points; 0 where they are flat."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return float(ConvexHull(points).volume)
    except (QhullError, ValueError):
        return 0.0


def covering(hulls: Sequence[FloatArray], points: FloatArray) -> list[FloatArray]:
    """The hulls, each with those of `points` (n, 3) added that none holds and it is nearest to."""
    beyond = np.stack([outside(points, hull) for hull in hulls])
    nearest, missing = beyond.argmin(axis=0), beyond.min(axis=0) > 0
    return [
        np.concatenate([hull, points[missing & (nearest == index)]])
        for index, hull in enumerate(hulls)
    ]


def distances(mesh: Solid, parts: Sequence[FloatArray], samples: int = 6000) -> tuple[float, float]:
    """How far a mesh reaches out of its parts, and the parts out of the mesh.

    Measured at all corners, and at points spread evenly over both surfaces, from each of which
    the distance is exact. Between the points it may be a little more.

    Args:
        mesh: closed.
        parts: (k, 3) corners of each convex part.
        samples: about how many on the mesh; as closely on the parts.
    """
    from scipy.spatial import cKDTree

    spacing = float(np.sqrt(mesh.area / samples))
    vertices, faces = mesh.refined(spacing).mesh()
    triangles = vertices[faces]
    middles = triangles.mean(axis=1)
    tree, points = cKDTree(middles), np.concatenate([vertices, middles])
    uncovered = np.min([outside(points, part) for part in parts], axis=0)
    bulge = 0.0
    for index, part in enumerate(parts):
        on_part = Solid.hull(part).refined(spacing).mesh()[0]
        for other in (*parts[:index], *parts[index + 1 :]):
            on_part = on_part[outside(on_part, other) > 0] if len(on_part) else on_part
        if len(on_part):
            near = tree.query(on_part, min(_CANDIDATES, len(triangles)))[1]
            above = _above(on_part, triangles[near.reshape(len(on_part), -1)])
            bulge = max(bulge, float(above.max()))
    return max(0.0, float(uncovered.max())), bulge


def _above(points: FloatArray, triangles: FloatArray) -> FloatArray:
    """(n,) distance of points (n, 3) from the nearest of their triangles (n, k, 3, 3).

    It is negative for a point below that triangle, which is wound outwards.
    """
    a, b, c = np.moveaxis(triangles, 2, 0)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    ahead = np.roll(triangles, -1, axis=2) - triangles
    seen = points[:, None, None] - triangles
    height = (seen[:, :, 0] * normals).sum(axis=2)
    over = ((np.cross(normals[:, :, None], ahead) * seen).sum(axis=3) >= 0).all(axis=2)
    along = ((seen * ahead).sum(axis=3) / (ahead**2).sum(axis=3)).clip(0.0, 1.0)
    to_sides = np.linalg.norm(seen - along[..., None] * ahead, axis=3).min(axis=2)
    distance = np.where(over, np.abs(height), to_sides)
    least = distance.min(axis=1)
    # At a corner or a side several are equally near: the one that faces the point knows its side.
    height[distance > least[:, None] * (1 + _EQUAL)] = 0.0
    facing = np.abs(height).argmax(axis=1)
    return np.asarray(np.copysign(least, height[np.arange(len(points)), facing]))

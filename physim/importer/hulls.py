"""Convex hulls of few corners, and how far a set of them is from a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from physim.importer.solids import IntArray
from physim.types import FloatArray

_EQUAL = 1e-5  # of the size: so near are the two distances of a mirrored pair in a file
_CANDIDATES = 12  # triangles that may be the nearest to a point: those of the nearest samples
_SIGNS = tuple(product((1.0, -1.0), repeat=3))


@dataclass(frozen=True)
class Corners:
    """Corners of a hull, the most needed first.

    Attributes:
        points: (n, 3).
        reach: (n,) how far the hull of this corner and those before it leaves out a point;
            infinite where they are flat.
    """

    points: FloatArray
    reach: FloatArray

    def within(self, tolerance: float) -> int:
        """How many corners are needed for it, or at least for a solid."""
        enough = np.flatnonzero(np.isfinite(self.reach) & (self.reach <= tolerance))
        return int(enough[0]) + 1 if len(enough) else len(self.points)


def ordered_corners(points: FloatArray, most: int, tolerance: float) -> Corners:
    """Corners of the hull of points (n, 3): the farthest again and again.

    Corners that are equally far come together, so that a symmetric shape keeps its symmetry and
    the order of the points does not matter. It ends at `most` or a few more, or when none is
    farther than `tolerance`.
    """
    from scipy.spatial import ConvexHull, QhullError

    corners = points[ConvexHull(points).vertices]
    equal = _EQUAL * float(np.ptp(corners, axis=0).max())
    places = np.round((corners - corners.mean(axis=0)) / equal)
    corners, places = (x[np.lexsort(places.T)] for x in (corners, places))
    chosen = _extreme(places)
    reach = [np.inf] * (len(chosen) - 1)
    while True:
        try:
            planes = ConvexHull(corners[chosen]).equations
            beyond = (corners @ planes[:, :3].T + planes[:, 3]).max(axis=1)
            left_out = float(beyond.max())
        except QhullError:  # flat as yet: the farthest from the middle makes it a solid
            beyond = ((corners - corners[chosen].mean(axis=0)) ** 2).sum(axis=1)
            left_out = np.inf
        beyond[chosen] = -1.0
        reach.append(max(0.0, left_out))
        if len(chosen) >= min(most, len(corners)) or left_out <= tolerance:
            return Corners(corners[chosen], np.array(reach))
        farthest = np.flatnonzero(beyond >= beyond.max() - equal)
        reach += [reach[-1]] * (len(farthest) - 1)
        chosen += farthest.tolist()


def _extreme(corners: FloatArray) -> list[int]:
    """Indices of the first corners (n, 3) along any axes, in any order and direction of these."""
    axes = [(order, signs) for order in permutations(range(3)) for signs in _SIGNS]
    first = [np.lexsort((corners[:, order] * signs).T[::-1])[-1] for order, signs in axes]
    return list(dict.fromkeys(int(k) for k in first))


def few_corners(
    hulls: Sequence[FloatArray], most: int, tolerance: float
) -> tuple[list[FloatArray], float]:
    """The corners of hulls given as points, at most so many of all together.

    It may be more where the fewest that keep each hull's symmetry are.

    Returns:
        (k, 3) corners of each, and how far the hulls leave out a point: `tolerance`, or more
            where `most` are too few.
    """
    each = [ordered_corners(points, most // 2, tolerance) for points in hulls]
    most = max(most, sum(it.within(np.inf) for it in each))
    while sum(it.within(tolerance) for it in each) > most:
        tolerance *= 1.1
    return [it.points[: it.within(tolerance)] for it in each], tolerance


def volume(points: FloatArray) -> float:
    """Of the hull of (n, 3) points; 0 where they are flat."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return float(ConvexHull(points).volume)
    except (QhullError, ValueError):
        return 0.0


def covering(hulls: Sequence[FloatArray], points: FloatArray) -> list[FloatArray]:
    """The hulls, given as points, with those of `points` (n, 3) added that none of them holds.

    Each goes to the hull that it is nearest to.
    """
    from scipy.spatial import ConvexHull

    outside = np.stack(
        [
            (points @ planes[:, :3].T + planes[:, 3]).max(axis=1)
            for planes in (ConvexHull(hull).equations for hull in hulls)
        ]
    )
    nearest = outside.argmin(axis=0)
    missing = outside.min(axis=0) > 0
    return [
        np.concatenate([hull, points[missing & (nearest == index)]])
        for index, hull in enumerate(hulls)
    ]


def distances(
    vertices: FloatArray, faces: IntArray, parts: Sequence[FloatArray], samples: int = 6000
) -> tuple[float, float]:
    """How far a mesh reaches out of its parts, and the parts out of the mesh.

    Measured at all corners, and at points spread evenly over both surfaces, from each of which
    the distance is exact. Between the points it may be a little more.

    Args:
        vertices: (n, 3) of the mesh.
        faces: (m, 3) wound outwards.
        parts: (k, 3) corners of each convex part.
        samples: about how many on the mesh, and four times on the parts.
    """
    from scipy.spatial import ConvexHull, cKDTree

    points, owners = _spread(vertices, faces, samples)
    tree = cKDTree(points)
    points = np.concatenate([points, vertices[np.unique(faces)]])
    planes = [ConvexHull(part).equations for part in parts]
    uncovered = np.full(len(points), np.inf)
    for equations in planes:
        outside = (points @ equations[:, :3].T + equations[:, 3]).max(axis=1)
        uncovered = np.minimum(uncovered, outside)
    bulge = 0.0
    for index, part in enumerate(parts):
        hull = ConvexHull(part)
        on_part = _spread(part, np.asarray(hull.simplices), samples // 4)[0]
        on_part = np.concatenate([on_part, part])
        for other, equations in enumerate(planes):
            if other != index and len(on_part):
                outside = (on_part @ equations[:, :3].T + equations[:, 3]).max(axis=1)
                on_part = on_part[outside > 0]
        if len(on_part):
            near = owners[tree.query(on_part, min(_CANDIDATES, len(owners)))[1]]
            above = _above(on_part, vertices[faces[near.reshape(len(on_part), -1)]])
            bulge = max(bulge, float(above.max(initial=0.0)))
    return max(0.0, float(uncovered.max())), bulge


def _spread(vertices: FloatArray, faces: IntArray, samples: int) -> tuple[FloatArray, IntArray]:
    """Points (n, 3) spread evenly over the surface, and the face of each (n,).

    Each face is divided into smaller ones of its own form, by its area: their middles.
    """
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    areas = np.sqrt((np.cross(b - a, c - a) ** 2).sum(axis=1))
    sides = np.ceil(np.sqrt(areas / areas.sum() * samples)).astype(np.int64)
    points, owners = [], []
    for count in np.unique(sides[sides > 0]).tolist():
        of_count = np.flatnonzero(sides == count)
        u, v = (x.ravel() for x in np.mgrid[:count, :count])
        up, down = u + v < count, u + v < count - 1
        u = (np.concatenate([u[up] + 1 / 3, u[down] + 2 / 3]) / count)[:, None, None]
        v = (np.concatenate([v[up] + 1 / 3, v[down] + 2 / 3]) / count)[:, None, None]
        inner = a[of_count] + u * (b - a)[of_count] + v * (c - a)[of_count]
        points.append(inner.reshape(-1, 3))
        owners.append(np.tile(of_count, len(u)))
    return np.concatenate(points), np.concatenate(owners)


def _above(points: FloatArray, triangles: FloatArray) -> FloatArray:
    """(n,) distance of points (n, 3) from the nearest of their triangles (n, k, 3, 3).

    It is negative for a point below that triangle, which is wound outwards.
    """
    normals = np.cross(
        triangles[:, :, 1] - triangles[:, :, 0], triangles[:, :, 2] - triangles[:, :, 0]
    )
    normals /= np.sqrt((normals**2).sum(axis=2, keepdims=True))
    ahead = np.roll(triangles, -1, axis=2) - triangles
    seen = points[:, None, None] - triangles
    height = (seen[:, :, 0] * normals).sum(axis=2)
    over = ((np.cross(normals[:, :, None], ahead) * seen).sum(axis=3) >= 0).all(axis=2)
    along = ((seen * ahead).sum(axis=3) / (ahead**2).sum(axis=3)).clip(0.0, 1.0)
    to_sides = np.sqrt(((seen - along[..., None] * ahead) ** 2).sum(axis=3)).min(axis=2)
    distance = np.where(over, np.abs(height), to_sides)
    least = distance.min(axis=1)
    # At a corner or a side several are equally near: the one that faces the point knows its side.
    height[distance > least[:, None] * (1 + _EQUAL)] = 0.0
    facing = np.abs(height).argmax(axis=1)
    return np.asarray(np.copysign(least, height[np.arange(len(points)), facing]))

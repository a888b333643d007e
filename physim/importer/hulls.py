"""Convex hulls of few corners, and how far a set of them is from a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from physim.importer.solids import IntArray
from physim.values import FloatArray

_EQUAL = 1e-5  # of the size: so near are the two distances of a mirrored pair in a file
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

    Measured at points spread over both surfaces; where parts bridge a hollow, the second is the
    height there above the plane of the nearest point. (The distance from that point would count
    how far apart the points are.)

    Args:
        vertices: (n, 3) of the mesh.
        faces: (m, 3) wound outwards.
        parts: (k, 3) corners of each convex part.
        samples: on each surface.
    """
    from scipy.spatial import ConvexHull, cKDTree

    points, normals = _spread(vertices, faces, samples)
    planes = [ConvexHull(part).equations for part in parts]
    uncovered = np.full(len(points), np.inf)
    for equations in planes:
        outside = (points @ equations[:, :3].T + equations[:, 3]).max(axis=1)
        uncovered = np.minimum(uncovered, outside)
    tree = cKDTree(points)
    bulge = 0.0
    for index, part in enumerate(parts):
        hull = ConvexHull(part)
        on_part, _ = _spread(part, np.asarray(hull.simplices), samples // 4)
        for other, equations in enumerate(planes):
            if other != index and len(on_part):
                outside = (on_part @ equations[:, :3].T + equations[:, 3]).max(axis=1)
                on_part = on_part[outside > 0]
        if len(on_part):
            nearest = tree.query(on_part)[1]
            above = ((on_part - points[nearest]) * normals[nearest]).sum(axis=1)
            bulge = max(bulge, float(above.max(initial=0.0)))
    return max(0.0, float(uncovered.max())), bulge


def _spread(vertices: FloatArray, faces: IntArray, samples: int) -> tuple[FloatArray, FloatArray]:
    """Points (n, 3) evenly on the surface, the corners among them, and their normals."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    areas = np.sqrt((cross**2).sum(axis=1))
    good = areas > 0
    a, b, c, cross, areas = a[good], b[good], c[good], cross[good], areas[good]
    rng = np.random.default_rng(0)
    picks = rng.choice(len(areas), samples, p=areas / areas.sum())
    u, v = rng.random((2, samples, 1))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    inner = a[picks] + u * (b - a)[picks] + v * (c - a)[picks]
    normals = cross / areas[:, None]
    corners = np.concatenate([a, b, c])[:: max(1, 3 * len(a) // samples)]
    of_corners = np.concatenate([normals] * 3)[:: max(1, 3 * len(a) // samples)]
    return np.concatenate([inner, corners]), np.concatenate([normals[picks], of_corners])

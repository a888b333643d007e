"""Convex hulls of few corners, and how far a set of them is from a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

import numpy as np

from physim.importer.solids import Solid
from physim.types import FloatArray

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

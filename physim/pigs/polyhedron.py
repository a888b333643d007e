"""A convex hull with whole facets: Qhull's triangles merged where they are coplanar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from physim.errors import ModelError
from physim.values import ExactValue, FloatArray

if TYPE_CHECKING:
    from scipy.spatial import ConvexHull

IntArray = NDArray[np.int64]
COPLANAR = 1e-12  # of the size: what rounding leaves of a plane, far less than any noise in a file


@dataclass(frozen=True, eq=False)
class Polyhedron(ExactValue):
    """The convex hull of points, seen from the centre of mass.

    Attributes:
        points: (n, 3) all points, relative to the centre of mass.
        extreme: those of the points that are corners of the hull, indices.
        size: longest extent along an axis.
        normals: (f, 3) outward unit normals of the facets.
        offsets: (f,) distance of each facet's plane from the centre of mass, positive.
        corners: those of each facet, indices into `points`, sorted.
        edges: (e, 4) corner u, corner v, facet a, facet b; u -> v runs counter-clockwise around
            facet a, seen from outside.
    """

    points: FloatArray
    extreme: IntArray
    size: float
    normals: FloatArray
    offsets: FloatArray
    corners: tuple[IntArray, ...]
    edges: IntArray


def polyhedron(points: FloatArray, center_of_mass: FloatArray) -> Polyhedron:
    """Hull of `points` (n, 3), any unit.

    Raises:
        ModelError: flat or not finite points, or a centre of mass outside the hull.
    """
    from scipy.spatial import ConvexHull, QhullError

    relative = np.asarray(points, dtype=np.float64) - center_of_mass
    if relative.ndim != 2 or len(relative) < 4 or not np.isfinite(relative).all():
        raise ModelError("a hull needs at least four points with finite coordinates")
    try:
        hull = ConvexHull(relative)
    except QhullError as error:
        raise ModelError("the collision parts are flat together: give them thickness") from error
    size = float(np.ptp(relative, axis=0).max())
    if (hull.equations[:, 3] > -1e-9 * size).any():
        raise ModelError(
            "the centre of mass lies outside the hull of the collision parts; "
            "check `center_of_mass_offset_mm` and that mesh and parts use the same units"
        )
    return _assemble(relative, size, hull)


def _merge(points: FloatArray, size: float, hull: ConvexHull, areas: FloatArray) -> IntArray:
    """(triangles,) facet index of each triangle: the largest takes what lies in its plane first.

    So a sliver on an edge, whose own plane means nothing, goes to one side and joins no two.
    """
    neighbours = np.asarray(hull.neighbors, dtype=np.int64)
    group = np.full(len(areas), -1)
    facets = 0
    for largest in np.argsort(-areas, kind="stable").tolist():
        if group[largest] >= 0:
            continue
        *normal, offset = hull.equations[largest]
        group[largest] = facets
        fresh = np.array([largest])
        while len(fresh):
            beside = np.unique(neighbours[fresh])
            beside = beside[group[beside] < 0]
            above = points[hull.simplices[beside]] @ normal + offset
            fresh = beside[np.abs(above).max(axis=1, initial=0.0) < COPLANAR * size]
            group[fresh] = facets
        facets += 1
    return group


def _assemble(points: FloatArray, size: float, hull: ConvexHull) -> Polyhedron:
    """Facets with their corners, and the edges between them, from merged triangles."""
    triangles = hull.simplices.astype(np.int64)
    a, b, c = (points[triangles[:, i]] for i in range(3))
    cross = np.cross(b - a, c - a)
    areas = np.sqrt(np.einsum("ij,ij->i", cross, cross))
    group = _merge(points, size, hull, areas)
    normals = np.zeros((int(group.max()) + 1, 3))
    np.add.at(normals, group, areas[:, None] * hull.equations[:, :3])
    normals /= np.sqrt(np.einsum("ij,ij->i", normals, normals))[:, None]

    pairs = np.unique(np.stack([np.repeat(group, 3), triangles.ravel()], axis=1), axis=0)
    starts = np.searchsorted(pairs[:, 0], np.arange(1, len(normals)))
    corners = np.split(pairs[:, 1], starts)
    offsets = np.array(
        [float((points[own] @ n).max()) for own, n in zip(corners, normals, strict=True)]
    )
    first = np.repeat(np.arange(len(triangles)), 3)
    second = np.asarray(hull.neighbors, dtype=np.int64).ravel()
    ends = triangles[:, [[1, 2], [2, 0], [0, 1]]].reshape(-1, 2)  # opposite to each corner
    kept = (first < second) & (group[first] != group[second])
    ends, left, right = ends[kept], group[first[kept]], group[second[kept]]
    along = points[ends[:, 1]] - points[ends[:, 0]]
    turn = np.cross(normals[left], normals[right])
    backward = np.einsum("ij,ij->i", along, turn) < 0
    ends[backward] = ends[backward][:, ::-1]
    edges = np.column_stack([ends, left, right])
    extreme = np.unique(edges[:, :2])
    return Polyhedron(points, extreme, size, normals, offsets, tuple(corners), edges)

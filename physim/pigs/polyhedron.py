"""A convex hull with whole facets: Qhull's triangles merged where they are coplanar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from physim.errors import ModelError
from physim.values import FloatArray

if TYPE_CHECKING:
    from scipy.spatial import ConvexHull

IntArray = NDArray[np.int64]
COPLANAR_RAD = 2e-4  # rounding of coordinates in a mesh file stays well below


@dataclass(frozen=True)
class Polyhedron:
    """The convex hull of points, seen from the centre of mass.

    Attributes:
        points: (n, 3) all points, relative to the centre of mass.
        normals: (f, 3) outward unit normals of the facets.
        offsets: (f,) distance of each facet's plane from the centre of mass, positive.
        loops: corners of each facet, indices into `points`, counter-clockwise seen from outside.
        edges: (e, 4) corner u, corner v, facet a, facet b; facet a has u -> v in its loop.
    """

    points: FloatArray
    normals: FloatArray
    offsets: FloatArray
    loops: tuple[IntArray, ...]
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
        raise ModelError("the collision parts are flat: they enclose no volume") from error
    size = float(np.ptp(relative, axis=0).max())
    if (hull.equations[:, 3] > -1e-9 * size).any():
        raise ModelError(
            "the centre of mass lies outside the hull of the collision parts; "
            "check `center_of_mass_offset_mm` and that mesh and parts use the same units"
        )
    group = _merge(hull)
    return _assemble(relative, hull, group)


def _merge(hull: ConvexHull) -> IntArray:
    """(triangles,) facet index of each triangle."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(hull.simplices)
    first = np.repeat(np.arange(count), 3)
    second = np.asarray(hull.neighbors).ravel()
    apart = hull.equations[first, :3] - hull.equations[second, :3]
    flat = np.einsum("ij,ij->i", apart, apart) < COPLANAR_RAD**2
    links = coo_array((np.ones(int(flat.sum())), (first[flat], second[flat])), (count, count))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.int64)


def _assemble(points: FloatArray, hull: ConvexHull, group: IntArray) -> Polyhedron:
    """Facet planes, loops and edges from merged triangles."""
    triangles = hull.simplices.astype(np.int64)
    a, b, c = (points[triangles[:, i]] for i in range(3))
    areas = np.cross(b - a, c - a)
    flip = np.einsum("ij,ij->i", areas, hull.equations[:, :3]) < 0
    triangles[flip] = triangles[flip][:, ::-1]
    areas[flip] *= -1
    facets = int(group.max()) + 1
    normals = np.zeros((facets, 3))
    np.add.at(normals, group, areas)
    normals /= np.sqrt(np.einsum("ij,ij->i", normals, normals))[:, None]

    owner: dict[tuple[int, int], int] = {}
    for triangle, facet in zip(triangles, group, strict=True):
        for i in range(3):
            owner[int(triangle[i]), int(triangle[(i + 1) % 3])] = int(facet)
    edges = [
        (u, v, facet, owner[v, u])
        for (u, v), facet in owner.items()
        if u < v and owner[v, u] != facet
    ]
    after: list[dict[int, int]] = [{} for _ in range(facets)]
    for u, v, left, right in edges:
        after[left][u] = v
        after[right][v] = u
    loops = []
    for chain in after:
        start = min(chain)
        loop = [start]
        while chain[loop[-1]] != start:
            loop.append(chain[loop[-1]])
        loops.append(np.array(loop, dtype=np.int64))
    offsets = np.array(
        [float((points[loop] @ n).max()) for loop, n in zip(loops, normals, strict=True)]
    )
    return Polyhedron(points, normals, offsets, tuple(loops), np.array(edges, dtype=np.int64))

"""Rolling without speed: steepest descent of H(d) = max v.d over the down direction d.

* On a corner v, d leaves v's direction along a great circle until it meets an
  arc between two facets' normals, which stands for an edge.
* On an edge whose perpendicular foot p (seen from the centre of mass) lies
  between its ends, d slides along that arc, away from p. If p's direction lies
  on the arc, it is a saddle: the top of a pass between two facets.
* Other edges are crossed into the other corner's region.
* From a facet that does not hold, d leaves over the point of the facet that is
  nearest to the foot of the centre of mass: an edge or a corner.

From an edge or a facet on the way is the same for all, so a few thousand
directions have to be followed only to their first edge.

A symmetric body may roll right onto a ridge of H, with nothing to choose one side
by. It then goes to each side half of the time, as a body with noise does. Facets
that rounding makes lead to each other in a circle are one end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from physim.errors import ModelError
from physim.types import ExactValue, FloatArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from scipy.spatial import ConvexHull

IntArray = NDArray[np.int64]
COPLANAR = 1e-12  # of the size: what rounding leaves of a plane, far less than any noise in a file
TIE = 1e-9  # rad, or of the size: what is nearer than this to a tie is one
_END = 1e-7  # of the size: a foot this near to an edge's end lies on the edge. More than COPLANAR.
_MOST_CROSSINGS = 1000  # each one lowers H; a hull has far fewer edges to cross
_MOST_LOST = 1e-3  # of the directions: so few that cross more do not count, by rounding
_MOST_SQUARINGS = 60  # 2^60 steps; what is not at an end by then is rounding


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
    """Hull of `points` (n, 3), any unit; Qhull's triangles are merged where they are coplanar.

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
    triangles = hull.simplices.astype(np.int64)
    a, b, c = (relative[triangles[:, i]] for i in range(3))
    cross = np.cross(b - a, c - a)
    areas = np.sqrt(_dot(cross, cross))
    facet_of = _facets(relative, size, hull, areas)
    normals = np.zeros((int(facet_of.max()) + 1, 3))
    np.add.at(normals, facet_of, areas[:, None] * hull.equations[:, :3])
    normals /= np.sqrt(_dot(normals, normals))[:, None]

    pairs = np.unique(np.stack([np.repeat(facet_of, 3), triangles.ravel()], axis=1), axis=0)
    corners = np.split(pairs[:, 1], np.searchsorted(pairs[:, 0], np.arange(1, len(normals))))
    offsets = [(relative[own] @ n).max() for own, n in zip(corners, normals, strict=True)]
    edges = _edges(relative, hull, facet_of, normals)
    extreme = np.unique(edges[:, :2])
    return Polyhedron(relative, extreme, size, normals, np.array(offsets), tuple(corners), edges)


def _facets(points: FloatArray, size: float, hull: ConvexHull, areas: FloatArray) -> IntArray:
    """(triangles,) facet of each triangle: the largest takes what lies in its plane first.

    So a sliver on an edge, whose own plane means nothing, goes to one side and joins no two.
    """
    neighbours = np.asarray(hull.neighbors, dtype=np.int64)
    facet_of, facets = np.full(len(areas), -1), 0
    for largest in np.argsort(-areas, kind="stable").tolist():
        if facet_of[largest] >= 0:
            continue
        *normal, offset = hull.equations[largest]
        facet_of[largest] = facets
        fresh = np.array([largest])
        while len(fresh):
            beside = np.unique(neighbours[fresh])
            beside = beside[facet_of[beside] < 0]
            above = points[hull.simplices[beside]] @ normal + offset
            fresh = beside[np.abs(above).max(axis=1, initial=0.0) < COPLANAR * size]
            facet_of[fresh] = facets
        facets += 1
    return facet_of


def _edges(
    points: FloatArray, hull: ConvexHull, facet_of: IntArray, normals: FloatArray
) -> IntArray:
    """The edges between merged triangles, as in `Polyhedron`."""
    triangles = hull.simplices.astype(np.int64)
    first = np.repeat(np.arange(len(triangles)), 3)
    second = np.asarray(hull.neighbors, dtype=np.int64).ravel()
    ends = triangles[:, [[1, 2], [2, 0], [0, 1]]].reshape(-1, 2)  # opposite to each corner
    between = (first < second) & (facet_of[first] != facet_of[second])
    ends, left, right = ends[between], facet_of[first[between]], facet_of[second[between]]
    backward = _dot(
        points[ends[:, 1]] - points[ends[:, 0]], np.cross(normals[left], normals[right])
    )
    ends = np.where(backward[:, None] < 0, ends[:, ::-1], ends)
    return np.column_stack([ends, left, right])


class Rolling:
    """The ways of one polyhedron.

    Attributes:
        ends: the facets of each end: one that holds, or several that lead to each other.
        leads: (facets, ends) share of what comes to a facet that ends there.
    """

    def __init__(self, hull: Polyhedron) -> None:
        self._hull = hull
        u, v = hull.points[hull.edges[:, 0]], hull.points[hull.edges[:, 1]]
        along = v - u
        where = -_dot(u, along) / _dot(along, along)
        slack = _END * hull.size / np.sqrt(_dot(along, along))
        self._rolls = (where > -slack) & (where < 1 + slack)
        self._foot = u + where[:, None] * along
        a, b = hull.normals[hull.edges[:, 2]], hull.normals[hull.edges[:, 3]]
        self._turn = np.cross(a, b)  # along the edge; orders directions on the arc from a to b
        self._is_saddle = (
            self._rolls
            & (_dot(np.cross(a, self._foot), self._turn) > 0)
            & (_dot(np.cross(self._foot, b), self._turn) > 0)
        )
        self._neighbours, self._edge_of = self._corner_table()
        self.ends, self.leads = ends_of(self._facet_table())

    def saddles(self) -> dict[tuple[int, int], float]:
        """The height of every pass between two facets."""
        feet, sides = self._foot[self._is_saddle], self._hull.edges[self._is_saddle, 2:]
        heights = np.sqrt(_dot(feet, feet)).tolist()
        return dict(zip(map(tuple, sides.tolist()), heights, strict=True))

    def shares(self, directions: FloatArray) -> FloatArray:
        """(ends,) share of the initial down directions (n, 3) that roll to each end.

        Raises:
            ModelError: more than a few come to no facet.
        """
        corners = self._hull.extreme
        lowest = corners[np.argmax(directions @ self._hull.points[corners].T, axis=1)]
        a, b, to_b = self._first_facets(directions, lowest, most_lost=_MOST_LOST)
        count = len(self._hull.normals)
        first = np.bincount(a, 1.0 - to_b, count) + np.bincount(b, to_b, count)
        return np.asarray(first @ self.leads / len(a))

    def _corner_table(self) -> tuple[IntArray, IntArray]:
        """(n, k) neighbours of each corner and the edges to them, padded with -1."""
        edges = self._hull.edges
        ends, others = np.concatenate([edges[:, [0, 1]], edges[:, [1, 0]]]).T
        ids = np.tile(np.arange(len(edges)), 2)
        degree = np.bincount(ends, minlength=len(self._hull.points))
        order = np.argsort(ends, kind="stable")
        slot = np.arange(len(ends)) - np.repeat(np.cumsum(degree) - degree, degree)
        neighbours = np.full((len(degree), int(degree.max())), -1)
        edge_of = neighbours.copy()
        neighbours[ends[order], slot] = others[order]
        edge_of[ends[order], slot] = ids[order]
        return neighbours, edge_of

    def _facet_table(self) -> csr_array:
        """(facets, facets) which facet follows each, as shares; one that holds follows itself."""
        hull, count = self._hull, len(self._hull.normals)
        # Every edge is a side of two facets; sides are sorted so that a facet's are neighbours.
        sides = np.concatenate([hull.edges, hull.edges[:, [1, 0, 3, 2]]])
        u, v, facet, beyond = sides[np.argsort(sides[:, 2], kind="stable")].T
        starts = np.flatnonzero(np.diff(facet, prepend=-1))
        foot = (hull.offsets[:, None] * hull.normals)[facet]
        corner, ahead = hull.points[u] - foot, hull.points[v] - hull.points[u]
        length = np.sqrt(_dot(ahead, ahead))
        t = -_dot(corner, ahead) / length**2
        nearest = corner + np.clip(t, 0, 1)[:, None] * ahead
        distance = np.sqrt(_dot(nearest, nearest))
        least = np.minimum.reduceat(distance, starts)[facet]
        is_nearest = distance <= least + TIE * hull.size
        # The nearest side alone says whether the foot is inside: far ones may be too short to.
        inside = -_dot(np.cross(hull.normals[facet], ahead), corner) / length
        holds = np.minimum.reduceat(np.where(is_nearest, inside, np.inf), starts) > TIE * hull.size
        leaves = is_nearest & ~holds[facet] & (inside <= TIE * hull.size)
        slack = _END * hull.size / length
        # A foot that lies on a side or a corner, but for rounding, is over the edge of both.
        over_edge = leaves & ((t > -slack) & (t < 1 + slack) | (least <= _END * hull.size))
        ways = np.bincount(facet[over_edge], minlength=count)
        by_corner = np.flatnonzero(leaves & (ways[facet] == 0))
        by_corner = by_corner[np.unique(facet[by_corner], return_index=True)[1]]
        pivots = np.where(t[by_corner] <= 0, u[by_corner], v[by_corner])
        a, b, to_b = self._first_facets(hull.normals[facet[by_corner]], pivots)

        stays = np.flatnonzero(holds)
        return matrix(
            np.concatenate([stays, facet[over_edge], facet[by_corner], facet[by_corner]]),
            np.concatenate([stays, beyond[over_edge], a, b]),
            np.concatenate([np.ones(len(stays)), 1.0 / ways[facet[over_edge]], 1.0 - to_b, to_b]),
            (count, count),
        )

    def _first_facets(
        self, directions: FloatArray, corners: IntArray, most_lost: float = 0.0
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """What each direction comes to that starts on a corner.

        Returns:
            The facets on both sides of the first edge that it slides along, (n,) each, and the
                share of it that goes to the second: 0, 1, or a half on a ridge. Those that cross
                edges without end are left out.

        Raises:
            ModelError: of the directions, more than the share `most_lost` do so.
        """
        hull = self._hull
        d, v = directions.copy(), corners.copy()
        found, to_b = np.zeros(len(d), dtype=np.int64), np.zeros(len(d))
        active = np.arange(len(d))
        for _ in range(_MOST_CROSSINGS):
            if not len(active):
                break
            turned, edge, other = self._leave(d[active], v[active])
            a, b = hull.normals[hull.edges[edge, 2]], hull.normals[hull.edges[edge, 3]]
            on_a, on_b = _dot(turned - a, turned - a), _dot(turned - b, turned - b)
            # One that comes right onto a facet goes on as that facet does.
            lands = np.minimum(on_a, on_b) < TIE**2
            turn, foot = self._turn[edge], self._foot[edge]
            past = _dot(np.cross(foot, turned), turn)
            tie = TIE * np.sqrt(_dot(foot, foot) * _dot(turn, turn))
            share = np.where(past > tie, 1.0, np.where(past < -tie, 0.0, 0.5))
            share = np.where(lands, on_b < on_a, share)
            ends = lands | self._rolls[edge]
            found[active[ends]], to_b[active[ends]] = edge[ends], share[ends]
            d[active], v[active] = turned, other
            active = active[~ends]
        if len(active) > most_lost * len(d):
            raise ModelError(
                f"it rolls over its edges without end from {len(active)} of {len(d)} directions; "
                "simplify the mesh: its slivers are too thin to reckon with"
            )
        found, to_b = np.delete(found, active), np.delete(to_b, active)
        return hull.edges[found, 2], hull.edges[found, 3], to_b

    def _leave(self, d: FloatArray, v: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
        """Turns d away from corner v up to the first arc: new d, the edge, its other corner."""
        point, neighbours = self._hull.points[v], self._neighbours[v]
        away = -(point - _dot(point, d)[:, None] * d)
        away /= np.maximum(np.sqrt(_dot(away, away)), 1e-300)[:, None]
        difference = point[:, None, :] - self._hull.points[neighbours]
        lead = np.maximum(np.einsum("nki,ni->nk", difference, d), 0.0)
        change = np.einsum("nki,ni->nk", difference, away)
        angle = np.where(neighbours >= 0, np.arctan2(lead, -change), np.inf)
        at = np.arange(len(d)), np.argmin(angle, axis=1)
        t = angle[at][:, None]
        return np.cos(t) * d + np.sin(t) * away, self._edge_of[v][at], neighbours[at]


def ends_of(following: csr_array) -> tuple[list[IntArray], csr_array]:
    """Where one comes to that goes on and on.

    Args:
        following: (n, n) share of what is in a row that goes to each column; rows sum to 1.

    Returns:
        The members of each set that is not left again, and the shares (n, sets) of what is in a
            row that ends in each.
    """
    from scipy.sparse.csgraph import connected_components

    rows, columns = following.nonzero()
    sets, set_of = connected_components(following, directed=True, connection="strong")
    is_end = np.ones(sets, dtype=bool)
    is_end[set_of[rows[set_of[rows] != set_of[columns]]]] = False
    end_of = np.where(is_end, np.cumsum(is_end) - 1, -1)[set_of]  # -1 on the way
    on_way, at_end = np.flatnonzero(end_of < 0), np.flatnonzero(end_of >= 0)
    order = np.argsort(end_of, kind="stable")[len(on_way) :]
    members = np.split(order, np.flatnonzero(np.diff(end_of[order])) + 1)
    shape = following.shape[0], len(members)
    ended = matrix(at_end, end_of[at_end], np.ones(len(at_end)), shape)
    leads, steps = following @ ended, following
    for _ in range(_MOST_SQUARINGS):
        if not len(on_way) or leads[on_way].sum() >= len(on_way) * (1.0 - 1e-12):
            break
        steps = steps @ steps
        leads = steps @ ended
    return members, leads


def matrix(
    rows: IntArray, columns: IntArray, shares: FloatArray, shape: tuple[int, int]
) -> csr_array:
    """A sparse matrix without stored zeros."""
    from scipy.sparse import csr_array

    made = csr_array((shares, (rows, columns)), shape)
    made.eliminate_zeros()
    return made


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    """Row by row scalar product."""
    return np.asarray(np.einsum("ij,ij->i", a, b))

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
"""

from __future__ import annotations

import numpy as np

from physim.errors import ModelError
from physim.pigs.polyhedron import IntArray, Polyhedron
from physim.values import FloatArray

_MOST_CROSSINGS = 1000  # each one lowers H; a hull has far fewer edges to cross


class Rolling:
    """The ways of one polyhedron. `stable` holds the indices of the facets that hold."""

    def __init__(self, hull: Polyhedron) -> None:
        self._hull = hull
        u, v = hull.points[hull.edges[:, 0]], hull.points[hull.edges[:, 1]]
        along = v - u
        where = -_dot(u, along) / _dot(along, along)
        self._rolls = (where > 0) & (where < 1)
        self._foot = u + where[:, None] * along
        a, b = hull.normals[hull.edges[:, 2]], hull.normals[hull.edges[:, 3]]
        self._turn = _cross(a, b)  # along the edge; orders directions on the arc from a to b
        self._is_saddle = (
            self._rolls
            & (_dot(_cross(a, self._foot), self._turn) > 0)
            & (_dot(_cross(self._foot, b), self._turn) > 0)
        )
        self._neighbours, self._edge_of = self._corner_table()
        self.stable, self._next = self._facet_table()

    def saddles(self) -> list[tuple[int, int, float]]:
        """(rest facet, rest facet, height) of every pass; both may be the same rest."""
        heights = np.sqrt(_dot(self._foot, self._foot))
        return [
            (int(self._next[e[2]]), int(self._next[e[3]]), float(h))
            for e, h in zip(
                self._hull.edges[self._is_saddle], heights[self._is_saddle], strict=True
            )
        ]

    def ends_from(self, directions: FloatArray) -> IntArray:
        """(n,) the stable facet that each initial down direction (n, 3) rolls to."""
        corners = np.unique(self._hull.edges[:, :2])
        lowest = corners[np.argmax(directions @ self._hull.points[corners].T, axis=1)]
        return np.asarray(self._next[self._first_facets(directions, lowest)])

    def _corner_table(self) -> tuple[IntArray, IntArray]:
        """(n, k) neighbours of each corner and the edges to them, padded with -1."""
        edges = self._hull.edges
        ends = np.concatenate([edges[:, 0], edges[:, 1]])
        others = np.concatenate([edges[:, 1], edges[:, 0]])
        ids = np.tile(np.arange(len(edges)), 2)
        degree = np.bincount(ends, minlength=len(self._hull.points))
        order = np.argsort(ends, kind="stable")
        slot = np.arange(len(ends)) - np.repeat(np.cumsum(degree) - degree, degree)
        neighbours = np.full((len(degree), int(degree.max())), -1)
        edge_of = neighbours.copy()
        neighbours[ends[order], slot] = others[order]
        edge_of[ends[order], slot] = ids[order]
        return neighbours, edge_of

    def _facet_table(self) -> tuple[tuple[int, ...], IntArray]:
        """Which facets hold, and for every facet the one that it ends on."""
        hull = self._hull
        e = hull.edges
        # Every edge is a side of two facets; sides are sorted so that a facet's are neighbours.
        facet = np.concatenate([e[:, 2], e[:, 3]])
        order = np.argsort(facet, kind="stable")
        facet = facet[order]
        u = np.concatenate([e[:, 0], e[:, 1]])[order]
        v = np.concatenate([e[:, 1], e[:, 0]])[order]
        beyond = np.concatenate([e[:, 3], e[:, 2]])[order]
        starts = np.flatnonzero(np.diff(facet, prepend=-1))
        foot = (hull.offsets[:, None] * hull.normals)[facet]
        corner, ahead = hull.points[u] - foot, hull.points[v] - hull.points[u]
        outside = _dot(_cross(hull.normals[facet], ahead), corner) >= 0
        holds = ~np.logical_or.reduceat(outside, starts)
        t = np.clip(-_dot(corner, ahead) / _dot(ahead, ahead), 0, 1)
        nearest = corner + t[:, None] * ahead
        distance = _dot(nearest, nearest)
        least = np.minimum.reduceat(distance, starts)[facet]
        is_exit = (distance <= least) & ~holds[facet]
        exits = np.flatnonzero(is_exit)[np.unique(facet[is_exit], return_index=True)[1]]
        over_edge = exits[(t[exits] > 0) & (t[exits] < 1)]
        over_corner = exits[(t[exits] <= 0) | (t[exits] >= 1)]
        following = np.arange(len(hull.loops))
        following[facet[over_edge]] = beyond[over_edge]
        if len(over_corner):
            pivots = np.where(t[over_corner] <= 0, u[over_corner], v[over_corner])
            leaving = facet[over_corner]
            following[leaving] = self._first_facets(hull.normals[leaving], pivots)
        stable = tuple(int(f) for f in np.flatnonzero(holds))
        for _ in range(len(following).bit_length()):
            following = following[following]
        if not stable or not np.isin(following, stable).all():
            raise ModelError("the hull has a facet that balances on its edge; move a vertex")
        return stable, following

    def _first_facets(self, directions: FloatArray, corners: IntArray) -> IntArray:
        """(n,) the facet at the lower end of the first edge that each direction slides along."""
        d, v = directions.copy(), corners.copy()
        found = np.full(len(d), -1)
        active = np.arange(len(d))
        for _ in range(_MOST_CROSSINGS):
            d_here, v_here = d[active], v[active]
            d_new, edge, other = self._leave(d_here, v_here)
            slides = self._rolls[edge]
            e = edge[slides]
            past = _dot(_cross(self._foot[e], d_new[slides]), self._turn[e]) > 0
            found[active[slides]] = np.where(past, self._hull.edges[e, 3], self._hull.edges[e, 2])
            d[active], v[active] = d_new, other
            active = active[~slides]
            if not len(active):
                return found
        raise ModelError("the hull has nearly coincident corners; merge them")

    def _leave(self, d: FloatArray, v: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
        """Turns d away from corner v up to the first arc: new d, the edge, its other corner."""
        point = self._hull.points[v]
        away = -(point - _dot(point, d)[:, None] * d)
        away /= np.maximum(np.sqrt(_dot(away, away)), 1e-300)[:, None]
        neighbours = self._neighbours[v]
        difference = point[:, None, :] - self._hull.points[neighbours]
        lead = np.maximum(np.einsum("nki,ni->nk", difference, d), 0.0)
        change = np.einsum("nki,ni->nk", difference, away)
        angle = np.where(neighbours >= 0, np.arctan2(lead, -change), np.inf)
        k = np.argmin(angle, axis=1)
        rows = np.arange(len(d))
        t = angle[rows, k][:, None]
        turned = np.cos(t) * d + np.sin(t) * away
        return turned, self._edge_of[v][rows, k], neighbours[rows, k]


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    """Row by row scalar product."""
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Row by row vector product."""
    ax, ay, az = a[:, 0], a[:, 1], a[:, 2]
    bx, by, bz = b[:, 0], b[:, 1], b[:, 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)

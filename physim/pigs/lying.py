"""What is one way to lie: facets within the contact tolerance of one plane, and no blunt edge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from physim.geometry import convex_polygon, inside_margin
from physim.pigs.polyhedron import IntArray, Polyhedron
from physim.pigs.rolling import TIE, matrix
from physim.values import ExactValue, FloatArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_NEAR_RAD = 0.1  # facets farther from each other are never one rest: see `rests.MATCH_DEG`
# The rest are shares of the contact tolerance.
ON_PLANE = 1e-3  # a corner this near to the table carries the body
_MARGIN = 1 / 15  # a body whose foot is this near to the edge of what it touches falls over it
_NARROW, _SHALLOW = 4.0, 0.01  # what touches so narrowly, and is left so easily, is an edge


@dataclass(frozen=True, eq=False)
class Lying(ExactValue):
    """One way to lie, on one facet or on several that are nearly one.

    Attributes:
        down: (3,) unit vector, the mean of the facets' normals.
        height: of the centre of mass.
        corners: of the facets, indices.
    """

    down: FloatArray
    height: float
    corners: IntArray

    @classmethod
    def on(cls, hull: Polyhedron, facets: IntArray) -> Lying:
        """On these facets."""
        corners = np.unique(np.concatenate([hull.corners[facet] for facet in facets]))
        return cls._down(hull, hull.normals[facets].sum(axis=0), corners)

    @classmethod
    def of(cls, hull: Polyhedron, ways: Sequence[Lying], shares: FloatArray) -> Lying:
        """What several ways are together, each as much as it is frequent."""
        if len(ways) == 1:
            return ways[0]
        down = sum(((share + TIE) * way.down for way, share in zip(ways, shares, strict=True)))
        return cls._down(hull, down, np.unique(np.concatenate([way.corners for way in ways])))

    @classmethod
    def _down(cls, hull: Polyhedron, down: FloatArray, corners: IntArray) -> Lying:
        down = down / max(math.sqrt(float(down @ down)), 1e-300)
        return cls(down, float((hull.points[hull.extreme] @ down).max()), corners)

    def spread(self, hull: Polyhedron) -> float:
        """How far the corners are above the table, the highest of them."""
        return self.height - float((hull.points[self.corners] @ self.down).min())

    def touched(self, hull: Polyhedron, tolerance: float) -> tuple[FloatArray, IntArray]:
        """The corners around what is so near to the table.

        Returns:
            (k, 2) where they are, in the table's plane from below the centre of mass, and (k,)
                indices.
        """
        low = hull.points[hull.extreme] @ self.down >= self.height - tolerance
        near = hull.extreme[low]
        first = np.cross(self.down, np.eye(3)[int(np.argmin(np.abs(self.down)))])
        first /= math.sqrt(float(first @ first))
        plane = hull.points[near] @ np.stack([first, np.cross(self.down, first)], axis=1)
        number = dict(zip(map(tuple, plane.tolist()), near.tolist(), strict=True))
        around = convex_polygon(plane)
        return around, np.array([number[tuple(corner)] for corner in around.tolist()])

    def supports(self, hull: Polyhedron, tolerance: float) -> IntArray:
        """The corners that carry it, counter-clockwise seen from below, the least index first."""
        _, around = self.touched(hull, max(tolerance, self.spread(hull)))
        return np.roll(around, -int(around.argmin()))


def lowest_passes(
    sides: IntArray, heights: FloatArray, leads: csr_array
) -> dict[tuple[int, int], float]:
    """The lowest pass between every two sets.

    Args:
        sides: (k, 2) what is on both sides of a pass, rows of `leads`.
        heights: (k,) of the passes.
        leads: (n, sets) share of each that comes to a set.
    """
    lowest: dict[tuple[int, int], float] = {}
    reached = np.split(leads.indices, leads.indptr[1:-1])
    for (one, other), height in zip(sides.tolist(), heights.tolist(), strict=True):
        for a, b in product(reached[one].tolist(), reached[other].tolist()):
            if a != b:
                pair = (min(a, b), max(a, b))
                lowest[pair] = min(height, lowest.get(pair, math.inf))
    return lowest


def pairs_of(lowest: dict[tuple[int, int], float]) -> tuple[IntArray, FloatArray]:
    """As arrays."""
    return np.array(list(lowest), dtype=np.int64).reshape(-1, 2), np.array(list(lowest.values()))


def flat_groups(
    hull: Polyhedron, ways: Sequence[Lying], shares: FloatArray, tolerance: float
) -> list[IntArray]:
    """The largest groups of ways to lie that are within the tolerance of one plane.

    Ways are linked if the angle between them is small. A set of linked ways that is not flat, as
    around a cylinder, is parted by a smaller angle.
    """
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    downs = np.array([way.down for way in ways])
    pairs = cKDTree(downs).query_pairs(_NEAR_RAD, output_type="ndarray")
    apart = np.sqrt(((downs[pairs[:, 0]] - downs[pairs[:, 1]]) ** 2).sum(axis=1))
    groups = []
    waiting = [(np.arange(len(ways)), _NEAR_RAD)]
    while waiting:
        members, limit = waiting.pop()
        if _is_flat(hull, [ways[k] for k in members.tolist()], shares[members], tolerance):
            groups.append(members)
            continue
        linked = pairs[np.isin(pairs, members).all(axis=1) & (apart <= limit)]
        links = matrix(linked[:, 0], linked[:, 1], np.ones(len(linked)), (len(ways),) * 2)
        part = connected_components(links, directed=False)[1][members]
        waiting += [(members[part == k], 0.5 * limit) for k in np.unique(part)]
    return groups


def _is_flat(hull: Polyhedron, ways: Sequence[Lying], shares: FloatArray, tolerance: float) -> bool:
    """Whether all lie within the tolerance of one plane."""
    if len(ways) == 1:
        return True
    together = Lying.of(hull, ways, shares)
    near = min(float(way.down @ together.down) for way in ways) > math.cos(_NEAR_RAD)
    return near and together.spread(hull) <= tolerance


def followed(
    hull: Polyhedron,
    ways: Sequence[Lying],
    lowest: dict[tuple[int, int], float],
    tolerance: float,
) -> csr_array:
    """(n, n) where each way to lie leads as shares: to itself, or over its lowest passes."""
    beyond: list[dict[int, float]] = [{} for _ in ways]
    for (a, b), height in lowest.items():
        beyond[a][b] = beyond[b][a] = height
    rows, columns, parts = [], [], []
    for k, (way, over) in enumerate(zip(ways, beyond, strict=True)):
        pass_height = min(over.values(), default=math.inf)
        after = [k]
        if over and _is_edge(hull, way, pass_height - way.height, tolerance):
            after = [other for other, h in over.items() if h <= pass_height + TIE * hull.size]
        rows += [k] * len(after)
        columns += after
        parts += [1.0 / len(after)] * len(after)
    return matrix(np.array(rows), np.array(columns), np.array(parts), (len(ways),) * 2)


def _is_edge(hull: Polyhedron, way: Lying, depth: float, tolerance: float) -> bool:
    """Whether noise decides if a body lies so: it balances on an edge, sharp or blunt."""
    around, _ = way.touched(hull, tolerance)
    if inside_margin(np.zeros(2), around) < _MARGIN * tolerance:
        return True
    if depth >= _SHALLOW * tolerance:
        return False
    ahead = np.roll(around, -1, axis=0) - around
    inward = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
    inward /= np.sqrt((inward**2).sum(axis=1))[:, None]
    across = (around @ inward.T - (around * inward).sum(axis=1)).max(axis=0)
    return float(across.min()) < _NARROW * tolerance

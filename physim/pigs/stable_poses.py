"""Where a rigid body comes to rest on a level table when it rolls without speed.

With d the down direction seen from the body and v the hull's corners seen from
the centre of mass, the centre of mass stands H(d) = max v.d above the table. A
body without speed turns so that H falls as steeply as it can (see `rolling`). A
facet of the hull holds if the foot of the perpendicular from the centre of mass
lies inside it.

A face with noise has several small facets that hold. They are one rest if they lie
within the contact tolerance of one plane: nothing that is seen tells them apart.
On a round flank, too, each facet is within the tolerance of the next, but no plane
is near all of them: there each facet that holds is a rest, with its own direction.

References:
    Goldberg et al., "Part pose statistics", IJRR 1999.
    Baktash et al., "Putting rigid bodies to rest", ACM TOG 2025.

What is one way to lie: facets within the contact tolerance of one plane, and no blunt edge.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from physim import precomputed
from physim.convex import convex_polygon, inside_margin
from physim.errors import ModelError
from physim.pigs.rolling import TIE, IntArray, Polyhedron, Rolling, ends_of, matrix, polyhedron
from physim.types import ExactValue, FloatArray, PigModel

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DIRECTIONS = 40_000  # this many give probabilities to better than 0.001
TOLERANCE = 0.003  # of the size, where no contact tolerance is given: 0.15 mm of 50 mm


@dataclass(frozen=True, eq=False)
class StableRest(ExactValue):
    """One way to lie on a table.

    Attributes:
        index: 0 is the most probable.
        down: (3,) unit vector that points down, pig frame.
        height_m: of the centre of mass above the table [m].
        barrier_m: height of the centre of mass at the lowest pass to another rest [m]; infinite
            if there is no other rest.
        probability: of ending here from a uniformly random orientation without speed.
        supports: label of each support point.
        support_points_m: (k, 3) corners that touch the table, around the facet, pig frame [m].
    """

    index: int
    down: FloatArray
    height_m: float
    barrier_m: float
    probability: float
    supports: tuple[str, ...]
    support_points_m: FloatArray

    @property
    def margin_m(self) -> float:
        """Distance from the centre of mass's foot to the nearest edge of the support polygon."""
        return edge_distance(self.support_points_m, self.down)


@dataclass(frozen=True)
class Pass:
    """The lowest way from one rest over to another: `height_m` of the centre of mass on top."""

    rests: tuple[int, int]
    height_m: float


def edge_distance(corners: FloatArray, normal: FloatArray) -> float:
    """Distance from the origin's foot to the nearest edge of a facet, negative outside it."""
    ahead = np.roll(corners, -1, axis=0) - corners
    inward = np.cross(normal, ahead)
    inward /= np.sqrt(np.einsum("ij,ij->i", inward, inward))[:, None]
    return float(-np.einsum("ij,ij->i", inward, corners).max())


def stable_rests(
    vertices_m: FloatArray,
    labels: Sequence[str],
    center_of_mass_m: FloatArray,
    directions: int = DIRECTIONS,
    tolerance_m: float | None = None,
) -> tuple[StableRest, ...]:
    """All rests of the hull of `vertices_m`, most probable first; deterministic.

    Args:
        vertices_m: (n, 3) points, any frame [m].
        labels: body part of each point.
        center_of_mass_m: (3,) same frame [m]; must lie inside the hull.
        directions: about how many initial orientations are followed.
        tolerance_m: what is nearer to the table than this touches it [m]; None for `TOLERANCE`
            of the size.

    Raises:
        ModelError: flat or not finite points, a centre of mass outside the hull, or a hull that
            rolls over its edges without end.
    """
    return rests_and_passes(vertices_m, labels, center_of_mass_m, directions, tolerance_m)[0]


def rests_and_passes(
    vertices_m: FloatArray,
    labels: Sequence[str],
    center_of_mass_m: FloatArray,
    directions: int = DIRECTIONS,
    tolerance_m: float | None = None,
) -> tuple[tuple[StableRest, ...], tuple[Pass, ...]]:
    """As `stable_rests`, with the passes between the rests, lowest first."""
    hull = polyhedron(vertices_m, center_of_mass_m)
    tolerance = TOLERANCE * hull.size if tolerance_m is None else tolerance_m
    rolling = Rolling(hull)
    shares = rolling.shares(even_directions(directions))
    ways = [Lying.on(hull, facets) for facets in rolling.ends]
    leads = rolling.leads
    lowest = lowest_passes(*rolling.saddles(), leads)

    groups = flat_groups(hull, ways, shares, tolerance)
    sizes = [len(group) for group in groups]
    rows = np.concatenate(groups)
    columns = np.repeat(np.arange(len(groups)), sizes)
    into = matrix(rows, columns, np.ones(len(rows)), (len(ways), len(groups)))
    ways = [Lying.of(hull, [ways[k] for k in group], shares[group]) for group in groups]
    shares, lowest = shares @ into, lowest_passes(*pairs_of(lowest), into)

    groups, into = ends_of(followed(hull, ways, lowest, tolerance))
    ways = [Lying.of(hull, [ways[k] for k in group], shares[group]) for group in groups]
    shares, lowest = shares @ into, lowest_passes(*pairs_of(lowest), into)

    def first(k: int) -> tuple[float, ...]:
        """What rounding makes unequal is equal here."""
        down = np.round(ways[k].down, 9) + 0.0
        return (-round(shares[k], 9), round(ways[k].height / hull.size, 9), *down.tolist())

    order = sorted(range(len(ways)), key=first)
    index = {way: i for i, way in enumerate(order)}
    passes = tuple(
        Pass((min(index[a], index[b]), max(index[a], index[b])), height)
        for (a, b), height in sorted(lowest.items(), key=lambda item: item[1])
    )
    barriers = [math.inf] * len(ways)
    for a_pass in reversed(passes):
        for i in a_pass.rests:
            barriers[i] = a_pass.height_m
    rests = []
    for i, way in enumerate(ways[k] for k in order):
        supports = way.supports(hull, ON_PLANE * tolerance)
        rests.append(
            StableRest(
                index=i,
                down=way.down,
                height_m=way.height,
                barrier_m=barriers[i],
                probability=float(shares[order[i]]),
                supports=tuple(labels[k] for k in supports),
                support_points_m=hull.points[supports],
            )
        )
    return tuple(rests), passes


def model_rests(model: PigModel, tolerance_m: float | None = None) -> tuple[StableRest, ...]:
    """The rests of a pig, in its own frame; `tolerance_m` as in `stable_rests`."""
    labels = [part.label for part in model.parts for _ in part.vertices_m]
    vertices = model.vertices_m

    def compute() -> list[dict[str, Any]]:
        try:
            rests = stable_rests(vertices, labels, np.zeros(3), tolerance_m=tolerance_m)
        except ModelError as error:
            raise ModelError(f"{model.name}: {error}") from error
        return [
            asdict(rest)
            | {"down": rest.down.tolist(), "support_points_m": rest.support_points_m.tolist()}
            for rest in rests
        ]

    inputs = json.dumps([labels, tolerance_m]).encode() + np.ascontiguousarray(vertices).tobytes()
    return tuple(
        StableRest(
            **rest
            | {
                "down": np.array(rest["down"]),
                "supports": tuple(rest["supports"]),
                "support_points_m": np.array(rest["support_points_m"]),
            }
        )
        for rest in precomputed.result(f"rests from {DIRECTIONS}", inputs, compute)
    )


def even_directions(count: int) -> FloatArray:
    """(n, 3) unit vectors spread evenly over the sphere, about `count`.

    They are the same seen along either way of any axis, and after any exchange of axes, so that
    a shape with such a symmetry has exactly symmetric probabilities.

    References:
        Swinbank and Purser, "Fibonacci grids", QJRMS 2006.
    """
    i = np.arange(max(count, 100)) + 0.5
    z = 1 - 2 * i / len(i)
    longitude = 2 * math.pi * i / ((1 + math.sqrt(5)) / 2)
    radius = np.sqrt(1 - z * z)
    spiral = np.stack([radius * np.cos(longitude), radius * np.sin(longitude), z], axis=1)
    part = spiral[(spiral[:, 0] > spiral[:, 1]) & (spiral[:, 1] > spiral[:, 2]) & (z > 0)]
    return np.concatenate(
        [
            part[:, order] * signs
            for order in permutations(range(3))
            for signs in product((1.0, -1.0), repeat=3)
        ]
    )


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

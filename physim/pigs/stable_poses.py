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
A blunt edge is no rest: noise decides how long a body balances there.

References:
    Goldberg et al., "Part pose statistics", IJRR 1999.
    Baktash et al., "Putting rigid bodies to rest", ACM TOG 2025.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from physim import precomputed
from physim.errors import ModelError
from physim.geometry import convex_polygon, inside_margin, plane_axes
from physim.pigs.rolling import TIE, IntArray, Polyhedron, Rolling, ends_of, matrix, polyhedron
from physim.types import ExactValue, FloatArray, PigModel

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Passes = Mapping[tuple[int, int], float]  # by what lies on both sides, the lowest way over
DIRECTIONS = 40_000  # this many give probabilities to better than 0.001
TOLERANCE = 0.003  # of the size, where no contact tolerance is given: 0.15 mm of 50 mm
_NEAR_RAD = 0.1  # facets farther from each other are never one rest: see `simulator.MATCH_DEG`
# The rest are shares of the contact tolerance.
_ON_PLANE = 1e-3  # a corner this near to the table carries the body
_MARGIN = 1 / 15  # a body whose foot is this near to the edge of what it touches falls over it
_NARROW, _SHALLOW = 4.0, 0.01  # what touches so narrowly, and is left so easily, is an edge


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
    hull = polyhedron(vertices_m, center_of_mass_m)
    tolerance = TOLERANCE * hull.size if tolerance_m is None else tolerance_m
    rolling = Rolling(hull)
    shares = rolling.shares(even_directions(directions))
    ways = [Lying.on(hull, facets) for facets in rolling.ends]
    passes = passes_between(rolling.saddles(), rolling.leads)

    for merge in (flat_groups, without_edges):
        groups, into = merge(hull, ways, shares, passes, tolerance)
        ways = [Lying.of(hull, [ways[k] for k in group], shares[group]) for group in groups]
        shares, passes = shares @ into, passes_between(passes, into)

    def first(k: int) -> tuple[float, ...]:
        """What rounding makes unequal is equal here."""
        down = np.round(ways[k].down, 9) + 0.0
        return (-round(shares[k], 9), round(ways[k].height / hull.size, 9), *down.tolist())

    rests, beyond = [], _beyond(passes, len(ways))
    for index, k in enumerate(sorted(range(len(ways)), key=first)):
        supports = ways[k].supports(hull, _ON_PLANE * tolerance)
        rests.append(
            StableRest(
                index=index,
                down=ways[k].down,
                height_m=ways[k].height,
                barrier_m=min(beyond[k].values(), default=math.inf),
                probability=float(shares[k]),
                supports=tuple(labels[corner] for corner in supports),
                support_points_m=hull.points[supports],
            )
        )
    return tuple(rests)


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
    found = []
    for rest in precomputed.result(f"rests from {DIRECTIONS}", inputs, compute):
        arrays = {name: np.array(rest[name]) for name in ("down", "support_points_m")}
        found.append(StableRest(**rest | arrays | {"supports": tuple(rest["supports"])}))
    return tuple(found)


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
    signs = list(product((1.0, -1.0), repeat=3))
    return np.concatenate([part[:, axes] * s for axes in permutations(range(3)) for s in signs])


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
        corners = [hull.corners[facet] for facet in facets]
        return cls._down(hull, hull.normals[facets].sum(axis=0), corners)

    @classmethod
    def of(cls, hull: Polyhedron, ways: Sequence[Lying], shares: FloatArray) -> Lying:
        """What several ways are together, each as much as it is frequent."""
        if len(ways) == 1:
            return ways[0]
        down = sum(((share + TIE) * way.down for way, share in zip(ways, shares, strict=True)))
        return cls._down(hull, down, [way.corners for way in ways])

    @classmethod
    def _down(cls, hull: Polyhedron, down: FloatArray, corners: Sequence[IntArray]) -> Lying:
        down = down / max(math.sqrt(float(down @ down)), 1e-300)
        height = float((hull.points[hull.extreme] @ down).max())
        return cls(down, height, np.unique(np.concatenate(corners)))

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
        plane = hull.points[near] @ np.stack(plane_axes(self.down), axis=1)
        number = dict(zip(map(tuple, plane.tolist()), near.tolist(), strict=True))
        around = convex_polygon(plane)
        return around, np.array([number[tuple(corner)] for corner in around.tolist()])

    def supports(self, hull: Polyhedron, tolerance: float) -> IntArray:
        """The corners that carry it, counter-clockwise seen from below, the least index first."""
        _, around = self.touched(hull, max(tolerance, self.spread(hull)))
        return np.roll(around, -int(around.argmin()))

    def is_edge(self, hull: Polyhedron, depth: float, tolerance: float) -> bool:
        """Whether noise decides if a body lies so: it balances on an edge, sharp or blunt."""
        around, _ = self.touched(hull, tolerance)
        if inside_margin(np.zeros(2), around) < _MARGIN * tolerance:
            return True
        if depth >= _SHALLOW * tolerance:
            return False
        ahead = np.roll(around, -1, axis=0) - around
        inward = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
        inward /= np.sqrt((inward**2).sum(axis=1))[:, None]
        across = (around @ inward.T - (around * inward).sum(axis=1)).max(axis=0)
        return float(across.min()) < _NARROW * tolerance


def passes_between(passes: Passes, leads: csr_array) -> dict[tuple[int, int], float]:
    """The lowest pass between every two sets; `leads` (n, sets) says what comes to which."""
    lowest: dict[tuple[int, int], float] = {}
    reached = [part.tolist() for part in np.split(leads.indices, leads.indptr[1:-1])]
    for (one, other), height in passes.items():
        for a, b in product(reached[one], reached[other]):
            if a != b:
                pair = (min(a, b), max(a, b))
                lowest[pair] = min(height, lowest.get(pair, math.inf))
    return lowest


def _beyond(passes: Passes, count: int) -> list[dict[int, float]]:
    """By each way to lie, those that lie beyond a pass and the pass's height."""
    beyond: list[dict[int, float]] = [{} for _ in range(count)]
    for (a, b), height in passes.items():
        beyond[a][b] = beyond[b][a] = height
    return beyond


def flat_groups(
    hull: Polyhedron, ways: Sequence[Lying], shares: FloatArray, passes: Passes, tolerance: float
) -> tuple[list[IntArray], csr_array]:
    """The largest groups of ways to lie that are within the tolerance of one plane.

    Ways are linked if the angle between them is small. A set of linked ways that is not flat, as
    around a cylinder, is parted by a smaller angle.

    Returns:
        The members of each group, and (n, groups) 1 where one is a member.
    """
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    downs = np.array([way.down for way in ways])
    pairs = cKDTree(downs).query_pairs(_NEAR_RAD, output_type="ndarray")
    apart = np.sqrt(((downs[pairs[:, 0]] - downs[pairs[:, 1]]) ** 2).sum(axis=1))
    groups: list[IntArray] = []
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
    columns = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    shape = len(ways), len(groups)
    return groups, matrix(np.concatenate(groups), columns, np.ones(len(ways)), shape)


def _is_flat(hull: Polyhedron, ways: Sequence[Lying], shares: FloatArray, tolerance: float) -> bool:
    """Whether all lie within the tolerance of one plane."""
    if len(ways) == 1:
        return True
    together = Lying.of(hull, ways, shares)
    near = min(float(way.down @ together.down) for way in ways) > math.cos(_NEAR_RAD)
    return near and together.spread(hull) <= tolerance


def without_edges(
    hull: Polyhedron, ways: Sequence[Lying], shares: FloatArray, passes: Passes, tolerance: float
) -> tuple[list[IntArray], csr_array]:
    """The ways to lie that are no edges, as `ends_of`; an edge leads over its lowest passes."""
    rows, columns, parts = [], [], []
    for k, (way, over) in enumerate(zip(ways, _beyond(passes, len(ways)), strict=True)):
        after = [k]
        pass_height = min(over.values(), default=math.inf)
        if over and way.is_edge(hull, pass_height - way.height, tolerance):
            after = [other for other, h in over.items() if h <= pass_height + TIE * hull.size]
        rows += [k] * len(after)
        columns += after
        parts += [1.0 / len(after)] * len(after)
    return ends_of(matrix(np.array(rows), np.array(columns), np.array(parts), (len(ways),) * 2))

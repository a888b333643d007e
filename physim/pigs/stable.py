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
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import permutations, product
from typing import Any

import numpy as np

from physim import kept
from physim.errors import ModelError
from physim.pigs.lying import ON_PLANE, Lying, flat_groups, followed, lowest_passes, pairs_of
from physim.pigs.polyhedron import polyhedron
from physim.pigs.rolling import Rolling, ends_of, matrix
from physim.values import ExactValue, FloatArray, PigModel

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
        for rest in kept.result(f"rests from {DIRECTIONS}", inputs, compute)
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

"""Where a rigid body comes to rest on a level table when it rolls without speed.

With d the down direction seen from the body and v the hull's corners seen from
the centre of mass, the centre of mass stands H(d) = max v.d above the table. A
body without speed turns so that H falls as steeply as it can (see `rolling`). A
facet of the hull is a rest if the foot of the perpendicular from the centre of
mass lies inside it.

References:
    Goldberg et al., "Part pose statistics", IJRR 1999.
    Baktash et al., "Putting rigid bodies to rest", ACM TOG 2025.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from physim import kept
from physim.pigs.polyhedron import polyhedron
from physim.pigs.rolling import Rolling
from physim.values import FloatArray, PigModel

DIRECTIONS = 40_000  # this many give probabilities to better than 0.001


@dataclass(frozen=True)
class StableRest:
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
) -> tuple[StableRest, ...]:
    """All rests of the hull of `vertices_m`, most probable first; deterministic.

    Args:
        vertices_m: (n, 3) points, any frame [m].
        labels: body part of each point.
        center_of_mass_m: (3,) same frame [m]; must lie inside the hull.
        directions: how many initial orientations are followed.

    Raises:
        ModelError: flat or not finite points, or a centre of mass outside the hull.
    """
    return rests_and_passes(vertices_m, labels, center_of_mass_m, directions)[0]


def rests_and_passes(
    vertices_m: FloatArray,
    labels: Sequence[str],
    center_of_mass_m: FloatArray,
    directions: int = DIRECTIONS,
) -> tuple[tuple[StableRest, ...], tuple[Pass, ...]]:
    """As `stable_rests`, with the passes between the rests, lowest first."""
    hull = polyhedron(vertices_m, center_of_mass_m)
    rolling = Rolling(hull)
    ends = rolling.ends_from(spiral(directions))
    facets, counts = np.unique(ends, return_counts=True)
    share = dict(zip(facets.tolist(), (counts / len(ends)).tolist(), strict=True))
    stable = sorted(
        rolling.stable, key=lambda f: (-share.get(f, 0.0), hull.offsets[f], tuple(hull.normals[f]))
    )
    index = {facet: i for i, facet in enumerate(stable)}
    lowest: dict[tuple[int, int], float] = {}
    for a, b, height in rolling.saddles():
        i, j = sorted((index[a], index[b]))
        if i != j:
            lowest[i, j] = min(height, lowest.get((i, j), math.inf))
    passes = tuple(Pass(pair, h) for pair, h in sorted(lowest.items(), key=lambda item: item[1]))
    rests = tuple(
        StableRest(
            index=i,
            down=hull.normals[f],
            height_m=float(hull.offsets[f]),
            barrier_m=min((p.height_m for p in passes if i in p.rests), default=math.inf),
            probability=share.get(f, 0.0),
            supports=tuple(labels[k] for k in hull.loops[f]),
            support_points_m=hull.points[hull.loops[f]],
        )
        for i, f in enumerate(stable)
    )
    return rests, passes


def model_rests(model: PigModel) -> tuple[StableRest, ...]:
    """The rests of a pig, in its own frame."""
    labels = [part.label for part in model.parts for _ in part.vertices_m]
    vertices = model.vertices_m

    def compute() -> list[dict[str, Any]]:
        rests = stable_rests(vertices, labels, np.zeros(3))
        return [
            asdict(rest)
            | {"down": rest.down.tolist(), "support_points_m": rest.support_points_m.tolist()}
            for rest in rests
        ]

    inputs = json.dumps(labels).encode() + np.ascontiguousarray(vertices).tobytes()
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


def spiral(count: int) -> FloatArray:
    """(count, 3) unit vectors spread evenly over the sphere.

    References:
        Swinbank and Purser, "Fibonacci grids", QJRMS 2006.
    """
    i = np.arange(count) + 0.5
    z = 1 - 2 * i / count
    longitude = 2 * math.pi * i / ((1 + math.sqrt(5)) / 2)
    radius = np.sqrt(1 - z * z)
    return np.stack([radius * np.cos(longitude), radius * np.sin(longitude), z], axis=1)

"""Which body parts touch what, from the geometry of the final state alone.

Gaps are those of the collision parts themselves, without the engine's margin, and
do not ask whether force passes: the engine reports contacts that carry none, and
keeps some that have opened.

Distance between two convex polyhedra given by their corners.

The distance is the least norm over the Minkowski difference, found with Wolfe's
method: it keeps a simplex of difference points, moves to the point of least norm
in its affine hull, and drops corners that this leaves with a negative weight. It
ends after finitely many steps with an exact answer up to rounding.

References:
    P. Wolfe, "Finding the nearest point in a polytope", Mathematical Programming
    11, 1976.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from physim.quaternions import heights, rotate
from physim.types import TABLE, Contact, FloatArray, PigModel, RigidState

TABLE_GAP_M = 0.15e-3  # a part nearer to the table than this is in contact with it
TOUCH_GAP_M = 0.10e-3  # pigs nearer to each other than this touch
# The distances above suit toys up to this length; those of longer ones grow with it.
TOY_LENGTH_M = 0.05


def size_factor(model: PigModel) -> float:
    """What distances that tell one pose from another are multiplied by for this pig."""
    return max(1.0, model.length_m / TOY_LENGTH_M)


def table_gap_m(model: PigModel) -> float:
    """A part nearer to the table than this is in contact with it [m]."""
    return TABLE_GAP_M * size_factor(model)


def world_parts(model: PigModel, state: RigidState) -> list[FloatArray]:
    """Per part, (n, 3) corners in the world frame [m]."""
    corners = rotate(state.quat_xyzw, model.vertices_m) + state.position_m
    return np.split(corners, model.part_starts[1:])


def heights_m(model: PigModel, state: RigidState) -> FloatArray:
    """(n,) heights above the table of the corners of all parts [m]."""
    return heights(state.quat_xyzw, model.columns_m) + float(state.position_m[2])


def table_gaps(model: PigModel, state: RigidState) -> dict[str, float]:
    """Label to the height of that body part's lowest point above the table [m].

    Where several parts carry one label, the lowest counts.
    """
    gaps: dict[str, float] = {}
    for part, low in zip(model.parts, _lows_m(model, heights_m(model, state)), strict=True):
        gaps[part.label] = min(low, gaps.get(part.label, low))
    return gaps


def table_contacts(model: PigModel, state: RigidState) -> tuple[Contact, ...]:
    """The parts within `table_gap_m` of the table, each at the middle of its touching corners."""
    above_m = heights_m(model, state)
    touching = np.flatnonzero(above_m < table_gap_m(model))
    corners = rotate(state.quat_xyzw, model.vertices_m[touching]) + state.position_m
    contacts = []
    # The touching corners of a part stand in one piece.
    begins = [*touching.searchsorted(model.part_starts).tolist(), len(touching)]
    for part, low, (begin, end) in zip(
        model.parts, _lows_m(model, above_m), pairwise(begins), strict=True
    ):
        if begin < end:
            place = corners[begin:end].sum(axis=0) / (end - begin)
            contacts.append(Contact(part.label, TABLE, "", low, place))
    return tuple(contacts)


def pig_contacts(
    models: tuple[PigModel, PigModel],
    states: tuple[RigidState, RigidState],
    names: tuple[str, str],
) -> tuple[tuple[Contact, ...], tuple[Contact, ...]]:
    """The parts of the two pigs within `TOUCH_GAP_M` of each other (of long pigs: more).

    Returns:
        The contacts as the first pig sees them, and as the second does. A gap of
        0 stands for any overlap.
    """
    near_m = TOUCH_GAP_M * max(size_factor(model) for model in models)
    if _spheres_apart(models, states, near_m):
        return (), ()
    first, second = (world_parts(m, s) for m, s in zip(models, states, strict=True))
    low, high = _boxes(models[0], first)
    other_low, other_high = _boxes(models[1], second)
    near = (low[:, None] - near_m <= other_high) & (high[:, None] + near_m >= other_low)
    of_first, of_second = [], []
    for one, two in np.argwhere(near.all(axis=2)):
        gap, place = separation(first[one], second[two], near_m)
        if gap < near_m:
            part, other = models[0].parts[one].label, models[1].parts[two].label
            of_first.append(Contact(part, names[1], other, gap, place))
            of_second.append(Contact(other, names[0], part, gap, place))
    return tuple(of_first), tuple(of_second)


def _lows_m(model: PigModel, above_m: FloatArray) -> list[float]:
    """Per part, the height of its lowest corner, from those of all corners [m]."""
    lows: list[float] = np.minimum.reduceat(above_m, model.part_starts).tolist()
    return lows


def _boxes(model: PigModel, parts: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """(n, 3) least and greatest coordinates of each part."""
    corners, starts = np.concatenate(parts), model.part_starts
    return np.minimum.reduceat(corners, starts), np.maximum.reduceat(corners, starts)


def _spheres_apart(
    models: tuple[PigModel, PigModel], states: tuple[RigidState, RigidState], near_m: float
) -> bool:
    """Whether the two bounding spheres are too far apart for any contact."""
    reach = sum(model.radius_m for model in models)
    return math.dist(states[0].position_m, states[1].position_m) > reach + near_m


MAX_STEPS = 200  # bodies of 30 corners need about 10
_RELATIVE_ERROR = 1e-12


def separation(
    a: FloatArray, b: FloatArray, enough_m: float = math.inf
) -> tuple[float, FloatArray]:
    """The gap between two convex hulls and where it is.

    Args:
        a: (n, 3) corners [m].
        b: (m, 3) corners [m].
        enough_m: the search ends where the gap is surely larger; what it has come to is too.

    Returns:
        The distance [m], 0 where the hulls overlap, and the (3,) point half-way
        between the two nearest points.
    """
    pairs = [(0, 0)]
    corners = [a[0] - b[0]]
    weights = np.array([1.0])
    scale = float(np.abs(a).max() + np.abs(b).max()) ** 2
    for _ in range(MAX_STEPS):
        nearest = weights @ np.array(corners)
        pair = int(np.argmin(a @ nearest)), int(np.argmax(b @ nearest))
        corner = a[pair[0]] - b[pair[1]]
        square, along = float(nearest @ nearest), float(nearest @ corner)
        if square - along <= _RELATIVE_ERROR * scale or pair in pairs:
            break
        if along > enough_m * math.sqrt(square):  # no point of the difference is nearer than this
            break
        pairs.append(pair)
        corners.append(corner)
        weights = np.append(weights, 0.0)
        pairs, corners, weights = _least_norm(pairs, corners, weights)
    nearest = weights @ np.array(corners)
    on_a = weights @ a[[i for i, _ in pairs]]
    return float(np.sqrt(nearest @ nearest)), np.asarray(on_a - 0.5 * nearest)


def _least_norm(
    pairs: list[tuple[int, int]], corners: list[FloatArray], weights: FloatArray
) -> tuple[list[tuple[int, int]], list[FloatArray], FloatArray]:
    """The corners that carry the point of least norm of their hull, and its weights."""
    while True:
        affine = _affine_weights(np.array(corners))
        if (affine > 0).all():
            return pairs, corners, affine
        falling = affine <= 0
        steps = weights[falling] / np.maximum(weights[falling] - affine[falling], 1e-300)
        step = float(steps.min(initial=1.0))
        weights = (1 - step) * weights + step * affine
        keep = weights > 1e-14
        if keep.all():  # rounding: let go of the least
            keep[int(np.argmin(weights))] = False
        pairs = [pair for pair, kept in zip(pairs, keep, strict=True) if kept]
        corners = [corner for corner, kept in zip(corners, keep, strict=True) if kept]
        weights = weights[keep] / weights[keep].sum()


def _affine_weights(corners: FloatArray) -> FloatArray:
    """Weights, summing to 1, of the least-norm point of the corners' affine hull."""
    first, others = corners[0], corners[1:] - corners[0]
    if len(others) == 0:
        return np.array([1.0])
    solved = np.linalg.lstsq(others.T, -first, rcond=None)[0]
    return np.concatenate([[1.0 - solved.sum()], solved])

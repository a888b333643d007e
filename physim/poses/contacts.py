"""Which body parts touch what, from the geometry of the final state alone.

Gaps are those of the collision parts themselves, without the engine's margin, and
do not ask whether force passes: the engine reports contacts that carry none, and
keeps some that have opened.
"""

from __future__ import annotations

import math

import numpy as np

from physim.poses.separation import separation
from physim.rotations import matrix, rotate
from physim.values import TABLE, Contact, FloatArray, PigModel, RigidState

TABLE_GAP_M = 0.15e-3  # a part nearer to the table than this is in contact with it
TOUCH_GAP_M = 0.10e-3  # pigs nearer to each other than this touch


def world_parts(model: PigModel, state: RigidState) -> list[FloatArray]:
    """Per part, (n, 3) corners in the world frame [m]."""
    corners = rotate(state.quat_xyzw, model.vertices_m) + state.position_m
    ends = np.cumsum([len(part.vertices_m) for part in model.parts])
    return np.split(corners, ends[:-1])


def heights_m(model: PigModel, state: RigidState) -> list[float]:
    """Per part, the height of its lowest point above the table [m]."""
    corners = model.columns_m
    x, y, z = matrix(state.quat_xyzw)[2].tolist()
    heights = corners[0] * x + corners[1] * y + corners[2] * z
    lows = np.minimum.reduceat(heights, model.part_starts) + float(state.position_m[2])
    return [float(low) for low in lows]


def table_gaps(model: PigModel, state: RigidState) -> dict[str, float]:
    """Label to the height of that body part's lowest point above the table [m].

    Where several parts carry one label, the lowest counts.
    """
    gaps: dict[str, float] = {}
    for part, low in zip(model.parts, heights_m(model, state), strict=True):
        gaps[part.label] = min(low, gaps.get(part.label, low))
    return gaps


def table_contacts(model: PigModel, state: RigidState) -> tuple[Contact, ...]:
    """The parts within `TABLE_GAP_M` of the table, each at the middle of its touching corners."""
    contacts = []
    for part, low in zip(model.parts, heights_m(model, state), strict=True):
        if low < TABLE_GAP_M:
            corners = rotate(state.quat_xyzw, part.vertices_m) + state.position_m
            place = corners[corners[:, 2] < TABLE_GAP_M].mean(axis=0)
            contacts.append(Contact(part.label, TABLE, "", low, place))
    return tuple(contacts)


def pig_contacts(
    models: tuple[PigModel, PigModel],
    states: tuple[RigidState, RigidState],
    names: tuple[str, str],
) -> tuple[tuple[Contact, ...], tuple[Contact, ...]]:
    """The parts of the two pigs within `TOUCH_GAP_M` of each other.

    Returns:
        The contacts as the first pig sees them, and as the second does. A gap of
        0 stands for any overlap.
    """
    if _spheres_apart(models, states):
        return (), ()
    first, second = (world_parts(m, s) for m, s in zip(models, states, strict=True))
    low, high = _boxes(first)
    other_low, other_high = _boxes(second)
    near = (low[:, None] - TOUCH_GAP_M <= other_high) & (high[:, None] + TOUCH_GAP_M >= other_low)
    of_first, of_second = [], []
    for one, two in np.argwhere(near.all(axis=2)):
        gap, place = separation(first[one], second[two])
        if gap < TOUCH_GAP_M:
            part, other = models[0].parts[one].label, models[1].parts[two].label
            of_first.append(Contact(part, names[1], other, gap, place))
            of_second.append(Contact(other, names[0], part, gap, place))
    return tuple(of_first), tuple(of_second)


def _boxes(parts: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """(n, 3) least and greatest coordinates of each part."""
    lows = np.array([corners.min(axis=0) for corners in parts])
    return lows, np.array([corners.max(axis=0) for corners in parts])


def _spheres_apart(
    models: tuple[PigModel, PigModel], states: tuple[RigidState, RigidState]
) -> bool:
    """Whether the two bounding spheres are too far apart for any contact."""
    reach = sum(model.radius_m for model in models)
    return math.dist(states[0].position_m, states[1].position_m) > reach + TOUCH_GAP_M

"""The pose of one pig: what touches the table or the other pig, and what that is called.

Gaps are those of the collision parts at rest, without the engine's margin, and do not ask whether
force passes: the engine reports contacts that carry none, and keeps some that have opened.

Each pose of the rules is a list of conditions, each a signed number: positive where it holds, 0 at
its border, 1 far inside. A pose holds when all of its conditions do. Its margin is the least of
them. A rest for which no pose holds is `other`, never the nearest; its margin is how far the
nearest one is missed.

Conditions (with the rules of the seeds in mind, fixed before any calibration):

* trotter: all four feet on the table, and nothing but feet and legs;
* snouter: snout and both front feet; no hind foot, ear, body or tail;
* leaning jowler: snout, one ear and one front foot; not the other ear or front
  foot, no hind foot, body or tail;
* side: the flank's axis within `LYING_DEG` of straight down and nearer to it than the
  back's, resting on the body or on the hind foot of that flank;
* razorback: the back's axis within `LYING_DEG` of straight down and nearer to it than
  either flank's, resting on body or tail, no foot on the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from physim.geometry import heights, rotate, separation, up_in_body
from physim.types import (
    FEET,
    TABLE,
    Contact,
    FloatArray,
    PigModel,
    Pose,
    PoseReading,
    RigidState,
    Triple,
)

TABLE_GAP_M = 0.15e-3  # a part nearer to the table than this is in contact with it
TOUCH_GAP_M = 0.10e-3  # pigs nearer to each other than this touch
# The distances above suit toys up to this length; those of longer ones grow with it.
TOY_LENGTH_M = 0.05
LYING_DEG = 55.0
CLEAR_SCALE_M = 1e-3  # a part 1 mm beyond the contact gap is far from touching

FRONT_FEET, HIND_FEET = FEET[:2], FEET[2:]
EARS = ("left_ear", "right_ear")
BODY = ("shoulders", "trunk", "rump", "body")
TRUNK_AND_TAIL = (*BODY, "tail")
BACK, LEFT, RIGHT = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0)  # axes of the pig frame


def classify(model: PigModel, state: RigidState) -> PoseReading:
    """The pose of a pig at rest, and how near the next class is.

    Args:
        model: the pig; its part labels carry the meaning.
        state: where it lies, pig frame to world frame.
    """
    x, y, z = up_in_body(state.quat_xyzw.tolist())
    gaps, factor = table_gaps(model, state), size_factor(model)
    if factor != 1.0:  # as on a toy of the size that the limits are for
        gaps = {label: gap / factor for label, gap in gaps.items()}
    return classify_gaps((-x, -y, -z), gaps, model.dot_side)


def classify_gaps(down: Sequence[float], gaps: Mapping[str, float], dot_side: str) -> PoseReading:
    """The pose, from the down direction in the pig frame and each part's gap [m]."""
    scores = _scores(down, gaps, dot_side)
    for pose, score in scores.items():
        if score > 0.0:
            return PoseReading(pose, min(1.0, score))
    return PoseReading(Pose.OTHER, min(1.0, -max(scores.values())))


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
    reach_m = sum(model.radius_m for model in models) + near_m
    if math.dist(states[0].position_m, states[1].position_m) > reach_m:
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


def _scores(down: Sequence[float], gaps: Mapping[str, float], dot_side: str) -> dict[Pose, float]:
    """Each pose's least condition, in order of precedence."""
    left_flank = _flank(down, gaps, "left")
    right_flank = _flank(down, gaps, "right")
    snout = _touches(gaps, ["snout"])
    left_foot, right_foot = (_touches(gaps, [foot]) for foot in FRONT_FEET)
    dot_is_left = dot_side == "left"
    return {
        Pose.TROTTER: min(
            *(_touches(gaps, [foot]) for foot in FEET),
            _clear(gaps, ("snout", "head", *EARS, *TRUNK_AND_TAIL)),
        ),
        Pose.SNOUTER: min(
            snout,
            left_foot,
            right_foot,
            _clear(gaps, (*EARS, *HIND_FEET, *TRUNK_AND_TAIL)),
        ),
        Pose.LEANING_JOWLER: min(
            snout,
            _exactly_one(gaps, EARS),
            _exactly_one(gaps, FRONT_FEET),
            _clear(gaps, (*HIND_FEET, *TRUNK_AND_TAIL)),
        ),
        Pose.SIDE_DOT_UP: right_flank if dot_is_left else left_flank,
        Pose.SIDE_DOT_DOWN: left_flank if dot_is_left else right_flank,
        Pose.RAZORBACK: min(
            _within(down, BACK),
            _within(down, BACK) - max(_within(down, LEFT), _within(down, RIGHT)),
            _touches(gaps, TRUNK_AND_TAIL),
            _clear(gaps, FEET),
        ),
    }


def _flank(down: Sequence[float], gaps: Mapping[str, float], side: str) -> float:
    lying = _within(down, LEFT if side == "left" else RIGHT)
    return min(lying, lying - _within(down, BACK), _touches(gaps, (*BODY, f"hind_{side}_foot")))


def _within(down: Sequence[float], axis: Triple) -> float:
    """How far `down` lies inside the cone of `LYING_DEG` about a pig axis, as a share."""
    cosine = float(down[0] * axis[0] + down[1] * axis[1] + down[2] * axis[2])
    angle_deg = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
    return (LYING_DEG - angle_deg) / LYING_DEG


def _nearest_m(gaps: Mapping[str, float], labels: Iterable[str]) -> float:
    return min((gaps[label] for label in labels if label in gaps), default=math.inf)


def _touches(gaps: Mapping[str, float], labels: Iterable[str]) -> float:
    """Positive if any of the parts is in contact; 1 with no gap at all."""
    return max(-1.0, min(1.0, (TABLE_GAP_M - _nearest_m(gaps, labels)) / TABLE_GAP_M))


def _clear(gaps: Mapping[str, float], labels: Iterable[str]) -> float:
    """Positive if none of the parts is in contact; 1 if all are 1 mm clear of it."""
    return max(-1.0, min(1.0, (_nearest_m(gaps, labels) - TABLE_GAP_M) / CLEAR_SCALE_M))


def _exactly_one(gaps: Mapping[str, float], labels: tuple[str, ...]) -> float:
    """Positive if one of two parts is in contact and the other is clear."""
    first, second = labels
    return max(
        min(_touches(gaps, [first]), _clear(gaps, [second])),
        min(_touches(gaps, [second]), _clear(gaps, [first])),
    )

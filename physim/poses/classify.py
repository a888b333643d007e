"""The pose of one pig, from its orientation and from what touches the table.

Each pose of the rules is a list of conditions, each a signed number: positive where
it holds, 0 at its border, 1 far inside. A pose holds when all of its conditions do.
Its margin is the least of them. A rest for which no pose holds is `other`, never
the nearest; its margin is how far the nearest one is missed.

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

from physim.poses.contacts import TABLE_GAP_M, size_factor, table_gaps
from physim.quaternions import up_in_body
from physim.types import FEET, PigModel, Pose, PoseReading, RigidState, Triple

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
    x, y, z = up_in_body(state.quat_xyzw)
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


def _scores(down: Sequence[float], gaps: Mapping[str, float], dot_side: str) -> dict[Pose, float]:
    """Each pose's least condition, in order of precedence."""
    left_flank = _flank(down, gaps, "left")
    right_flank = _flank(down, gaps, "right")
    left_ear, right_ear = (_touches(gaps, [ear]) for ear in EARS)
    left_foot, right_foot = (_touches(gaps, [foot]) for foot in FRONT_FEET)
    dot_is_left = dot_side == "left"
    return {
        Pose.TROTTER: min(
            *(_touches(gaps, [foot]) for foot in FEET),
            _clear(gaps, ("snout", "head", *EARS, *TRUNK_AND_TAIL)),
        ),
        Pose.SNOUTER: min(
            _touches(gaps, ["snout"]),
            left_foot,
            right_foot,
            _clear(gaps, (*EARS, *HIND_FEET, *TRUNK_AND_TAIL)),
        ),
        Pose.LEANING_JOWLER: min(
            _touches(gaps, ["snout"]),
            _exactly_one(gaps, EARS, left_ear, right_ear),
            _exactly_one(gaps, FRONT_FEET, left_foot, right_foot),
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


def _touches(gaps: Mapping[str, float], labels: Iterable[str]) -> float:
    """Positive if any of the parts is in contact; 1 with no gap at all."""
    nearest = min((gaps[label] for label in labels if label in gaps), default=math.inf)
    return max(-1.0, min(1.0, (TABLE_GAP_M - nearest) / TABLE_GAP_M))


def _clear(gaps: Mapping[str, float], labels: Iterable[str]) -> float:
    """Positive if none of the parts is in contact; 1 if all are 1 mm clear of it."""
    nearest = min((gaps[label] for label in labels if label in gaps), default=math.inf)
    return max(-1.0, min(1.0, (nearest - TABLE_GAP_M) / CLEAR_SCALE_M))


def _exactly_one(
    gaps: Mapping[str, float], labels: tuple[str, str], first: float, second: float
) -> float:
    """Positive if one of two parts is in contact and the other is clear."""
    only_first = min(first, _clear(gaps, [labels[1]]))
    only_second = min(second, _clear(gaps, [labels[0]]))
    return max(only_first, only_second)

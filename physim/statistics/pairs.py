"""Unordered pairs of poses: the cells of a table of two-pig rolls."""

from __future__ import annotations

from itertools import combinations_with_replacement

from physim.values import Pose

POSES = tuple(Pose)
NAMED_POSES = tuple(pose for pose in Pose if pose is not Pose.OTHER)
PAIRS = tuple(combinations_with_replacement(POSES, 2))  # 28, in the order of `Pose`
NAMED_PAIRS = tuple(combinations_with_replacement(NAMED_POSES, 2))  # 21
TOUCHING = "touching"  # the cell of an oinker or a piggyback


def pair_name(first: Pose, second: Pose) -> str:
    """The cell's name, the same in either order: "trotter+razorback"."""
    low, high = sorted((first, second), key=POSES.index)
    return f"{low.value}+{high.value}"


POSE_CELLS = tuple(pose.value for pose in NAMED_POSES)
PAIR_CELLS = (*(pair_name(*pair) for pair in NAMED_PAIRS), TOUCHING)

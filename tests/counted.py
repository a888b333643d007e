"""Counts that are made up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from physim.statistics.counts import NAMED_POSES, Counts
from physim.types import Pose


def counts_of(poses: Mapping[Pose, int] | Sequence[int]) -> Counts:
    """Rolls with so many pigs by pose, in the order of the poses; an even number of pigs."""
    if not isinstance(poses, Mapping):
        poses = dict(zip(NAMED_POSES, poses, strict=True))
    pigs = [pose for pose, count in poses.items() for _ in range(count)]
    joint = Counter(zip(pigs[::2], pigs[1::2], strict=True))
    return Counts(rolls=len(pigs) // 2, joint=dict(joint))

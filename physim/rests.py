"""The stable rests of a model with their names: a plain table, made once a model.

The quasi-static analysis (`pigs.stable`) says where a pig can lie; the classifier
(`poses.classify`) says what that is called. This module joins the two, and finds
for a pig that physics has laid down which of its rests it is in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from physim import kept
from physim.pigs.stable import StableRest, model_rests
from physim.poses.classify import classify
from physim.poses.contacts import table_gap_m
from physim.rotations import from_axis_angle, from_matrix, up_in_body
from physim.values import (
    Basin,
    ExactValue,
    FloatArray,
    PigModel,
    Pose,
    PoseReading,
    RigidState,
    Triple,
)

DOWN = np.array([0.0, 0.0, -1.0])
MATCH_DEG = 6.0  # a pig whose down direction is farther from a rest's is in none
_MATCH_COSINE = math.cos(math.radians(MATCH_DEG))


@dataclass(frozen=True, eq=False)
class NamedRest(ExactValue):
    """One stable rest of a model.

    Attributes:
        rest: the quasi-static rest.
        reading: the classifier's, for a pig that lies exactly so.
    """

    rest: StableRest
    reading: PoseReading

    @property
    def pose(self) -> Pose:
        return self.reading.pose

    @property
    def margin(self) -> float:
        return self.reading.margin


@dataclass(frozen=True, eq=False)
class RestTable(ExactValue):
    """All stable rests of one model, the most probable first."""

    rests: tuple[NamedRest, ...]

    @classmethod
    def of(cls, model: PigModel) -> RestTable:
        """The table of a model."""
        with kept.preferring(model.kept):
            rests = model_rests(model, table_gap_m(model))
        return cls(tuple(NamedRest(rest, classify(model, lying(rest))) for rest in rests))

    def basins(self) -> tuple[Basin, ...]:
        """What energy needs to know of the rests, in the same order."""
        return tuple(
            Basin(named.rest.down, named.rest.height_m, named.rest.barrier_m)
            for named in self.rests
        )

    def nearest(self, quat_xyzw: FloatArray) -> int | None:
        """Index of the rest in which a pig so turned lies, or None."""
        if not self.rests:
            return None
        x, y, z = up_in_body(quat_xyzw)
        cosines = [-(a * x + b * y + c * z) for a, b, c in self._downs]
        best = max(cosines)
        return cosines.index(best) if best >= _MATCH_COSINE else None

    @cached_property
    def _downs(self) -> tuple[Triple, ...]:
        """Each rest's down direction, pig frame."""
        return tuple(tuple(named.rest.down.tolist()) for named in self.rests)


def lying(rest: StableRest) -> RigidState:
    """A pig at the origin of the table, exactly in this rest, turned no more than needed."""
    return RigidState(np.array([0.0, 0.0, rest.height_m]), turn_down(rest.down))


def turn_down(down: FloatArray) -> FloatArray:
    """The smallest rotation (xyzw) that turns the pig-frame direction `down` to straight down."""
    axis = np.cross(down, DOWN)
    sine = math.sqrt(float((axis**2).sum()))
    if sine < 1e-9:
        return from_matrix(np.eye(3) if down[2] < 0 else np.diag([1.0, -1.0, -1.0]))
    return from_axis_angle(axis / sine, math.atan2(sine, float((down * DOWN).sum())))

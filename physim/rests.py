"""The stable rests of a model with their names: a plain table, made once a model.

The quasi-static analysis (`pigs.stable`) says where a pig can lie; the classifier
(`poses.classify`) says what that is called. This module joins the two, and finds
for a pig that physics has laid down which of its rests it is in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from physim.pigs.stable import StableRest, model_rests
from physim.poses.classify import classify
from physim.rotations import conjugate, from_axis_angle, from_matrix, rotate
from physim.values import FloatArray, PigModel, Pose, RigidState

DOWN = np.array([0.0, 0.0, -1.0])
MATCH_DEG = 6.0  # a pig whose down direction is farther from a rest's is in none


@dataclass(frozen=True)
class NamedRest:
    """One stable rest of a model.

    Attributes:
        rest: the quasi-static rest.
        pose: what the rules call it.
        margin: of the classifier there.
    """

    rest: StableRest
    pose: Pose
    margin: float


@dataclass(frozen=True)
class RestTable:
    """All stable rests of one model, the most probable first."""

    rests: tuple[NamedRest, ...]

    @classmethod
    def of(cls, model: PigModel) -> RestTable:
        """The table of a model."""
        named = []
        for rest in model_rests(model):
            reading = classify(model, lying(rest))
            named.append(NamedRest(rest, reading.pose, reading.margin))
        return cls(tuple(named))

    def nearest(self, quat_xyzw: FloatArray) -> int | None:
        """Index of the rest in which a pig so turned lies, or None."""
        if not self.rests:
            return None
        down = rotate(conjugate(quat_xyzw), DOWN)
        cosines = [float((named.rest.down * down).sum()) for named in self.rests]
        best = int(np.argmax(cosines))
        return best if cosines[best] >= math.cos(math.radians(MATCH_DEG)) else None


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

"""Pigs of other sizes are named as the standard one, and no contact of that one has moved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from physim.poses.classify import (
    TABLE_GAP_M,
    TOUCH_GAP_M,
    classify,
    pig_contacts,
    size_factor,
    table_contacts,
    table_gap_m,
)
from physim.simulator import RestTable, lying
from physim.types import ConvexPart, PigModel, RigidState

FACTOR = 4.0


def times(model: PigModel, factor: float) -> PigModel:
    parts = tuple(ConvexPart(part.label, factor * part.vertices_m) for part in model.parts)
    return replace(
        model, parts=parts, length_m=factor * model.length_m, height_m=factor * model.height_m
    )


def lifted(state: RigidState, factor: float, by_m: float) -> RigidState:
    return RigidState(factor * state.position_m + np.array([0.0, 0.0, by_m]), state.quat_xyzw)


def test_a_toy_keeps_its_distances(standard: PigModel) -> None:
    assert size_factor(standard) == 1.0
    assert table_gap_m(standard) == TABLE_GAP_M


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9, 1.5])
def test_a_large_pig_is_named_as_a_toy_of_the_limits_size(standard: PigModel, share: float) -> None:
    """Lifted by the same share of its contact distance, each rest reads the same."""
    toy = times(standard, 0.0499999999 / standard.length_m)
    large = times(toy, FACTOR)
    for named in RestTable.of(toy).rests:
        state = lying(named.rest)
        small = classify(toy, lifted(state, 1.0, share * table_gap_m(toy)))
        big = classify(large, lifted(state, FACTOR, share * table_gap_m(large)))
        assert big.pose is small.pose
        assert big.margin == pytest.approx(small.margin, abs=1e-6)


def test_large_pigs_touch_at_a_larger_distance(standard: PigModel) -> None:
    large = times(standard, FACTOR)
    state = lying(RestTable.of(large).rests[0].rest)
    flat = np.array([0.0, 0.0, 0.0, 1.0])
    for model, touch in ((large, True), (standard, False)):
        black = model.vertices_m[model.vertices_m[:, 1].argmax()]
        pink = model.vertices_m[model.vertices_m[:, 1].argmin()]
        beside = black - pink + np.array([0.0, 1.5 * TOUCH_GAP_M, 0.0])
        states = (RigidState(np.zeros(3), flat), RigidState(beside, flat))
        found, _ = pig_contacts((model, model), states, ("black", "pink"))
        assert bool(found) is touch
    assert table_contacts(large, lifted(state, 1.0, 0.5 * table_gap_m(large)))
    assert not table_contacts(large, lifted(state, 1.0, 1.5 * table_gap_m(large)))

"""How long two pigs in flight may go on, each alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from physim.compiled import compiled
from physim.physics.body import Body
from physim.physics.fast.pig_record import PigRecord
from physim.physics.fast.proximity import LEAST_DISTANCE_M, ROLL, distance_m, steps_ahead
from physim.physics.fast.world import World
from physim.types import PigModel, RigidState, Table
from tests.physics.worlds import UPRIGHT

CHECK_STEPS = 32


def flying(x_m: float, speed_m_s: float) -> RigidState:
    """Upright, so high that it lands long after all looks here."""
    return RigidState(np.array([x_m, 0.0, 3.0]), UPRIGHT, np.array([speed_m_s, 0.0, 0.0]))


@pytest.fixture(scope="module")
def world(standard: PigModel, bare_table: Callable[..., Table]) -> Iterator[World]:
    body = Body.of(standard)
    table = bare_table(4.0, lateral_friction=0.5, restitution=0.4)
    with World((body, body), table) as opened:
        yield opened


def watched(world: World, apart_m: float, speed_m_s: float) -> Pair:
    """Pigs a gap of about this apart, of which the second one moves along x."""
    black, pink = world.pigs
    reach = float(np.ptp(black.body.hull_m[:, 0]))
    black.release(flying(0.0, 0.0))
    pink.release(flying(reach + apart_m, speed_m_s))
    return Pair(world)


class Pair:
    """What is asked of two pigs before and after a check."""

    def __init__(self, world: World) -> None:
        self.roll = np.zeros(1, dtype=ROLL)
        self.roll["known_step"] = -1
        self._records = world._now, world._fixed, world._work

    def steps_ahead(self, step: int) -> int:
        self.roll["step"] = step
        return asked_ahead(self.roll, *self._records)

    def distance_m(self) -> float:
        return asked_distance(*self._records)


@compiled
def asked_ahead(roll: Any, now: Any, fixed: Any, work: Any) -> int:
    black, pink = PigRecord(now[0], fixed[0], work[0]), PigRecord(now[1], fixed[1], work[1])
    return steps_ahead(roll[0], black, pink)


@compiled
def asked_distance(now: Any, fixed: Any, work: Any) -> float:
    black, pink = PigRecord(now[0], fixed[0], work[0]), PigRecord(now[1], fixed[1], work[1])
    return distance_m(black, pink, 1.0)


def advance(world: World, steps: int) -> None:
    for solo in world.pigs:
        solo.advance(steps)


@pytest.mark.parametrize("speed_m_s", [0.5, 2.0, 6.0])
def test_flying_pigs_go_on_alone_until_just_before_they_touch(
    world: World, speed_m_s: float
) -> None:
    watch = watched(world, 0.05, -speed_m_s)
    steps = 0
    while ahead := watch.steps_ahead(steps):
        advance(world, ahead)
        steps += ahead
        assert watch.distance_m() > -LEAST_DISTANCE_M
    step_s = world.settings.time_step_s
    assert steps > 0.04 / speed_m_s / step_s
    # The bound is at least half of the distance, and the touch is within the next step.
    assert watch.distance_m() < speed_m_s * step_s + 2 * LEAST_DISTANCE_M


def test_flying_pigs_that_part_are_left_alone(world: World) -> None:
    watch = watched(world, 0.002, 0.3)
    assert watch.steps_ahead(0) >= CHECK_STEPS

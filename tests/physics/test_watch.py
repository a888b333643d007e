"""What the watch of two pigs remembers from one look to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from physim.compiled import compiled
from physim.physics.body import Body
from physim.physics.fast.pig_record import PigRecord
from physim.physics.fast.proximity import ROLL, distance_m, possible_contact, steps_ahead
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

    def possible_contact(self, step: int) -> bool:
        self.roll["step"] = step
        return asked_contact(self.roll, *self._records)

    def distance_m(self) -> float:
        return asked_distance(*self._records)


@compiled
def asked_ahead(roll: Any, now: Any, fixed: Any, work: Any) -> int:
    black, pink = PigRecord(now[0], fixed[0], work[0]), PigRecord(now[1], fixed[1], work[1])
    return steps_ahead(roll[0], black, pink)


@compiled
def asked_contact(roll: Any, now: Any, fixed: Any, work: Any) -> bool:
    black, pink = PigRecord(now[0], fixed[0], work[0]), PigRecord(now[1], fixed[1], work[1])
    return possible_contact(roll[0], black, pink)


@compiled
def asked_distance(now: Any, fixed: Any, work: Any) -> float:
    black, pink = PigRecord(now[0], fixed[0], work[0]), PigRecord(now[1], fixed[1], work[1])
    return distance_m(black, pink, 1.0)


def advance(world: World, steps: int) -> None:
    for solo in world.pigs:
        solo.advance(steps)


def test_a_look_that_nobody_asked_about_is_not_about_an_earlier_one(world: World) -> None:
    """So it is after a pig was parked: its other one may go on for long, and slow down."""
    watch = watched(world, 0.002, 0.3)
    steps = watch.steps_ahead(0)
    advance(world, steps)
    assert not watch.possible_contact(steps)
    # Both now move alike: at the speed of the look before, they would have met by and by.
    black, pink = world.pigs
    pink.release(flying(float(pink.motion.centre_m[0]), 0.0))
    black.release(flying(0.0, 0.0))
    for _ in range(20):
        steps += CHECK_STEPS
        advance(world, CHECK_STEPS)
        assert not watch.possible_contact(steps)


def test_the_gap_of_a_look_that_was_taken_back_is_forgotten(world: World) -> None:
    """Pigs that met go on together and may be elsewhere when the same tick comes again."""
    watch = watched(world, 0.002, -0.3)
    steps = watch.steps_ahead(0)
    black, pink = world.pigs
    # Meanwhile something made one faster: what the watch asks for cannot be relied upon.
    black.release(flying(0.0, 3.0))
    pink.release(flying(float(pink.motion.centre_m[0]), -3.0))
    advance(world, steps)
    assert watch.possible_contact(steps)
    apart = float(np.ptp(black.body.hull_m[:, 0])) + 0.003
    for solo, place in zip(world.pigs, (0.0, apart), strict=True):
        solo.release(flying(place, 0.0))
        solo.advance(steps)
    assert watch.distance_m() > 0.001
    assert watch.steps_ahead(steps) > 0

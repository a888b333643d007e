"""Pigs that are simulated each alone: they never overlap, and alone or fast changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from physim.geometry import separation
from physim.physics.fast.pair import Meeting
from physim.physics.state import Trajectory
from physim.poses.classify import world_parts
from physim.seeding import stream
from physim.simulator import Setup, Simulator
from physim.tosses.release import Draws, Trapdoor
from physim.types import Ended, Rest, Toss
from tests.physics.worlds import G, States, bits

SEED = 41
OVERLAP_M = 5e-5  # two parts are this deep in each other at most, to count as apart


def setup_of(name: str, settle: str = "full") -> Setup:
    """By name: `close` is a trapdoor with the pigs so near to each other that they often meet."""
    setup = Setup.named(toss="trapdoor" if name == "close" else name, settle=settle)
    if name != "close":
        return setup
    assert isinstance(setup.toss, Trapdoor)
    return replace(setup, toss=replace(setup.toss, separation_m=0.03, separation_spread_m=0.0))


def toss_of(setup: Setup, index: int) -> Toss:
    return setup.toss.release(Draws(stream(SEED, index)), index, setup.pigs)


@contextmanager
def telling_together() -> Iterator[list[tuple[float, float]]]:
    """When both pigs were in one engine: the stretches, from and to [s since release]."""
    stretches: list[tuple[float, float]] = []
    settle = Meeting.settle

    def told(self: Meeting, states: Any, base_steps: int, *others: Any) -> Rest | None:
        rest = settle(self, states, base_steps, *others)
        step_s = self.settings.time_step_s
        stretches.append((base_steps * step_s, self.base_steps * step_s))
        return rest

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Meeting, "settle", told)
        yield stretches


def recorded(simulator: Simulator, toss: Toss) -> tuple[Rest, Trajectory]:
    """The end of a roll and the ways of both pigs."""
    assert simulator._world is not None
    trajectory = Trajectory(simulator._world.bodies)
    return simulator.settle(toss, trajectory), trajectory


def checks(simulator: Simulator, rest: Rest) -> list[float]:
    """The times of the regular checks [s since release]."""
    interval_s = simulator.setup.settings.check_interval_s
    return [number * interval_s for number in range(int(rest.time_s / interval_s) + 1)]


def overlap(setup: Setup, states: States) -> bool:
    """Whether some part of the one is deeper in a part of the other than `OVERLAP_M`.

    Both shrink by that towards their middles: what still touches is deeper.
    """
    first, second = (world_parts(m, s) for m, s in zip(setup.pigs, states, strict=True))
    for mine in first:
        low, high = mine.min(axis=0), mine.max(axis=0)
        for its in second:
            if (its.min(axis=0) > high).any() or (its.max(axis=0) < low).any():
                continue
            if separation(_shrunk(mine), _shrunk(its))[0] < 1e-7:
                return True
    return False


def _shrunk(corners: np.ndarray) -> np.ndarray:
    middle = corners.mean(axis=0)
    arms = corners - middle
    return np.asarray(middle + arms * (1 - 0.5 * OVERLAP_M / np.linalg.norm(arms, axis=1).min()))


@pytest.mark.parametrize(("name", "rolls"), [("close", 40), ("hand", 40)])
def test_pigs_alone_never_overlap(name: str, rolls: int) -> None:
    setup = setup_of(name)
    reach = sum(model.radius_m for model in setup.pigs)
    near = met = 0
    with telling_together() as together, Simulator(setup) as simulator:
        for index in range(rolls):
            together.clear()
            rest, trajectory = recorded(simulator, toss_of(setup, index))
            met += bool(together)
            for time_s in checks(simulator, rest):
                black, pink = states = trajectory.at(time_s)
                if any(begins_s <= time_s <= ends_s for begins_s, ends_s in together):
                    continue
                if np.linalg.norm(black.position_m - pink.position_m) > reach:
                    continue
                near += 1
                assert not overlap(setup, states), (index, near)
    assert near > 100
    assert met >= 5


def test_the_overlap_check_finds_an_overlap() -> None:
    setup = setup_of("close")
    toss = toss_of(setup, 0)
    deep = replace(toss.pink, position_m=toss.black.position_m + np.array([0.0, 0.004, 0.0]))
    assert overlap(setup, (toss.black, deep))
    far = replace(toss.pink, position_m=toss.black.position_m + np.array([0.0, 0.045, 0.0]))
    assert not overlap(setup, (toss.black, far))


def test_both_pigs_are_told_at_the_same_time() -> None:
    """In flight their heights are those of a free fall at the time that is told."""
    setup = setup_of("hand")
    checked = 0
    with telling_together() as together, Simulator(setup) as simulator:
        assert simulator._world is not None
        for index in range(10):
            together.clear()
            toss = toss_of(setup, index)
            rest, trajectory = recorded(simulator, toss)
            lands_s = min(pig.first_landing_s for pig in simulator._world.pigs)
            for time_s in checks(simulator, rest):
                if time_s > min(lands_s, 0.06, *(begins_s for begins_s, _ in together)):
                    break
                for start, state in zip(toss.pigs, trajectory.at(time_s), strict=True):
                    checked += 1
                    fallen = start.velocity_m_s[2] * time_s - G * time_s**2 / 2
                    there = start.position_m[2] + fallen
                    assert state.position_m[2] == pytest.approx(there, abs=5e-5)
    assert checked > 50


# --- fast and full ---


MANY = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.mark.parametrize(
    ("name", "rolls"),
    [
        ("trapdoor", 150),
        ("hand", 60),
        ("close", 40),
        pytest.param("trapdoor", 5000, marks=MANY),
        pytest.param("hand", 3000, marks=MANY),
        pytest.param("close", 1500, marks=MANY),
    ],
)
def test_fast_is_full_cut_short(name: str, rolls: int) -> None:
    """Names, rests and outcome are the same, and each state lies on the full roll's way."""
    full, fast = setup_of(name), setup_of(name, "fast")
    certain = on_the_way = 0
    with Simulator(full) as slow, Simulator(fast) as quick:
        for index in range(rolls):
            toss = toss_of(full, index)
            (rest, way), soon = recorded(slow, toss), quick.settle(toss)
            one, other = (
                slow.classify_and_score(SEED, index, rest),
                quick.classify_and_score(SEED, index, soon),
            )
            for key in ("status", "outcome", "score", "touching"):
                assert getattr(one, key) == getattr(other, key), (index, key)
            for mine, its in zip(one.pigs, other.pigs, strict=True):
                assert (mine.pose, mine.rest) == (its.pose, its.rest), index
            certain += soon.ended is Ended.CERTAIN
            assert soon.time_s <= rest.time_s
            for pig, (state, time_s) in enumerate(zip(soon.pigs, soon.times_s, strict=True)):
                if bits(state) != bits(rest.pigs[pig]):
                    on_the_way += 1
                    assert bits(way.at(time_s)[pig]) == bits(state), (index, pig)
    assert certain > 0.5 * rolls
    assert on_the_way > 0.5 * rolls


def test_a_frozen_pig_catches_up_to_the_same_bits() -> None:
    """Rolls in which the other pig comes near one that was frozen as certain."""
    full, fast = setup_of("hand"), setup_of("hand", "fast")
    found = 0
    with Simulator(full) as slow, Simulator(fast) as quick:
        for index in range(100, 900):
            soon = quick.settle(toss_of(full, index))
            assert quick._world is not None
            if not any(pig.now["caught_up"][0] for pig in quick._world.pigs):
                continue
            found += 1
            rest, way = recorded(slow, toss_of(full, index))
            for pig, (state, time_s) in enumerate(zip(soon.pigs, soon.times_s, strict=True)):
                known = bits(way.at(time_s)[pig]), bits(rest.pigs[pig])
                assert bits(state) in known, (index, pig)
            if found == 4:
                break
    assert found >= 2

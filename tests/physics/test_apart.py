"""Pigs that are simulated each alone: they never overlap, and alone or fast changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from physim.physics.pair import Together
from physim.physics.simulate import Observer, _Pig
from physim.poses.contacts import separation, world_parts
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
def telling_together() -> Iterator[list[bool]]:
    """Whether both pigs are in one engine at this moment, as the one item of a list."""
    now = [False]
    simulate = Together.settle

    def told(self: Together, states: States, tick: int, steps: int) -> Rest | None:
        now[0] = True
        try:
            return simulate(self, states, tick, steps)
        finally:
            now[0] = False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Together, "settle", told)
        yield now


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
            assert simulator._world is not None
            bodies = simulator._world.bodies
            shown: list[tuple[float, bool, States]] = []

            def look(
                time_s: float, states: States, shown: list[tuple[float, bool, States]] = shown
            ) -> None:
                shown.append((time_s, together[0], states))

            simulator.settle(toss_of(setup, index), look)
            met += any(both for _, both, _ in shown)
            for _, both, (black, pink) in shown:
                if both or np.linalg.norm(black.position_m - pink.position_m) > reach:
                    continue
                near += 1
                states = bodies[0].leave(black), bodies[1].leave(pink)
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


def test_both_pigs_are_shown_at_the_same_time() -> None:
    """In flight their heights are those of a free fall at the time that is told."""
    setup = setup_of("hand")
    checked = 0
    with telling_together() as together, Simulator(setup) as simulator:
        assert simulator._world is not None
        for index in range(10):
            toss = toss_of(setup, index)
            shown: list[tuple[float, States]] = []

            def look(
                time_s: float, states: States, shown: list[tuple[float, States]] = shown
            ) -> None:
                if not together[0]:
                    shown.append((time_s, states))

            simulator.settle(toss, look)
            assert shown[0][0] == 0.0
            lands_s = min(solo.first_landing_s for solo in simulator._world.solos)
            for time_s, states in shown:
                if time_s > lands_s or time_s > 0.06:
                    break
                for start, state in zip(toss.pigs, states, strict=True):
                    checked += 1
                    fallen = start.velocity_m_s[2] * time_s - G * time_s**2 / 2
                    there = start.position_m[2] + fallen
                    assert state.position_m[2] == pytest.approx(there, abs=5e-5)
    assert checked > 50


@pytest.mark.parametrize("name", ["trapdoor", "hand", "close"])
def test_an_observer_changes_no_bit(name: str) -> None:
    setup = setup_of(name)
    with Simulator(setup) as simulator:
        for index in range(12):
            toss = toss_of(setup, index)
            watched = simulator.settle(toss, lambda _, __: None)
            assert bits(simulator.settle(toss)) == bits(watched)


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
            way: list[dict[float, object]] = [{}, {}]
            look = _keeper(slow, way)
            rest, soon = slow.settle(toss, look), quick.settle(toss)
            one, other = slow.judge(SEED, index, rest), quick.judge(SEED, index, soon)
            for key in ("status", "outcome", "score", "touching"):
                assert getattr(one, key) == getattr(other, key), (index, key)
            for mine, its in zip(one.pigs, other.pigs, strict=True):
                assert (mine.pose, mine.rest) == (its.pose, its.rest), index
            certain += soon.ended is Ended.CERTAIN
            assert soon.time_s <= rest.time_s
            for pig, (state, time_s) in enumerate(zip(soon.pigs, soon.times_s, strict=True)):
                if bits(state) != bits(rest.pigs[pig]):
                    on_the_way += 1
                    assert way[pig].get(time_s) == bits(state), (index, pig)
    assert certain > 0.5 * rolls
    assert on_the_way > 0.5 * rolls


def _keeper(simulator: Simulator, way: list[dict[float, object]]) -> Observer:
    """Keeps the bits of each pig's state (pig frame) by the time of that state."""
    world = simulator._world
    assert world is not None

    def look(time_s: float, states: States) -> None:
        for pig, (solo, body, state) in enumerate(
            zip(world.solos, world.bodies, states, strict=True)
        ):
            own_s = solo.time_s if bits(solo.state()) == bits(state) else time_s
            way[pig][own_s] = bits(body.leave(state))

    return look


def test_a_parked_pig_catches_up_to_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rolls in which the other pig comes near one that was parked as certain."""
    caught: list[int] = []
    catch_up: Callable[..., None] = _roll_type()._catch_up

    def told(self: object, pig: _Pig) -> None:
        before = pig.solo.ticks
        catch_up(self, pig)
        caught.append(pig.solo.ticks - before)

    monkeypatch.setattr(_roll_type(), "_catch_up", told)
    full, fast = setup_of("hand"), setup_of("hand", "fast")
    found = 0
    with Simulator(full) as slow, Simulator(fast) as quick:
        for index in range(100, 400):
            caught.clear()
            soon = quick.settle(toss_of(full, index))
            if not any(ticks > 0 for ticks in caught):
                continue
            found += 1
            way: list[dict[float, object]] = [{}, {}]
            rest = slow.settle(toss_of(full, index), _keeper(slow, way))
            for pig, (state, time_s) in enumerate(zip(soon.pigs, soon.times_s, strict=True)):
                known = way[pig].get(time_s), bits(rest.pigs[pig])
                assert bits(state) in known, (index, pig)
            if found == 4:
                break
    assert found >= 2


def _roll_type() -> type:
    from physim.physics import simulate

    return simulate._Roll

"""What keys, sliders and the clock do, in a window that only takes notes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from physim.config import HAS_PYBULLET
from physim.dataset.plan import BatchPlan
from physim.render.pig_meshes import PlacedPig
from physim.render.replay import DatasetReplaySource, Replay, ReplaySource
from physim.simulator import Setup, Simulator
from physim.window.session import STEP_S, WAIT
from physim.window.watch import WatchSession
from tests.physics.worlds import bits
from tests.window.notes import Notes


@pytest.fixture
def notes() -> Notes:
    return Notes()


def watching(notes: Notes) -> WatchSession:
    return WatchSession(notes, ReplaySource(BatchPlan(n=1, seed=3)), 0)


def shown(session: WatchSession) -> Replay:
    assert session.replay is not None
    return session.replay


@pytest.fixture
def session(notes: Notes) -> Iterator[WatchSession]:
    with watching(notes) as session:
        session.update(-0.1)
        session.update(0.0)  # the first two pass no time
        yield session


def places(notes: Notes) -> object:
    return [bits(notes.bodies[k].position_m) for k in (0, 1)]


@pytest.mark.skipif(not HAS_PYBULLET, reason="needs PyBullet")
def test_it_shows_the_roll_of_seed_and_index_in_real_time(
    session: WatchSession, notes: Notes
) -> None:
    replay = shown(session)
    with Simulator(Setup.named(settle="full")) as simulator:
        expected = simulator.roll(3, 0)
    assert bits(replay.roll) == bits(expected)
    session.update(0.25)
    assert session.time_s == 0.25
    assert places(notes) == [bits(p.state.position_m) for p in replay.pigs(0.25)]
    assert notes.texts["outcome"] == "" and notes.marks == 0
    session.update(20.0)
    assert places(notes) == [bits(pig.position_m) for pig in expected.pigs]
    assert notes.texts["outcome"].startswith(expected.outcome.value.capitalize()[:4])
    assert notes.marks == sum(len(pig.contacts) for pig in expected.pigs)
    assert session.score.rolls == 1


def test_the_window_says_that_it_is_at_work_until_the_pigs_are_there() -> None:
    class Watched(Notes):
        def add(self, pig: PlacedPig) -> list[int]:
            assert self.texts["wait"] == WAIT
            return super().add(pig)

    notes = Watched()
    with watching(notes):
        assert (len(notes.bodies), notes.texts["wait"]) == (2, "")


def test_pause_step_and_slow_motion(session: WatchSession, notes: Notes) -> None:
    notes.pressed = ["s"]
    session.update(0.4)
    assert session.time_s == pytest.approx(0.1)
    notes.pressed = [" "]
    session.update(5.0)
    assert session.time_s == pytest.approx(0.1)
    notes.pressed = [".", "right"]
    session.update(6.0)
    assert session.time_s == pytest.approx(0.1 + 2 * STEP_S)
    notes.pressed = [" "]
    session.update(6.2)
    assert session.time_s == pytest.approx(0.15 + 2 * STEP_S)


def test_next_previous_same_and_again(session: WatchSession, notes: Notes) -> None:
    first = bits(shown(session).roll)
    notes.pressed = ["r"]
    session.update(30.0)
    assert session.index == 1 and bits(shown(session).roll) != first
    notes.pressed = ["p"]
    session.update(31.0)
    assert session.index == 0 and bits(shown(session).roll) == first
    notes.pressed = ["p"]
    session.update(32.0)
    assert session.index == 0 and notes.texts["note"] == "there is no roll -1"
    notes.pressed = ["t"]
    session.update(60.0)
    assert bits(shown(session).roll) == first
    assert notes.clears == 1  # the same pigs went on


def test_the_same_roll_again_counts_once(session: WatchSession, notes: Notes) -> None:
    session.update(30.0)
    assert session.score.rolls == 1
    notes.pressed = ["t"]
    session.update(60.0)
    session.update(61.0)
    assert session.score.rolls == 1
    points = shown(session).roll.score
    assert session.score.turn_total == points
    notes.pressed = ["b"]
    session.update(62.0)
    assert (session.score.turn_total, session.score.banked) == (0, points)


def test_toss_and_surface_by_key(session: WatchSession, notes: Notes) -> None:
    before = session.source.setup
    notes.pressed = ["o"]
    session.update(1.0)
    assert type(session.source.setup.toss) is not type(before.toss)
    notes.pressed = ["u"]
    session.update(2.0)
    assert session.source.setup.table.surface.name != before.table.surface.name
    assert session.source.setup.table.surface.name in notes.texts["roll"]


def test_sliders_act_on_the_next_roll(session: WatchSession, notes: Notes) -> None:
    before = session.source.setup.table.surface
    notes.sliders[notes.names["friction"]] = 0.11
    notes.sliders[notes.names["restitution"]] = 0.22
    notes.sliders[notes.names["height [mm], 0: the toss's own"]] = 300.0
    session.update(0.5)
    assert session.source.setup.table.surface == before
    notes.pressed = ["r"]
    session.update(0.6)
    surface = session.source.setup.table.surface
    assert (surface.lateral_friction, surface.restitution) == (0.11, 0.22)
    assert shown(session).pigs(0.0)[0].state.position_m[2] > 0.29
    assert ", changed" in notes.texts["roll"]


def test_untouched_sliders_change_no_bit(session: WatchSession, notes: Notes) -> None:
    notes.pressed = ["r"]
    session.update(1.0)
    with Simulator(Setup.named(settle="full")) as simulator:
        assert bits(shown(session).roll) == bits(simulator.roll(3, 1))


def test_buttons_are_keys(session: WatchSession, notes: Notes) -> None:
    notes.sliders[notes.names["roll again"]] += 1
    session.update(0.1)
    assert session.index == 1
    session.update(0.2)
    assert session.index == 1  # pressed once
    notes.sliders[notes.names["pause"]] += 1
    session.update(0.3)
    assert session.paused


def test_far_apart_pigs_are_looked_at_one_by_one(session: WatchSession, notes: Notes) -> None:
    session.update(20.0)
    looks = len(notes.looks)
    for second in range(21, 40):
        session.update(float(second))
    later = notes.looks[looks:]
    assert 1 <= len(later) <= 3
    assert min(view.distance_m for view in later) < 0.2


def test_the_panel_of_the_sliders_comes_and_goes(session: WatchSession, notes: Notes) -> None:
    for shown in (True, False):
        notes.pressed = ["g"]
        session.update(0.1)
        assert notes.shows_panel is shown


def test_quit_ends_the_show(session: WatchSession, notes: Notes) -> None:
    notes.pressed = ["q"]
    session.update(1.0)
    assert session.over


def test_the_rolls_of_a_dataset_and_no_others(dataset: Path, notes: Notes) -> None:
    with WatchSession(notes, DatasetReplaySource(dataset), 19) as session:
        session.update(0.0)
        assert "seed 5, roll 19" in notes.texts["roll"]
        assert set(notes.names) == {"roll again", "same roll", "bank", "pause"}
        surface = session.source.setup.table.surface
        notes.pressed = ["r", "u"]
        session.update(0.1)
        assert session.index == 19 and session.source.setup.table.surface == surface
        assert notes.texts["note"] == "the surface is the dataset's"
        assert np.isfinite(session.time_s)

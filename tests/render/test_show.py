"""What keys, sliders and the clock do, on a stage that only takes notes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from physim.dataset.plan import BatchPlan
from physim.render.pig_meshes import ColoredMesh
from physim.simulator import Setup, Simulator
from physim.types import RigidState
from physim.window.show import Show
from physim.window.sliders import STEP_S, WAIT
from tests.physics.worlds import bits
from tests.render.notes import Notes


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def show(notes: Notes) -> Iterator[Show]:
    with Show(notes, BatchPlan(n=1, seed=3), 0, None, 1.5) as show:
        show.beat(-0.1)
        show.beat(0.0)  # the first two pass no time
        yield show


def places(notes: Notes) -> object:
    return [bits(notes.bodies[k].position_m) for k in (0, 1)]


def test_it_shows_the_roll_of_seed_and_index_in_real_time(show: Show, notes: Notes) -> None:
    replay = show.replay
    with Simulator(Setup.named(settle="full")) as simulator:
        expected = simulator.roll(3, 0)
    assert bits(replay.roll) == bits(expected)
    show.beat(0.25)
    assert show.screening.time_s == 0.25
    assert places(notes) == [bits(p.state.position_m) for p in replay.pigs(0.25)]
    assert notes.texts["outcome"] == "" and notes.marks == 0
    show.beat(20.0)
    assert places(notes) == [bits(pig.position_m) for pig in expected.pigs]
    assert notes.texts["outcome"].startswith(expected.outcome.value.capitalize()[:4])
    assert notes.marks == sum(len(pig.contacts) for pig in expected.pigs)
    assert show.session.rolls == 1


def test_the_window_says_that_it_is_at_work_until_the_pigs_are_there() -> None:
    class Watched(Notes):
        def add(self, meshes: list[ColoredMesh], state: RigidState) -> list[int]:
            assert self.texts["wait"] == WAIT
            return super().add(meshes, state)

    notes = Watched()
    show = Show(notes, BatchPlan(n=1, seed=3), 0, None, 1.5)
    with show:
        assert (len(notes.bodies), notes.texts["wait"]) == (2, "")


def test_pause_step_and_slow_motion(show: Show, notes: Notes) -> None:
    notes.pressed = ["s"]
    show.beat(0.4)
    assert show.screening.time_s == pytest.approx(0.1)
    notes.pressed = [" "]
    show.beat(5.0)
    assert show.screening.time_s == pytest.approx(0.1)
    notes.pressed = [".", "right"]
    show.beat(6.0)
    assert show.screening.time_s == pytest.approx(0.1 + 2 * STEP_S)
    notes.pressed = [" "]
    show.beat(6.2)
    assert show.screening.time_s == pytest.approx(0.15 + 2 * STEP_S)


def test_next_previous_same_and_again(show: Show, notes: Notes) -> None:
    first = bits(show.replay.roll)
    notes.pressed = ["r"]
    show.beat(30.0)
    assert show.index == 1 and bits(show.replay.roll) != first
    notes.pressed = ["p"]
    show.beat(31.0)
    assert show.index == 0 and bits(show.replay.roll) == first
    notes.pressed = ["p"]
    show.beat(32.0)
    assert show.index == 0 and notes.texts["note"] == "there is no roll -1"
    notes.pressed = ["t"]
    show.beat(60.0)
    assert bits(show.replay.roll) == first
    assert notes.clears == 1  # the same pigs went on


def test_the_same_roll_again_counts_once(show: Show, notes: Notes) -> None:
    show.beat(30.0)
    assert show.session.rolls == 1
    notes.pressed = ["t"]
    show.beat(60.0)
    show.beat(61.0)
    assert show.session.rolls == 1
    points = show.replay.roll.score
    assert show.session.turn_total == points
    notes.pressed = ["b"]
    show.beat(62.0)
    assert (show.session.turn_total, show.session.banked) == (0, points)


def test_toss_and_surface_by_key(show: Show, notes: Notes) -> None:
    before = show.setup
    notes.pressed = ["o"]
    show.beat(1.0)
    assert type(show.setup.toss) is not type(before.toss)
    notes.pressed = ["u"]
    show.beat(2.0)
    assert show.setup.table.surface.name != before.table.surface.name
    assert show.setup.table.surface.name in notes.texts["roll"]


def test_sliders_act_on_the_next_roll(show: Show, notes: Notes) -> None:
    before = show.setup.table.surface
    notes.sliders[notes.names["friction"]] = 0.11
    notes.sliders[notes.names["restitution"]] = 0.22
    notes.sliders[notes.names["height [mm], 0: the toss's own"]] = 300.0
    show.beat(0.5)
    assert show.setup.table.surface == before
    notes.pressed = ["r"]
    show.beat(0.6)
    surface = show.setup.table.surface
    assert (surface.lateral_friction, surface.restitution) == (0.11, 0.22)
    assert show.replay.pigs(0.0)[0].state.position_m[2] > 0.29
    assert ", changed" in notes.texts["roll"]


def test_untouched_sliders_change_no_bit(show: Show, notes: Notes) -> None:
    notes.pressed = ["r"]
    show.beat(1.0)
    with Simulator(Setup.named(settle="full")) as simulator:
        assert bits(show.replay.roll) == bits(simulator.roll(3, 1))


def test_buttons_are_keys(show: Show, notes: Notes) -> None:
    notes.sliders[notes.names["roll again"]] += 1
    show.beat(0.1)
    assert show.index == 1
    show.beat(0.2)
    assert show.index == 1  # pressed once
    notes.sliders[notes.names["pause"]] += 1
    show.beat(0.3)
    assert show.screening.paused


def test_far_apart_pigs_are_looked_at_one_by_one(show: Show, notes: Notes) -> None:
    show.beat(20.0)
    looks = len(notes.looks)
    for second in range(21, 40):
        show.beat(float(second))
    later = notes.looks[looks:]
    assert 1 <= len(later) <= 3
    assert min(look[3] for look in later) < 0.2


def test_the_panel_of_the_sliders_comes_and_goes(show: Show, notes: Notes) -> None:
    for shown in (True, False):
        notes.pressed = ["g"]
        show.beat(0.1)
        assert notes.shows_panel is shown


def test_quit_ends_the_show(show: Show, notes: Notes) -> None:
    notes.pressed = ["q"]
    show.beat(1.0)
    assert show.over


def test_the_rolls_of_a_dataset_and_no_others(dataset: Path, notes: Notes) -> None:
    with Show(notes, BatchPlan(n=1), 19, dataset, 1.5) as show:
        show.beat(0.0)
        assert "seed 5, roll 19" in notes.texts["roll"]
        assert set(notes.names) == {"roll again", "same roll", "bank", "pause"}
        surface = show.setup.table.surface
        notes.pressed = ["r", "u"]
        show.beat(0.1)
        assert show.index == 19 and show.setup.table.surface == surface
        assert notes.texts["note"] == "the surface is the dataset's"
        assert np.isfinite(show.screening.time_s)

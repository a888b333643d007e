"""The rolls of a game in a window, on a stage that only takes notes."""

from __future__ import annotations

from physim.render.replay import ReplaySource
from physim.simulator import Setup, Simulator
from physim.window.game_window import GameShow
from tests.physics.worlds import bits
from tests.render.notes import Notes


def test_a_roll_of_the_game_is_seen_before_it_is_told(source: ReplaySource) -> None:
    stage, seen = Notes(), []
    show = GameShow(stage, source, 1.5, lambda: seen.append(1))
    show.beat(0.0)
    assert not stage.texts and not stage.bodies
    show.show(2, "Zoë: 15 + 5 this turn")
    for now_s in (1.0, 1.0, 1.0, 1.2):  # the first two pass no time
        show.beat(now_s)
    assert stage.texts["title"] == "Zo?: 15 + 5 this turn"
    assert stage.texts["outcome"] == stage.texts["black"] == "" and not seen
    show.beat(30.0)
    with Simulator(Setup.named(settle="full")) as simulator:
        roll = simulator.roll(source.plan.seed, 2)
    assert [bits(stage.bodies[k].position_m) for k in (0, 1)] == [
        bits(pig.position_m) for pig in roll.pigs
    ]
    assert stage.texts["black"].startswith(f"black: {roll.pigs[0].pose.value.replace('_', ' ')}")
    assert seen == [1]
    stage.pressed = ["t"]
    for now_s in (31.0, 31.0, 31.0, 60.0):
        show.beat(now_s)
    assert seen == [1]  # once a roll


def test_keys_change_nothing_in_the_game(source: ReplaySource) -> None:
    stage = Notes()
    show = GameShow(stage, source, 1.5, lambda: None)
    show.show(0, "Ana")
    stage.pressed = ["r", "n", "p", "b", "m", "o", "u", "g"]
    for now_s in (1.0, 1.0, 30.0):
        show.beat(now_s)
    assert stage.clears == 1 and not stage.sliders and not show.over
    stage.pressed = ["q"]
    show.beat(31.0)
    assert show.over

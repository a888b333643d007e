"""The rolls of a game, in a window that only takes notes."""

from __future__ import annotations

from physim.render.replay import ReplaySource
from physim.simulator import Setup, Simulator
from physim.window.game_window import GameSession
from tests.physics.worlds import bits
from tests.window.notes import Notes


def test_a_roll_of_the_game_is_seen_before_it_is_told(source: ReplaySource) -> None:
    notes, seen = Notes(), []
    session = GameSession(notes, source, lambda: seen.append(1))
    session.update(0.0)
    assert not notes.texts and not notes.bodies
    session.show(2, "Zoë: 15 + 5 this turn")
    for now_s in (1.0, 1.0, 1.0, 1.2):  # the first two pass no time
        session.update(now_s)
    assert notes.texts["title"] == "Zo?: 15 + 5 this turn"
    assert notes.texts["outcome"] == notes.texts["black"] == "" and not seen
    session.update(30.0)
    with Simulator(Setup.named(settle="full")) as simulator:
        roll = simulator.roll(source.plan.seed, 2)
    assert [bits(notes.bodies[k].position_m) for k in (0, 1)] == [
        bits(pig.position_m) for pig in roll.pigs
    ]
    assert notes.texts["black"].startswith(f"black: {roll.pigs[0].pose.value.replace('_', ' ')}")
    assert seen == [1]
    notes.pressed = ["t"]
    for now_s in (31.0, 31.0, 31.0, 60.0):
        session.update(now_s)
    assert seen == [1]  # once a roll


def test_keys_change_nothing_in_the_game(source: ReplaySource) -> None:
    notes = Notes()
    session = GameSession(notes, source, lambda: None)
    session.show(0, "Ana")
    notes.pressed = ["r", "n", "p", "b", "m", "o", "u", "g"]
    for now_s in (1.0, 1.0, 30.0):
        session.update(now_s)
    assert notes.clears == 1 and not notes.sliders and not session.over
    notes.pressed = ["q"]
    session.update(31.0)
    assert session.over

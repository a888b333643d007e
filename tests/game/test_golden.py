"""A playthrough a rule set, checked by hand against the seeds, line by line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from transcripts import GOLDEN, game_of, moves_of, transcript

from physim.game.game import Game, read_move
from physim.game.record import from_json, load, save, to_json
from physim.rules.ruleset import load_rules, rule_set_names

FILES = sorted(GOLDEN.glob("*.txt"))


def played(path: Path, **changes: object) -> Game:
    text = path.read_text(encoding="utf-8")
    if changes:
        game = game_of(text)
        rules = load_rules(game.start.rules.name, changes)
        game = Game(type(game.start)(rules, game.start.players, game.start.scores))
    else:
        game = game_of(text)
    for move in moves_of(text):
        game.do(read_move(move, game.players, game.start.rules))
    return game


def test_there_is_one_a_rule_set() -> None:
    assert [path.stem for path in FILES] == rule_set_names()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_playthrough_is_the_same_line_by_line(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert transcript(text) == text.splitlines()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_game_is_saved_and_rebuilt_from_its_log(path: Path, tmp_path: Path) -> None:
    game = played(path)
    save(game, tmp_path / "game.json")
    for again in (load(tmp_path / "game.json"), from_json(json.loads(json.dumps(to_json(game))))):
        assert again.state == game.state
        assert (again.start, again.events) == (game.start, game.events)


def test_the_worked_example_of_three_players_comes_to_its_final_scores() -> None:
    """The last five turns of a game, from 62, 75 and 81; typed from the scoring chart."""
    game = played(GOLDEN / "box.txt")
    assert game.state.scores == [83, 115, 0]
    assert game.winner is not None and game.winner.name == "Ben"
    assert game.state.turns == 5


def test_where_an_oinker_costs_the_turn_the_third_player_keeps_her_points() -> None:
    assert played(GOLDEN / "box.txt", oinker_costs="turn").state.scores == [83, 115, 81]

"""Games for the tests, in few words."""

from __future__ import annotations

from collections.abc import Sequence

from physim.game.game import Game, read_move
from physim.game.game_state import start
from physim.rules.ruleset import load_rules

NAMES = ("Ana", "Ben", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida", "Jon", "Kim", "Lea")


def begin(scores: Sequence[int], rules: str = "box", first: str = "Ana", **changes: object) -> Game:
    names = NAMES[: len(scores)]
    return Game(start(load_rules(rules, changes), names, scores, first=first))


def do(game: Game, *moves: str) -> Game:
    for move in moves:
        game.do(read_move(move, game.players, game.start.rules))
    return game


def winner(game: Game) -> str | None:
    return None if game.winner is None else game.winner.name

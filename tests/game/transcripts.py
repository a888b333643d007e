"""Plays a golden file's moves and writes it anew: moves as typed, and what they did."""

from __future__ import annotations

import re
from pathlib import Path

from physim.game.game import Game, read_move, standings, tell
from physim.game.game_state import start
from physim.rules.ruleset import load_rules

GOLDEN = Path(__file__).with_name("golden")
MOVE = "> "


def game_of(text: str) -> Game:
    """The game before the first move."""
    head = dict(line.split(": ", 1) for line in text.splitlines()[:2])
    players = re.findall(r"(\w+) (\d+)", head["players"])
    names, scores = zip(*players, strict=True)
    return Game(start(load_rules(head["rules"]), names, [int(score) for score in scores]))


def moves_of(text: str) -> list[str]:
    return [line[len(MOVE) :] for line in text.splitlines() if line.startswith(MOVE)]


def transcript(text: str) -> list[str]:
    game = game_of(text)
    lines = text.splitlines()[:2]
    for move in moves_of(text):
        before = game.state.copy()
        event = read_move(move, game.players, game.start.rules)
        game.do(event)
        lines += [MOVE + move, *tell(game.start, before, event, game.state)]
    return [*lines, standings(game.start, game.state)]

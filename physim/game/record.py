"""A game as JSON: everything it began with, rules included, and its log."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from physim.errors import ConfigError, GameError
from physim.files import read_plain, told, write_whole
from physim.game.game import Game
from physim.game.game_state import Banked, Called, Corrected, Event, Points, Removed, Thrown
from physim.game.players import Player, Start, start
from physim.rules.ruleset import from_options, to_options
from physim.rules.throws import Throw
from physim.types import Outcome, Pose

FORMAT = "physim game 1"
MAX_BYTES = 10_000_000  # a game of a thousand turns has 200 kB


def to_json(game: Game) -> dict[str, Any]:
    """The game as plain values."""
    begun = game.start
    return {
        "format": FORMAT,
        "rules": begun.rules.name,
        "options": to_options(begun.rules),
        "players": [
            {"id": player.id, "name": player.name, "score": score}
            for player, score in zip(begun.players, begun.scores, strict=True)
        ],
        "first": begun.players[begun.first].id,
        "events": [event_to_json(event) for event in game.events],
    }


def from_json(data: Any, where: str = "the game") -> Game:
    """A game from what `to_json` returned, replayed move by move.

    Raises:
        GameError: no saved game, or one whose moves the rules do not allow.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise GameError(f"{where}: is no game saved by this version of physim ({FORMAT})")
    number = 0  # of the event at work, for the message
    try:
        rules = from_options(str(data["rules"]), data["options"], where)
        names = [player["name"] for player in data["players"]]
        scores = [player["score"] for player in data["players"]]
        checked = start(rules, names, scores, first=names[0])
        players = tuple(Player(_text(one, "id"), one["name"]) for one in data["players"])
        if len({player.id for player in players}) != len(players):
            raise GameError("two players of one id")
        begun = Start(rules, players, checked.scores)
        game = Game(replace(begun, first=begun.seat(data["first"])))
        for event in data["events"]:
            number += 1
            game.do(event_from_json(event))
    except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise GameError(
            f"{where}: is damaged{f' at event {number}' if number else ''} "
            f"({type(error).__name__}: {error}); restore a copy, or start a new game"
        ) from error
    except (ConfigError, GameError) as error:
        at = f" at event {number}" if number else ""
        raise GameError(f"{where}: cannot be replayed{at}: {error}") from error
    return game


def save(game: Game, path: Path, more: Mapping[str, Any] | None = None) -> None:
    """Writes the game so that a kill leaves the old file or the new one.

    Args:
        game: to be saved.
        path: of the file.
        more: plain values to keep beside it, under keys that `to_json` does not use.

    Raises:
        OSError: a full disk, or a folder that cannot be written to.
    """
    data = {**(more or {}), **to_json(game)}
    write_whole(path, (json.dumps(data, indent=1) + "\n").encode())


def load(path: Path) -> Game:
    """Reads a saved game.

    Raises:
        GameError: no such file, or not a saved game.
    """
    return from_json(read(path), str(path))


def read(path: Path) -> Any:
    """The plain values of a saved game, for `from_json`, and what was kept beside it.

    Raises:
        GameError: no such file, or no JSON.
    """
    with told(GameError, f"{path}: cannot be read", "see to its permissions"):
        there = path.is_file()
    if not there:
        raise GameError(f"{path}: no saved game there")
    content = read_plain(path, GameError, "name the file of a saved game", MAX_BYTES)
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise GameError(f"{path}: is no saved game ({error})") from error


def event_to_json(event: Event) -> dict[str, Any]:
    """One line of the log."""
    if isinstance(event, Thrown):
        throw = event.throw
        line = {"event": "throw", "outcome": throw.outcome.value, "points": throw.points}
        return line if throw.poses is None else {**line, "poses": [p.value for p in throw.poses]}
    if isinstance(event, Called):
        return {"event": "call", "player": event.player, "prediction": event.prediction}
    if isinstance(event, Points):
        return {"event": "points", "points": event.points}
    if isinstance(event, Removed):
        return {"event": "remove", "player": event.player}
    if isinstance(event, Corrected):
        return {"event": "correct", "player": event.player, "score": event.score}
    return {"event": "bank"}


def event_from_json(line: Mapping[str, Any]) -> Event:
    """The event of one line.

    Raises:
        KeyError, TypeError, ValueError: a line that `event_to_json` does not write.
    """
    readers: dict[str, Callable[[], Event]] = {
        "throw": lambda: Thrown(_throw(line)),
        "call": lambda: Called(_text(line, "player"), _text(line, "prediction")),
        "points": lambda: Points(_whole(line, "points")),
        "remove": lambda: Removed(_text(line, "player")),
        "correct": lambda: Corrected(_text(line, "player"), _whole(line, "score")),
        "bank": Banked,
    }
    return readers[line["event"]]()


def _throw(line: Mapping[str, Any]) -> Throw:
    points = None if line["points"] is None else _whole(line, "points")
    poses = None
    if "poses" in line:
        black, pink = line["poses"]
        poses = (Pose(black), Pose(pink))
    return Throw(Outcome(line["outcome"]), points, poses)


def _whole(line: Mapping[str, Any], key: str) -> int:
    value = line[key]
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"`{key}` is no whole number")
    return value


def _text(line: Mapping[str, Any], key: str) -> str:
    value = line[key]
    if not isinstance(value, str):
        raise ValueError(f"`{key}` is no text")
    return value

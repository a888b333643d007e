"""A game as JSON: everything it began with, rules included, and its log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from physim.errors import ConfigError, GameError
from physim.files import read_plain, write_whole
from physim.game.game import Game
from physim.game.game_state import Banked, Called, Corrected, Event, Points, Removed, Thrown, start
from physim.rules.ruleset import from_options, to_options
from physim.rules.score import Throw
from physim.types import Outcome, Pose

FORMAT = "physim game 1"
MAX_BYTES = 10_000_000  # a game of a thousand turns has 200 kB
_EVENTS: dict[str, type[Event]] = {
    "throw": Thrown,
    "call": Called,
    "points": Points,
    "remove": Removed,
    "correct": Corrected,
    "bank": Banked,
}
_NAMES = {kind: name for name, kind in _EVENTS.items()}


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
        "events": [_event_to_json(event) for event in game.events],
    }


def from_json(data: Any, where: str = "the game") -> Game:
    """A game from what `to_json` returned, replayed move by move.

    Raises:
        GameError: no saved game, or one whose moves the rules do not allow.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise GameError(f"{where}: is no game saved by this version of physim ({FORMAT})")
    at = ""  # the event at work, for the message
    try:
        rules = from_options(str(data["rules"]), data["options"], where)
        ids, names, scores = (
            [player[key] for player in data["players"]] for key in ("id", "name", "score")
        )
        begun = start(rules, names, scores, first=names[0])
        if ids != [player.id for player in begun.players]:
            raise GameError("the ids of its players are not p1, p2 and so on")
        game = Game(replace(begun, first=begun.seat(data["first"])))
        for number, event in enumerate(data["events"], start=1):
            at = f" at event {number}"
            game.do(_event_from_json(event))
    except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise GameError(
            f"{where}: is damaged{at} ({type(error).__name__}: {error}); restore a copy, or start "
            "a new game"
        ) from error
    except (ConfigError, GameError) as error:
        raise GameError(f"{where}: cannot be replayed{at}: {error}") from error
    return game


def save(game: Game, path: Path, more: Mapping[str, Any] | None = None) -> None:
    """Writes the game, and plain values beside it, so that a kill leaves the old file or the new.

    Raises:
        OSError: a full disk, or a folder that cannot be written to.
    """
    data = {**(more or {}), **to_json(game)}
    write_whole(path, (json.dumps(data, indent=1) + "\n").encode())


def load(path: Path) -> Game:
    """Reads a saved game; raises GameError for any other file."""
    return from_json(read(path), str(path))


def read(path: Path) -> Any:
    """The plain values of a saved game, for `from_json`, and what was kept beside it.

    Raises:
        GameError: no such file, or no JSON.
    """
    if not path.is_file():
        raise GameError(f"{path}: no saved game there")
    content = read_plain(path, GameError, "name the file of a saved game", MAX_BYTES)
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise GameError(f"{path}: is no saved game ({error})") from error


def _event_to_json(event: Event) -> dict[str, Any]:
    """One line of the log."""
    line = {"event": _NAMES[type(event)]}
    if not isinstance(event, Thrown):
        return line | vars(event)
    throw = event.throw
    poses = {} if throw.poses is None else {"poses": [pose.value for pose in throw.poses]}
    return line | {"outcome": throw.outcome.value, "points": throw.points} | poses


def _event_from_json(line: Mapping[str, Any]) -> Event:
    """The event of one line; raises KeyError, TypeError or ValueError for any other."""
    kind = _EVENTS[line["event"]]
    if kind is Thrown:
        points, poses = line["points"], None
        if points is not None:
            _check_type(points, "int")
        if "poses" in line:
            black, pink = line["poses"]
            poses = (Pose(black), Pose(pink))
        return Thrown(Throw(Outcome(line["outcome"]), points, poses))
    for field in fields(kind):
        _check_type(line[field.name], field.type)
    return kind(**{field.name: line[field.name] for field in fields(kind)})


def _check_type(value: object, wanted: object) -> None:
    if type(value).__name__ != wanted:
        raise TypeError(f"{value!r} is no {wanted}")

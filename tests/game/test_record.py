"""Saved games that are damaged or made up are refused with the file's name."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from games import begin, do

from physim.errors import GameError
from physim.game.record import from_json, load, to_json


def plain() -> dict[str, Any]:
    game = do(begin([5, 30]), "call Ben trotter snouter", "trotter snouter", "bank")
    data: dict[str, Any] = json.loads(json.dumps(to_json(game)))
    return data


@pytest.mark.parametrize(
    ("keys", "value", "says"),
    [
        (("format",), "physim game 0", "no game saved by this version"),
        (("options", "target"), -1, "`target` must be a whole number"),
        (("options", "oinker_costs"), "nothing", "must be one of"),
        (("players", 0, "score"), 100, "below the target"),
        (("players", 0, "score"), "5", "points from 0 to 99"),
        (("players", 1, "id"), "p1", "ids of its players"),
        (("players", 1, "name"), "Ana", "two players are called Ana"),
        (("players",), [], "is damaged"),
        (("first",), "p9", "no player `p9`"),
        (("events", 0, "event"), "fly", "is damaged at event 1"),
        (("events", 0, "prediction"), "pig_out", "at event 1: `pig_out` cannot be called"),
        (("events", 0, "player"), "p1", "at event 1: Ana has the pigs"),
        (
            ("events", 1, "points"),
            16,
            "at event 2: mixed_combo by trotter, snouter cannot be worth 16",
        ),
        (("events", 1, "poses"), ["trotter", "trotter"], "mixed_combo by trotter, trotter cannot"),
        (("events", 1, "points"), True, "is damaged at event 2"),
        (("events", 1, "outcome"), "flying", "is damaged at event 2"),
        (("events", 1, "poses"), ["trotter"], "is damaged at event 2"),
        (("events", 1), 5, "is damaged at event 2"),
        (("events",), None, "is damaged"),
    ],
)
def test_damage_is_told(keys: tuple[Any, ...], value: object, says: str) -> None:
    data = plain()
    assert to_json(from_json(copy.deepcopy(data))) == data
    place: Any = data
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    with pytest.raises(GameError, match=says):
        from_json(data, "saved.json")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "saved.json"
    file.write_bytes(content)
    with pytest.raises(GameError, match=r"saved\.json: is no"):
        load(file)


def test_no_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(GameError, match="no saved game there"):
            load(path)

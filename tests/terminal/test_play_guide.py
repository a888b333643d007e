"""docs/play.md: its session is what the pad does; its options, moves and entries are all there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from physim.cli.play import play, scorepad
from physim.cli.roll import roll
from physim.terminal import game_loop
from physim.terminal import scorepad as pad
from physim.terminal.scorepad import read_entry
from tests.game.games import begin
from tests.terminal.commands import Desk

GUIDE = (Path(__file__).parents[2] / "docs" / "play.md").read_text(encoding="utf-8")


def first_column(title: str) -> list[str]:
    """The names in the first column of the table under that head."""
    _, _, rest = GUIDE.partition(f"| {title} |")
    rows, _, _ = rest.partition("\n\n")
    cells = [line.split("|")[1] for line in rows.splitlines()[2:]]
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def test_the_session_is_what_the_pad_does(desk: Desk) -> None:
    (session,) = re.findall(r"^```\n\$ physim (.*?)^```", GUIDE, re.M | re.S)
    command, _, told = session.partition("\n")
    typed = re.findall(r"^> (.*)$", told, re.M)
    code, out, err = desk.run(*command.split(), typed=";".join(typed))
    assert (code, out, err) == (0, told, "")


def test_every_option_that_is_named_is_one() -> None:
    known = {
        name
        for command in (play, scorepad, roll)
        for option in command.params
        for name in (*option.opts, *option.secondary_opts)
    }
    named = set(re.findall(r"(?<!-)--[a-z][a-z-]*", GUIDE))
    assert named and named <= known


def test_every_move_and_entry_is_told() -> None:
    moves = {name.split()[0] for name in first_column("move")}
    assert set(game_loop.WORDS) <= moves
    entries = {name.split()[0] for name in first_column("entry")}
    assert set(pad.WORDS) <= entries


@pytest.mark.parametrize(
    "entry",
    [
        e
        for e in first_column("entry")
        if e not in ("undo", "redo", "turns", "scores", "help", "quit", "bank", "b")
    ],
)
def test_every_entry_can_be_made(entry: str) -> None:
    game = begin([30, 40])
    line = entry.replace("call NAME", "call Ben").replace("NAME", "Ana")
    if line == "-1":
        game.do(read_entry("5", game)[0])
    for event in read_entry(line, game):
        game.do(event)
    assert game.events

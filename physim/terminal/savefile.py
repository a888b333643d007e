"""The file of a game that people play: written after every move, and read to go on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from physim.errors import GameError, PhysimError, shown_name
from physim.files import beside, locked, real_path, replaced, told, writable
from physim.game.game import Game, standings, tell
from physim.game.game_state import Event
from physim.game.record import from_json, read, save
from physim.rules.ruleset import predictions
from physim.terminal.console import Console

_KEY, _OPTIONS, _WON = "kept_by", "begun_with", "won"
_OTHER_FILE = "name another file with --save FILE"
OTHERWISE = f"{_OTHER_FILE}, or begin anew with --new"


class Stopped(GameError):
    """The game cannot go on; of any other error somebody is told, and asked again."""


@dataclass(frozen=True)
class SavedGame:
    """A game and its file."""

    game: Game
    path: Path
    command: str  # that keeps it: `play` or `scorepad`
    options: Mapping[str, Any]  # plain values that the command needs to go on
    won: Mapping[str, int] = field(default_factory=dict)  # earlier games of the evening, by name

    def save(self) -> None:
        """Writes the file: the old one stays until the new one is whole, or Stopped tells why."""
        remedy = f"{_OTHER_FILE}; what was saved before is untouched"
        with told(Stopped, f"{self.path}: the game cannot be saved there", remedy):
            more = {_KEY: self.command, _OPTIONS: dict(self.options), _WON: dict(self.won)}
            save(self.game, self.path, more)

    def games_won(self) -> dict[str, int]:
        """How many games of the evening each name has won, this one included."""
        won, winner = dict(self.won), self.game.winner
        if winner is not None:
            won[winner.name] = won.get(winner.name, 0) + 1
        return won

    def evening(self) -> str:
        """The games won in one line; empty before the first."""
        told = ", ".join(f"{name} {count}" for name, count in self.games_won().items())
        return told and f"Games won this evening: {told}."

    def save_new(self) -> None:
        """Writes a new game; what was in its file becomes `NAME.old`, or stays where that fails."""
        what = f"{self.path}: cannot be put aside"
        with told(GameError, what, _OTHER_FILE), ExitStack() as aside:
            path = real_path(self.path)
            writable(path)
            if path.is_file():  # a copy, so that the new game has the old one's mode
                old = aside.enter_context(replaced(path.with_name(f"{path.name}.old"), like=path))
                shutil.copyfile(path, old)
            self.save()


class Session:
    """A saved game and who is asked: makes moves, each saved before it is told."""

    def __init__(self, saved: SavedGame, console: Console) -> None:
        self.saved, self.game, self.console = saved, saved.game, console

    def ask(self, prompt: str, words: Collection[str]) -> str:
        """A line that somebody types; `words`, names and calls may be completed."""
        start = self.game.start
        names = [player.name for player in start.players]
        words = [*words, *names, *predictions(start.rules)]
        return self.console.ask(prompt, standings(start, self.game.state), words).strip()

    def attempt(self, line: str) -> None:
        """Does what somebody typed, or tells them why not; a game that cannot go on is raised."""
        try:
            self._enter(line)
        except Stopped:
            raise
        except PhysimError as error:
            self.console.say(f"No: {error}")

    def _enter(self, line: str) -> None:
        raise NotImplementedError

    def undo(self) -> Event:
        """Takes the last move back, saves the game, tells, and returns the move.

        Raises:
            GameError: nothing has happened yet.
            Stopped: the game cannot be saved.
        """
        game, after = self.game, self.game.state.copy()
        event = game.undo()
        self.saved.save()
        self.console.say(f"Taken back: {tell(game.start, game.state, event, after)[0]}")
        return event

    def make(self, *events: Event) -> list[str]:
        """Makes moves, saves the game, and returns what they did.

        Raises:
            PhysimError: the first is not allowed now; nothing has changed.
            Stopped: the game cannot be saved.
        """
        lines = []
        for event in events:
            before = self.game.state.copy()
            self.game.do(event)
            lines += tell(self.game.start, before, event, self.game.state)
        self.saved.save()
        return lines


@contextmanager
def sole_keeper(path: Path) -> Iterator[None]:
    """Keeps other processes out of a game's file meanwhile, by a lock file beside it.

    Raises:
        GameError: another one has it open, or no game can be saved there.
    """
    with told(GameError, f"{path}: a game cannot be saved there", _OTHER_FILE):
        if path.is_dir():
            raise GameError(f"{path}: is a folder; {_OTHER_FILE}")
        lock = beside(real_path(path), ".lock")
        held = _opened(lock)
    if held is None:
        raise GameError(
            f"{path}: another process has this game open; go on there, or {_OTHER_FILE}"
        )
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)  # while it is held: whoever waits for it looks again
        os.close(held)


def _opened(lock: Path) -> int | None:
    """The lock file, open and locked; None where another process has it."""
    while True:
        held = os.open(lock, os.O_CREAT | os.O_RDWR, 0o666)
        free = locked(held)
        with suppress(FileNotFoundError):  # removed by who held it, just now
            if free and os.path.samestat(os.fstat(held), lock.stat()):
                return held
        os.close(held)
        if not free:
            return None


def take_up(
    path: Path,
    command: str,
    names: Collection[str],
    begin: Callable[[SavedGame | None], SavedGame],
    *,
    new: bool,
) -> tuple[SavedGame, bool]:
    """The game that a file holds, or else a new one that is not saved yet; and whether it is new.

    Args:
        path: of the file.
        command: that keeps it.
        names: of the options that an old one must have been kept with.
        begin: begins a new game after the one that the file holds, which may be None.
        new: begins a new one whatever the file holds.

    Raises:
        GameError: something else, or another command's game.
    """
    before = None
    try:
        before = _loaded(path, command, names)
    except GameError as error:
        if not new:
            raise GameError(f"{error}; {OTHERWISE}") from error
    return (begin(before), True) if before is None or new else (before, False)


def _loaded(path: Path, command: str, names: Collection[str]) -> SavedGame | None:
    """The game of a file; None where there is none."""
    if not path.exists():
        return None
    data = read(path)
    game = from_json(data, str(path))
    kept_by, options = data.get(_KEY), data.get(_OPTIONS)
    if kept_by != command:
        whose = "" if kept_by is None else f" but of `physim {shown_name(kept_by)}`"
        raise GameError(f"{path}: no game of `physim {command}`{whose}")
    if not isinstance(options, dict) or set(names) - set(options):
        raise GameError(f"{path}: is damaged (`{_OPTIONS}`)")
    won = data.get(_WON, {})
    if not isinstance(won, dict) or any(type(count) is not int for count in won.values()):
        raise GameError(f"{path}: is damaged (`{_WON}`)")
    return SavedGame(game, path, command, options, won)

"""The file of a game that people play: written after every move, and read to go on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from physim.errors import ConfigError, GameError, shown, shown_name
from physim.files import beside, locked, real_path, replaced, told, writable
from physim.game.game import Game
from physim.game.players import Start, start
from physim.game.record import from_json, read, save
from physim.rules.ruleset import FirstPlayer, RuleSet

_KEY, _OPTIONS = "kept_by", "begun_with"
_OTHER_FILE = "name another file with --save FILE"
_OTHERWISE = f"{_OTHER_FILE}, or begin anew with --new"


@dataclass(frozen=True)
class SavedGame:
    """A game and its file.

    Attributes:
        game: under way, or over.
        path: of the file.
        command: that keeps it: `play` or `scorepad`.
        options: plain values that the command needs to go on.
    """

    game: Game
    path: Path
    command: str
    options: Mapping[str, Any]

    def save(self) -> None:
        """Writes the file: the old one stays until the new one is whole.

        Raises:
            GameError: it cannot be written.
        """
        remedy = f"{_OTHER_FILE}; what was saved before is untouched"
        with told(GameError, f"{self.path}: the game cannot be saved there", remedy):
            save(self.game, self.path, {_KEY: self.command, _OPTIONS: dict(self.options)})


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
        with ExitStack() as undo:
            held = os.open(lock, os.O_CREAT | os.O_RDWR, 0o666)
            undo.callback(os.close, held)
            if not locked(held):
                return None
            with suppress(FileNotFoundError):  # removed by who held it, just now
                if os.path.samestat(os.fstat(held), lock.stat()):
                    undo.pop_all()
                    return held


def load(path: Path, command: str, names: Collection[str]) -> SavedGame | None:
    """Reads a game; None where there is no such file.

    Args:
        path: of the file.
        command: that keeps it.
        names: of the options that it must have been kept with.

    Raises:
        GameError: something else, or another command's game.
    """
    if not path.exists():
        return None
    try:
        data = read(path)
        game = from_json(data, str(path))
    except GameError as error:
        raise GameError(f"{error}; {_OTHERWISE}") from error
    kept_by, options = data.get(_KEY), data.get(_OPTIONS)
    if kept_by != command:
        whose = "" if kept_by is None else f" but of `physim {shown_name(kept_by)}`"
        raise GameError(f"{path}: no game of `physim {command}`{whose}; {_OTHERWISE}")
    if not isinstance(options, dict) or set(names) - set(options):
        raise GameError(f"{path}: is damaged (`{_OPTIONS}`); {_OTHERWISE}")
    return SavedGame(game, path, command, options)


def take_up(
    path: Path, command: str, names: Collection[str], *, new: bool
) -> tuple[SavedGame | None, SavedGame | None]:
    """The game to go on with, or else the one that a new game comes after; raises as `load`."""
    if not new:
        return load(path, command, names), None
    try:
        return None, load(path, command, names)
    except GameError:  # whatever it is, it is put aside
        return None, None


def check_same(path: Path, given: Mapping[str, Any], kept: Mapping[str, Any]) -> None:
    """Refuses options that differ from those that the game was begun with.

    Raises:
        ConfigError: one that differs.
    """
    for name, value in given.items():
        if name in kept and kept[name] != value:
            raise ConfigError(
                f"{path} holds a game that was begun with {name} {shown(kept[name])}, not "
                f"{shown(value)}; leave the option out to go on with it, or {_OTHERWISE}"
            )


def save_new(saved: SavedGame) -> None:
    """Writes a new game; what was in its file becomes `NAME.old`.

    Raises:
        GameError: it cannot be written; then the file is as it was.
    """
    path = saved.path
    with told(GameError, f"{path}: cannot be put aside", _OTHER_FILE), ExitStack() as aside:
        path = real_path(path)
        writable(path)
        if path.is_file():  # a copy, so that the new game has the old one's mode
            old = aside.enter_context(replaced(path.with_name(f"{path.name}.old"), like=path))
            shutil.copyfile(path, old)
        saved.save()


def begin(
    rules: RuleSet,
    names: Sequence[str],
    first: str | None,
    rng: np.random.Generator,
    before: SavedGame | None = None,
) -> Start:
    """A new game; where first players rotate, the next one after the game before begins.

    Args:
        rules: of the game.
        names: of the players.
        first: who begins; None leaves it to the rules.
        rng: draws the first player, where the rules say so.
        before: the game that the players had before.

    Raises:
        GameError: players that the game cannot have.
    """
    number = 0
    if before is not None and rules.first_player is FirstPlayer.ROTATION:
        same = [player.name for player in before.game.players] == list(names)
        number = before.game.start.first + 1 if same else 0
    return start(rules, names, first=first, game_number=number, rng=rng)

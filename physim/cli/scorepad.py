"""`physim scorepad`: keeps score for real pigs; prints a score sheet."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from physim.cli.game import (
    given_options,
    how_to_go_on,
    players_option,
    rules_of,
    rules_options,
    save_options,
    specs_of,
)
from physim.cli.options import file_path, whole_number
from physim.cli.output import clean_stdout
from physim.errors import ConfigError

if TYPE_CHECKING:
    from physim.rules.ruleset import RuleSet
    from physim.terminal.savefile import SavedGame

COMMAND = "scorepad"
FILE = "physim-scorepad.json"
MAX_ROUNDS = 60  # lines on a page that can be written in


@click.command()
@players_option("At least two people, in the order of turns.")
@click.option("--first", metavar="NAME", help="Who begins, in place of what the rules say.")
@save_options(FILE)
@click.option(
    "--sheet",
    type=file_path,
    metavar="FILE.pdf",
    help="Write an empty score sheet to print, and keep no score. Without --players, the names "
    "are left blank.",
)
@click.option(
    "--rounds",
    type=whole_number(1, MAX_ROUNDS),
    default=24,
    show_default=True,
    metavar="N",
    help="Lines of the sheet.",
)
@rules_options
@click.pass_context
def scorepad(
    context: click.Context,
    /,
    *,
    players: tuple[str, ...],
    more_players: tuple[str, ...],
    save: Path,
    new: bool,
    sheet: Path | None,
    rounds: int,
    **names: Any,
) -> None:
    """Keep score for real pigs on a real table.

    Enter how the pigs lie, or points; `help` lists it all. Each entry is saved, and the same
    command again goes on with the game.
    """
    given = given_options(context, names)
    named = specs_of(players, more_players)
    if named:
        given["players"] = named
    from physim.terminal.savefile import check_same, save_new, sole_keeper, take_up

    if sheet is not None:
        _write_sheet(
            sheet, named, rules_of(names["rules"], names["target"], names["changes"]), rounds
        )
        return
    with clean_stdout() as stdout, sole_keeper(save):
        saved, before = take_up(save, COMMAND, {*names, "players"}, new=new)
        if saved is None:
            saved = _begin(save, named, names, before)
            save_new(saved)
        else:
            check_same(save, given, saved.options)
        _keep(saved, stdout)


def _keep(saved: SavedGame, stdout: TextIO) -> None:
    from physim.terminal.console import open_console
    from physim.terminal.scorekeeping import Pad

    path, rules = saved.path, saved.game.start.rules
    console = open_console(stdout)
    console.say(
        f"To {rules.target}, rules {rules.name}; saved in {path} after every entry. `help` lists "
        "them."
    )
    kept = f"The score is kept in {path}; {how_to_go_on(COMMAND, path, FILE)}"
    try:
        with suppress(EOFError):
            Pad(saved, console).keep()
    except KeyboardInterrupt as stop:
        raise type(stop)(f"interrupted. {kept}") from None
    console.say(kept)


def _begin(
    path: Path, players: list[str], names: dict[str, Any], before: SavedGame | None
) -> SavedGame:
    """A new game, not saved yet."""
    import numpy as np

    from physim.game.game import Game
    from physim.terminal.savefile import SavedGame, begin

    if not players:
        raise ConfigError(
            f"{path}: no game is kept there yet; name the players with --players Ana Ben, or "
            "another file with --save FILE"
        )
    rules = rules_of(names["rules"], names["target"], names["changes"])
    rng = np.random.default_rng()  # who begins among real people need not be repeatable
    start = begin(rules, players, names["first"], rng, before)
    options = {**names, "changes": list(names["changes"]), "players": players}
    return SavedGame(Game(start), path, COMMAND, options)


def _write_sheet(path: Path, players: list[str], rules: RuleSet, rounds: int) -> None:
    from physim.terminal.sheet import check_sheet, write_sheet

    check_sheet(path)
    with clean_stdout() as stdout:
        write_sheet(path, rules, players, rounds)
        stdout.write(f"{path}\n")

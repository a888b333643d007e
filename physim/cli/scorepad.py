"""`physim scorepad`: keeps score for real pigs; prints a score sheet."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    from physim.people.saved import SavedGame
    from physim.rules.ruleset import RuleSet

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
    with clean_stdout() as stdout:
        from physim.people.console import open_console
        from physim.people.pad import Pad
        from physim.people.saved import check_same, set_aside, take_up

        if sheet is not None:
            rules = rules_of(names["rules"], names["target"], names["changes"])
            _write_sheet(sheet, named, rules, rounds)
            stdout.write(f"{sheet}\n")
            return
        keys = {*names, "players"}
        saved, before = take_up(save, COMMAND, keys, new=new)
        if saved is None:
            saved = _begin(save, named, names, before)
            set_aside(save)
            saved.save()
        else:
            check_same(save, given, saved.options)
        console = open_console(stdout)
        rule_set = saved.game.start.rules
        console.say(f"To {rule_set.target}, rules {rule_set.name}; saved in {save} after every "
                    "entry. `help` lists them.")  # fmt: skip
        kept = f"The score is kept in {save}; {how_to_go_on(COMMAND, save, FILE)}"
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
    from physim.people.saved import SavedGame, begin

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
    from physim.people.sheet import check_sheet, write_sheet

    check_sheet(path)
    write_sheet(path, rules, players, rounds)

"""`physim play`: people and bots in the terminal."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from physim.arguments import whole
from physim.cli.game import (
    PHYSICS,
    given_options,
    how_to_go_on,
    players_option,
    rules_of,
    rules_options,
    save_options,
    solved,
    specs_of,
)
from physim.cli.options import SEED, pig_options
from physim.cli.output import clean_stdout
from physim.cli.throws import expected, open_throws, open_window
from physim.cli.tournament import STRATEGIES
from physim.errors import GameError
from physim.seeding import MAX_SEED

if TYPE_CHECKING:
    from physim.people.saved import SavedGame
    from physim.people.seats import Seat

COMMAND = "play"
FILE = "physim-play.json"
PLAYERS = ("Guest", "score_aware")


@click.command()
@players_option(
    f"People by their names, bots by their strategies ({STRATEGIES}). Without it, "
    f"{' and '.join(PLAYERS)}."
)
@click.option("--first", metavar="NAME", help="Who begins, in place of what the rules say.")
@save_options(FILE)
@click.option(
    "--source",
    default=PHYSICS,
    show_default=True,
    metavar="NAME|DIR|FILE",
    help="Where throws come from: physics, kern2006 (real rolls), a dataset, or a file with a "
    "throw a line.",
)
@click.option(
    "--odds",
    metavar="NAME|DIR",
    help="What risk and advice go by: kern2006 or a dataset. Without it the source's own; of "
    "physics and of a script kern2006.",
)
@click.option(
    "--pause/--no-pause",
    default=None,
    help="Wait before a bot's throw, to look and to call. Without it, in a terminal only.",
)
@click.option("--watch", is_flag=True, help="Show each roll in a window, as `physim watch` does.")
@click.option(
    "--seed", type=SEED, metavar="S", help="Fixes every throw. Without it, one is drawn and told."
)
@rules_options
@pig_options
@click.pass_context
def play(
    context: click.Context,
    /,
    *,
    players: tuple[str, ...],
    more_players: tuple[str, ...],
    save: Path,
    new: bool,
    pause: bool | None,
    watch: bool,
    **names: Any,
) -> None:
    """Play Pass the Pigs in the terminal: every roll is physics.

    Each move is saved; the same command again goes on with the game. Through pipes it reads a move
    a line and writes plain lines. `help` lists the moves.
    """
    given = given_options(context, names)
    named = specs_of(players, more_players)
    if named:
        given["players"] = named
    from physim.people.saved import check_same, sole_keeper, take_up

    with clean_stdout() as stdout, sole_keeper(save):
        keys = {*names, "players"}
        saved, before = take_up(save, COMMAND, keys, new=new)
        if saved is None:
            fresh = _begin(save, {**names, "players": named or list(PLAYERS)}, before)
            _play(fresh, stdout, pause, watch, fresh=True)
        else:
            check_same(save, given, saved.options)
            _play(saved, stdout, pause, watch, fresh=False)


def _begin(path: Path, options: dict[str, Any], before: SavedGame | None) -> SavedGame:
    """A new game, not saved yet."""
    from physim.game.game import Game
    from physim.people.saved import SavedGame, begin
    from physim.people.seats import read_seats
    from physim.seeding import stream

    if options["seed"] is None:
        options["seed"] = secrets.randbelow(MAX_SEED)
    rules = rules_of(options["rules"], options["target"], options["changes"])
    seats = read_seats(options["players"])
    start = begin(
        rules,
        [seat.name for seat in seats],
        options["first"],
        stream(options["seed"], MAX_SEED),  # no roll's
        before,
    )
    options["changes"] = list(options["changes"])
    return SavedGame(Game(start), path, COMMAND, options)


def _seats(saved: SavedGame) -> list[Seat]:
    """Who sits at the table, as the file has it twice.

    Raises:
        GameError: it does not agree with itself.
    """
    from physim.people.seats import read_seats

    players = saved.options["players"]
    if isinstance(players, list) and all(isinstance(name, str) for name in players):
        seats = read_seats(players)
        if [seat.name for seat in seats] == [player.name for player in saved.game.players]:
            return seats
    raise GameError(f"{saved.path}: its two lists of players differ; begin anew with --new")


def _play(
    saved: SavedGame, stdout: TextIO, pause: bool | None, watch: bool, *, fresh: bool
) -> None:
    from physim.game.narrate import standings
    from physim.people.advice import Adviser
    from physim.people.console import Terminal, open_console
    from physim.people.saved import save_new
    from physim.people.seats import make_bots
    from physim.people.table import Table

    game, options = saved.game, saved.options
    whole(f"{saved.path}: seed", options["seed"], 0, MAX_SEED)
    rules = game.start.rules
    if game.winner is not None:
        stdout.write(
            f"{saved.path}: that game is over, {game.winner.name} won it "
            f"({standings(game.start, game.state)}); --new begins another one\n"
        )
        return
    distribution = expected(options)
    adviser = Adviser(distribution, rules, lambda: solved(distribution, rules))
    _ = adviser.odds  # refuses what no game would end with
    bots = make_bots(_seats(saved), rules, distribution, lambda: adviser.solution)
    if watch:  # what is seen to rest is then what is counted, to the last bit
        options = {**options, "settle": "full"}
    with (
        open_throws(options, game.state.throws) as outcomes,
        open_window(options) if watch else nullcontext() as window,
    ):
        if fresh:
            save_new(saved)
        console = open_console(stdout)
        for text in _head(saved, distribution.name, fresh=fresh):
            console.say(text)
        wait = isinstance(console, Terminal) if pause is None else pause
        show = None if window is None else window.show
        table = Table(saved, bots, outcomes, adviser, console, pause=wait, show=show)
        kept = f"The game is kept in {saved.path}; {how_to_go_on(COMMAND, saved.path, FILE)}"
        try:
            if not table.play():
                console.say(kept)
        except EOFError:
            console.say(kept)
        except KeyboardInterrupt as stop:
            raise type(stop)(f"interrupted. {kept}") from None


def _head(saved: SavedGame, odds: str, *, fresh: bool) -> Sequence[str]:
    from physim.game.narrate import standings

    start, state, options = saved.game.start, saved.game.state, saved.options
    where = f"throws of {options['source']}, seed {options['seed']}, risks of {odds}"
    models = {options["black"] or options["model"], options["pink"] or options["model"]}
    if options["source"] == PHYSICS and options["odds"] is None and models != {"standard"}:
        where += ", the toy's (`--odds DIR` takes those of a dataset of your pigs)"
    lines = [f"To {start.rules.target}, rules {start.rules.name}; {where}.",
             f"Saved in {saved.path} after every move. `help` lists the moves."]  # fmt: skip
    if not fresh:
        moves = len(saved.game.events)
        lines.append(f"Going on after {moves} move{'s' * (moves != 1)}.")
    turn = f"{saved.game.current.name} {'begins' if fresh else 'has the pigs'}"
    call = state.call
    if call is not None:
        turn += f"; {start.players[call.caller].name} has called {call.prediction}"
    return [*lines, f"{standings(start, state)}. {turn}.", ""]

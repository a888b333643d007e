"""`physim play`: people and bots in the terminal.

Where the throws of a game of people come from: physics, a table, a dataset, or a script.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from physim.cli.game import (
    PHYSICS,
    distribution_of,
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
from physim.cli.strategy import STRATEGIES
from physim.config import text, whole
from physim.errors import ConfigError, GameError, hint, shown_name
from physim.files import read_plain, told
from physim.seeding import MAX_SEED

if TYPE_CHECKING:
    from physim.game.outcomes import Distribution, Outcomes
    from physim.terminal.game_loop import Seat
    from physim.terminal.savefile import SavedGame
    from physim.window.game_window import GameWindow

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
    from physim.terminal.savefile import check_same, sole_keeper, take_up

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
    from physim.seeding import stream
    from physim.terminal.game_loop import read_seats
    from physim.terminal.savefile import SavedGame, begin

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
    from physim.terminal.game_loop import read_seats

    players = saved.options["players"]
    if isinstance(players, list) and all(isinstance(name, str) for name in players):
        seats = read_seats(players)
        if [seat.name for seat in seats] == [player.name for player in saved.game.players]:
            return seats
    raise GameError(f"{saved.path}: its two lists of players differ; begin anew with --new")


def _play(
    saved: SavedGame, stdout: TextIO, pause: bool | None, watch: bool, *, fresh: bool
) -> None:
    from physim.game.game import standings
    from physim.terminal.advice import Adviser
    from physim.terminal.console import Terminal, open_console
    from physim.terminal.game_loop import Table, make_bots
    from physim.terminal.savefile import save_new

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
    from physim.game.game import standings

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


SETUP = ("model", "black", "pink", "toss", "height_mm", "surface", "time_step_s", "settle")
MAX_SCRIPT_BYTES = 1_000_000
_SCRIPT = "a script is a text with a throw a line"


def script_of(source: str) -> list[str] | None:
    """The throws of a file, one a line; None where the source is none.

    Raises:
        ConfigError: no such source, or a line that is no throw.
    """
    from physim.rules.throws import read_throw
    from physim.strategy.match import table_names

    path = Path(text("--source", source))
    if source in (*table_names(), PHYSICS):
        return None
    with told(ConfigError, f"--source {shown_name(source)}: cannot be read", "name another"):
        there, folder = path.exists(), path.is_dir()
    if folder:
        return None
    if not there:
        valid = [*table_names(), PHYSICS]
        raise ConfigError(
            f"unknown source `{shown_name(source)}`{hint(source, valid)} (valid: "
            f"{', '.join(valid)}, the folder of a dataset, or a file with a throw a line)"
        )
    try:
        content = read_plain(path, ConfigError, _SCRIPT, MAX_SCRIPT_BYTES)
        lines = content.decode("utf-8-sig").splitlines()
    except ValueError as error:
        raise ConfigError(f"{path}: is no text; a script has a throw a line") from error
    throws = []
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#"):
            try:
                read_throw(line)
            except ConfigError as error:
                raise ConfigError(f"{path}: line {number}: {error}") from error
            throws.append(line.strip())
    return throws


def expected(options: Mapping[str, Any]) -> Distribution:
    """The throws by which risk and advice are told: `--odds`, or the source's own.

    Physics and scripts have none of their own, so that the real rolls stand in.
    """
    source, odds = options["source"], options["odds"]
    if odds is None:
        own = source != PHYSICS and script_of(source) is None
        odds = source if own else "kern2006"
    if odds == PHYSICS:
        raise ConfigError(
            "--odds takes what was counted: kern2006, or a dataset that `physim batch` made"
        )
    return distribution_of(odds, 0, 0)


@contextmanager
def open_throws(options: Mapping[str, Any], thrown: int) -> Iterator[Outcomes]:
    """The throws of a game's options, those that it had already left out.

    A seed fixes them, so that a game that was killed goes on as it would have.
    """
    from physim.game.outcomes import Drawn, Rolled, Script
    from physim.seeding import stream

    source, seed = options["source"], options["seed"]
    script = script_of(source)
    if script is not None:
        yield Script(script[thrown:])
    elif source == PHYSICS:
        from physim.dataset.progress import ProgressLine

        with closing(ProgressLine(sys.stderr)) as line:
            line.begin("loading the pigs ...")
            from physim.dataset import preload  # noqa: F401
            from physim.dataset.plan import BatchPlan

            opened = BatchPlan(n=1, **_plan(options)).open()
        with opened as simulator:
            yield Rolled(simulator.roll(seed, index) for index in count(thrown))
    else:
        drawn = Drawn(distribution_of(source, 0, 0), stream(seed, 0))
        for _ in islice(count(), thrown):
            drawn.next_throw()
        yield drawn


def open_window(options: Mapping[str, Any]) -> GameWindow:
    """The window that shows the rolls of `open_throws`; they come out as they are counted there.

    Raises:
        ConfigError: throws that are no physics.
    """
    from physim.window.game_window import GameWindow

    if options["source"] != PHYSICS:
        raise ConfigError(
            f"--watch shows rolls of physics, not the throws of {shown_name(options['source'])}; "
            "leave one of --watch and --source out"
        )
    from physim.dataset.progress import ProgressLine

    with closing(ProgressLine(sys.stderr)) as line:
        line.begin("opening the window; without a graphics card it takes a while ...")
    return GameWindow(_plan(options))


def _plan(options: Mapping[str, Any]) -> dict[str, Any]:
    """What `BatchPlan` takes."""
    return {name: options[name] for name in ("seed", *SETUP)}

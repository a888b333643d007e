"""`physim play`: throws of physics, a table or a script; `physim scorepad`: of real pigs."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import fields
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from physim.cli.game_options import (
    PHYSICS,
    STRATEGIES,
    check_output,
    distribution_of,
    players_of,
    players_option,
    progress_line,
    rules_of,
    rules_options,
    save_options,
    solved,
)
from physim.cli.options import SEED, file_path, given_options, pig_options, whole_number
from physim.cli.output import clean_stdout
from physim.config import SetupOptions, text, whole
from physim.errors import ConfigError, GameError, shown_name
from physim.files import read_plain, told, write_whole
from physim.seeding import MAX_SEED

if TYPE_CHECKING:
    from physim.game.outcomes import Distribution
    from physim.rules.score import Throw
    from physim.terminal.console import Console
    from physim.terminal.savefile import SavedGame
    from physim.window.game_window import GameWindow

FILES = {"play": "physim-play.json", "scorepad": "physim-scorepad.json"}
PLAYERS = ("Guest", "score_aware")
RULES = ("rules", "target", "changes")  # the parameters of `rules_options`
SETUP = tuple(entry.name for entry in fields(SetupOptions))
MAX_SCRIPT_BYTES = 1_000_000
_REAL = "kern2006"


@click.command()
@players_option(
    f"People by their names, bots by their strategies ({STRATEGIES}). Without it, "
    f"{' and '.join(PLAYERS)}."
)
@save_options(FILES["play"])
@click.option(
    "--source",
    default=PHYSICS,
    metavar="NAME|DIR|FILE",
    help="Where throws come from: physics, kern2006 (real rolls), a dataset, or a file with a "
    "throw a line.",
)
@click.option(
    "--odds",
    metavar="NAME|DIR",
    help="Frequencies for risk and advice: kern2006 (real rolls) or a dataset. Without it the "
    "source's own; for physics and a script kern2006.",
)
@click.option(
    "--pause/--no-pause",
    default=None,
    help="Wait before a bot's throw, to look and to call. Without it, in a terminal only.",
)
@click.option("--watch", is_flag=True, help="Show each roll in a window, as `physim watch` does.")
@click.option("--seed", type=SEED, help="Fixes every throw. Without it, one is drawn and printed.")
@rules_options
@pig_options
def play(save: Path, new: bool, pause: bool | None, watch: bool, **options: Any) -> None:
    """Play Pass the Pigs in the terminal: every roll is physics.

    Each move is saved; the same command again goes on with the game. Through pipes it reads a move
    a line and writes plain lines. `help` lists the moves.
    """
    with _kept_game("play", save, new, options) as (saved, fresh, stdout):
        if saved.game.winner is None:
            _play(saved, stdout, pause, watch, fresh)
            return
        from physim.game.game import standings

        stdout.write(
            f"{saved.path}: that game is over, {saved.game.winner.name} won it "
            f"({standings(saved.game.start, saved.game.state)}); --new begins another one\n"
            f"{saved.evening()}\n"
        )


@click.command()
@players_option("At least two people, in the order of turns.")
@save_options(FILES["scorepad"])
@click.option(
    "--sheet",
    type=file_path,
    metavar="FILE.pdf",
    help="Write an empty score sheet to print, and keep no score. Without --players, the names "
    "are left blank.",
)
@click.option(
    "--csv",
    "table",
    type=file_path,
    metavar="FILE.csv",
    help="Write the turns of the game that is kept, a line each, and keep no score.",
)
@click.option(
    "--counts",
    type=file_path,
    metavar="FILE.csv",
    help="Write how often each pair of poses was entered (black, pink, rolls), and keep no score.",
)
@click.option(
    "--rounds", type=whole_number(1, 60), default=24, metavar="N", help="Lines of the sheet."
)
@click.option(
    "--paper",
    type=click.Choice(["A4", "Letter"], case_sensitive=False),
    default="A4",
    help="Size of the sheet.",
)
@rules_options
def scorepad(
    save: Path,
    new: bool,
    sheet: Path | None,
    table: Path | None,
    counts: Path | None,
    rounds: int,
    paper: str,
    **options: Any,
) -> None:
    """Keep score for real pigs on a real table.

    Enter how the pigs lie, or points; `help` lists it all. Each entry is saved, and the same
    command again goes on with the game.
    """
    if sheet is not None:
        from physim.terminal.scorepad import write_sheet

        check_output("--sheet", sheet, ".pdf")
        with clean_stdout() as stdout:
            write_sheet(sheet, rules_of(options), players_of(options), rounds, paper)
            stdout.write(f"{sheet}\n")
        return
    if table is not None or counts is not None:
        with clean_stdout() as stdout:
            _write_tables(save, {"--csv": table, "--counts": counts}, stdout)
        return
    from physim.terminal.console import Console
    from physim.terminal.scorepad import ScorePad

    with _kept_game("scorepad", save, new, options) as (saved, fresh, stdout):
        if fresh:
            saved.save_new()
        console, rules = Console(stdout), saved.game.start.rules
        console.say(
            f"To {rules.target}, rules {rules.name}; saved in {save} after every entry. `help` "
            "lists them."
        )
        if fresh and saved.won:
            console.say(saved.evening())
        _until_left(ScorePad(saved, console).keep, console, saved, "score")


def _write_tables(save: Path, wanted: Mapping[str, Path | None], stdout: TextIO) -> None:
    """Writes turns and counts of the game that is kept, and tells where they are."""
    from physim.game.record import load
    from physim.game.turns import counts_csv, turns_csv

    files = {option: path for option, path in wanted.items() if path is not None}
    for option, path in files.items():
        check_output(option, path, ".csv")
    game = load(save)
    counted, left_out = counts_csv(game)
    for option, path in files.items():
        content = counted if option == "--counts" else turns_csv(game)
        with told(ConfigError, f"{option} {path}: cannot be written", "name a file elsewhere"):
            write_whole(path, content.encode())
        missing = f": {left_out} entries do not tell both poses and are left out"
        stdout.write(f"{path}{missing if option == '--counts' and left_out else ''}\n")


@contextmanager
def _kept_game(
    command: str, path: Path, new: bool, options: dict[str, Any]
) -> Iterator[tuple[SavedGame, bool, TextIO]]:
    """The game that the file holds, or a new one, not saved yet; whether it is new; and stdout."""
    from physim.game.game import Game
    from physim.game.game_state import start
    from physim.seeding import stream
    from physim.terminal.savefile import SavedGame, sole_keeper, take_up

    options |= {"players": players_of(options), "changes": list(options["changes"])}
    given = {name: option for name, option in given_options().items() if name in options}

    def begin(before: SavedGame | None) -> SavedGame:
        """After a game the evening goes on: players, rules and options stay, but for those given.

        Where first players rotate, the next one begins.
        """
        rules, number, won = None, 0, {}
        if before is not None:
            won = before.games_won()
            rules = None if {*RULES} & {*given} else before.game.start.rules
            fresh = {"seed", "first", *given, *(RULES if "rules" in given else ())}
            options.update({k: v for k, v in before.options.items() if k not in fresh})
        if command == "play":
            from physim.terminal.game_loop import seat_names

            options["players"] = options["players"] or list(PLAYERS)
            if options["seed"] is None:
                options["seed"] = secrets.randbelow(MAX_SEED)
        names = seat_names(options["players"]) if command == "play" else options["players"]
        if not names:
            raise ConfigError(
                f"{path}: no game is kept there yet; name the players with --players Ana Ben, or "
                "another file with --save FILE"
            )
        earlier = [] if before is None else [player.name for player in before.game.players]
        if before is not None and earlier == names:
            number = before.game.start.first + 1
        won = won if {*earlier} & {*names} else {}  # other people: another evening
        # Who begins among real people need not be repeatable.
        rng = stream(options.get("seed", secrets.randbelow(MAX_SEED)), MAX_SEED)  # no roll's
        first, rules = options["first"], rules or rules_of(options)
        begun = start(rules, names, first=first, game_number=number, rng=rng)
        return SavedGame(Game(begun), path, command, options, won)

    with clean_stdout() as stdout, sole_keeper(path):
        saved, fresh = take_up(path, command, options, begin, new=new)
        if not fresh:
            _check_same(saved, options, given)
        yield saved, fresh, stdout


def _check_same(saved: SavedGame, options: Mapping[str, Any], given: Mapping[str, str]) -> None:
    """Refuses options by which a game would not go on as it began, by a ConfigError.

    What they come to is compared: `--target 100` and `--target faster` are the same.
    """
    from physim.game.game_state import plain_name, player_called
    from physim.terminal.savefile import OTHERWISE

    begun, game = saved.options, saved.game
    rules = {name: options[name] if name in given else begun[name] for name in RULES}
    rules["changes"] = [*begun["changes"], *options["changes"]]
    for name, option in given.items():
        value, before = options[name], begun[name]
        if name in RULES:
            same, before = rules_of(rules) == game.start.rules, f"rules {game.start.rules.name}"
            before += f" to {game.start.rules.target}" if name == "target" else ""
        elif name == "players":
            same = [*map(plain_name, value)] == [*map(plain_name, before)]
        elif name == "first":
            before = game.players[game.start.first].name
            same = player_called(value, game.players) == game.players[game.start.first]
        else:
            same = value == before
        if not same:
            old, new = (" ".join(x) if isinstance(x, list) else x for x in (before, value))
            old = f"without {option}" if old is None else f"with {option} {shown_name(old)}"
            if name in RULES:
                old = f"under {before}"
            raise ConfigError(
                f"{saved.path} holds a game that was begun {old}, not {option} {shown_name(new)}; "
                f"leave the option out to go on with it, or {OTHERWISE}"
            )


def _until_left(run: Callable[[], bool], console: Console, saved: SavedGame, what: str) -> None:
    """Runs a game, and says how to go on with it if it is not over."""
    file = "" if saved.path == Path(FILES[saved.command]) else f" --save {saved.path}"
    kept = f"The {what} is kept in {saved.path}; `physim {saved.command}{file}` goes on with it."
    over = False
    try:
        with suppress(EOFError):
            over = run()
    except KeyboardInterrupt as stop:
        raise type(stop)(f"interrupted. {kept}") from None
    if saved.game.winner is not None:
        console.say(saved.evening())
        console.say(f"`physim {saved.command}{file} --new` begins the next game.")
    if not over:
        console.say(kept)


def _play(saved: SavedGame, stdout: TextIO, pause: bool | None, watch: bool, fresh: bool) -> None:
    from physim.terminal.console import Console
    from physim.terminal.game_loop import Adviser, GameLoop, make_bots, seat_names

    game, options = saved.game, saved.options
    rules, players = game.start.rules, options["players"]
    whole(f"{saved.path}: seed", options["seed"], 0, MAX_SEED)
    named = isinstance(players, list) and all(isinstance(name, str) for name in players)
    if not named or seat_names(players) != [player.name for player in game.players]:
        raise GameError(f"{saved.path}: its two lists of players differ; begin anew with --new")
    distribution = expected(options)
    adviser = Adviser(distribution, rules, lambda: solved(distribution, rules))
    bots = make_bots(players, rules, distribution, lambda: adviser.solution)
    if watch:  # what is seen to rest is then what is counted, to the last bit
        options = {**options, "settle": "full"}
    with (
        open_throws(options, game.state.throws) as throws,
        open_window(options) if watch else nullcontext() as window,
    ):
        if fresh:
            saved.save_new()
        console = Console(stdout)
        for text in _head(saved, distribution.name, fresh):
            console.say(text)
        wait = console.terminal if pause is None else pause
        show = None if window is None else window.show
        loop = GameLoop(saved, console, bots, throws, adviser, pause=wait, show=show)
        _until_left(loop.play, console, saved, "game")


def _head(saved: SavedGame, odds: str, fresh: bool) -> Iterator[str]:
    from physim.game.game import standings

    game, options = saved.game, saved.options
    start, state = game.start, game.state
    risks = f"risks of {'the real rolls, ' * (odds == _REAL)}{odds}"
    where = f"throws of {options['source']}, seed {options['seed']}, {risks}"
    models = {options["black"] or options["model"], options["pink"] or options["model"]}
    if options["source"] == PHYSICS and options["odds"] is None and models != {"standard"}:
        where += ", the toy's (`--odds DIR` takes those of a dataset of your pigs)"
    yield f"To {start.rules.target}, rules {start.rules.name}; {where}."
    yield f"Saved in {saved.path} after every move. `help` lists the moves."
    if fresh and saved.won:
        yield saved.evening()
    if not fresh:
        moves = len(game.events)
        yield f"Going on after {moves} move{'s' * (moves != 1)}."
    turn = f"{game.current.name} {'begins' if fresh else 'has the pigs'}"
    if state.call is not None:
        turn += f"; {start.players[state.call.caller].name} has called {state.call.prediction}"
    yield f"{standings(start, state)}. {turn}."
    yield ""


def _is_script(source: str) -> bool:
    """Whether a source is the file of a script; the names of tables go first."""
    from physim.strategy.policies import TABLES

    return source not in TABLES and Path(source).is_file()


def _read_script(path: Path) -> list[Throw]:
    """The throws of a file, one a line; a ConfigError for a line that is none."""
    from physim.rules.score import read_throw

    remedy = "name a text with a throw a line"
    try:
        content = read_plain(path, ConfigError, remedy, MAX_SCRIPT_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is no text; {remedy}") from error
    throws = []
    for number, line in enumerate(content.splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            try:
                throws.append(read_throw(line))
            except ConfigError as error:
                raise ConfigError(f"{path}: line {number}: {error}") from error
    return throws


def expected(options: Mapping[str, Any]) -> Distribution:
    """The throws by which risk and advice are told: `--odds`, or the source's own.

    Physics and scripts have none of their own, so that the real rolls stand in.
    """
    source, odds = text("--source", options["source"]), options["odds"]
    if odds == PHYSICS:
        raise ConfigError(
            "--odds takes what was counted: kern2006, or a dataset that `physim batch` made"
        )
    if odds is None:
        odds = _REAL if source == PHYSICS or _is_script(source) else source
    return distribution_of(odds)


@contextmanager
def open_throws(options: Mapping[str, Any], thrown: int) -> Iterator[Iterator[Throw]]:
    """The throws of a game's options, those that it had already left out.

    A seed fixes them, so that a game that was killed goes on as it would have.

    Raises:
        ConfigError: pigs whose every roll would be rolled again, since no rule names how they lie.
    """
    from physim.game.outcomes import draws, throw_of_roll
    from physim.seeding import stream
    from physim.types import Pose

    source, seed = options["source"], options["seed"]
    if source != PHYSICS:
        if _is_script(source):
            yield iter(_read_script(Path(source))[thrown:])
        else:
            yield islice(draws(distribution_of(source), stream(seed, 0)), thrown, None)
        return
    with closing(progress_line()) as line:
        line.begin("loading the pigs ...")
        from physim.dataset import preload  # noqa: F401
        from physim.dataset.plan import BatchPlan

        rolls = BatchPlan(n=1, **_plan(options)).source()
        for body, table in zip(rolls.prepared.bodies, rolls.prepared.rests, strict=True):
            if all(named.pose is Pose.OTHER for named in table.rests):
                raise ConfigError(
                    f"the model `{body.model.name}` has no pose of the rules, so that a game would "
                    "never end; give it landmarks (docs/models.md), or take another model"
                )
        opened = rolls.open()
    with opened as simulator:
        yield (throw_of_roll(simulator.roll(seed, index)) for index in count(thrown))


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
    with closing(progress_line()) as line:
        line.begin("opening the window; without a graphics card it takes a while ...")
        return GameWindow(_plan(options))


def _plan(options: Mapping[str, Any]) -> dict[str, Any]:
    """What `BatchPlan` takes."""
    given = {name: options[name] for name in SETUP if name in options}  # old files know fewer
    return {"seed": options["seed"], **given}

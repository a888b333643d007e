"""What the commands of the game share: the throws, the rules, the players."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from physim.cli.options import SEED, file_path, whole_number
from physim.config import text
from physim.errors import ConfigError, hint, shown_name

if TYPE_CHECKING:
    from physim.dataset.progress import ProgressLine
    from physim.game.outcomes import Distribution
    from physim.rules.ruleset import RuleSet
    from physim.strategy.solver import Solution

Command = TypeVar("Command", bound=Callable[..., Any])
PHYSICS = "physics"
MAX_ROLLS = 10**8
PATIENCE_S = 3.0  # before a progress line appears

_RULES_OPTIONS = (
    click.option(
        "--rules",
        default="box",
        show_default=True,
        metavar="NAME|FILE",
        help="box, world_championship, table, wikipedia, or a YAML file.",
    ),
    click.option(
        "--target",
        metavar="N",
        help="Points to be reached, or faster (100), longer (500), in place of the rules' own.",
    ),
    click.option(
        "--rule",
        "changes",
        multiple=True,
        metavar="KEY=VALUE",
        help="Changes one option of the rules, such as oinker_costs=turn; give it once for each.",
    ),
)
_SOURCE_OPTIONS = (
    click.option(
        "--source",
        default="kern2006",
        show_default=True,
        metavar="NAME|DIR",
        help="Where throws come from: kern2006 (6,000 real rolls of two pigs), physics, or a "
        "dataset of `physim batch`.",
    ),
    click.option(
        "--rolls",
        type=whole_number(1, MAX_ROLLS),
        default=2_000,
        show_default=True,
        metavar="N",
        help="How many `--source physics` makes and counts.",
    ),
    click.option(
        "--seed", type=SEED, default=0, show_default=True, metavar="S", help="Fixes every result."
    ),
)


def rules_options(command: Command) -> Command:
    """`--rules`, `--target` and `--rule`; see `rules_of`."""
    for option in reversed(_RULES_OPTIONS):
        command = option(command)
    return command


def source_options(command: Command) -> Command:
    """`--source`, `--rolls` and `--seed`; see `distribution_of`."""
    for option in reversed(_SOURCE_OPTIONS):
        command = option(command)
    return command


def save_options(default: str) -> Callable[[Command], Command]:
    """`--save` and `--new`, as the parameters `save` and `new`."""

    def add(command: Command) -> Command:
        command = click.option(
            "--new",
            is_flag=True,
            help="Begin anew; the game that the file holds becomes FILE.old.",
        )(command)
        return click.option(
            "--save",
            type=file_path,
            default=default,
            show_default=True,
            metavar="FILE",
            help="The game's file, written after every move. If it is there, the game goes on.",
        )(command)

    return add


def given_options(context: click.Context, names: Mapping[str, Any]) -> dict[str, Any]:
    """Of these parameters the ones that stand on the command line, as values for JSON."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in names.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }


def how_to_go_on(command: str, path: Path, default: str) -> str:
    """What to type to take a game up again."""
    file = "" if path == Path(default) else f" --save {path}"
    return f"`physim {command}{file}` goes on with it."


def players_option(help_text: str) -> Callable[[Command], Command]:
    """`--players A B C`, as the parameters `players` and `more_players`; see `specs_of`.

    Click's options take a fixed number of values, so the first is the option's and the others are
    the command's arguments.
    """

    def add(command: Command) -> Command:
        command = click.argument("more_players", nargs=-1, metavar="")(command)
        return click.option("--players", multiple=True, metavar="A B ...", help=help_text)(command)

    return add


def specs_of(players: Sequence[str], more_players: Sequence[str]) -> list[str]:
    """The strategies that were named.

    Raises:
        ConfigError: arguments without `--players` before them.
    """
    if more_players and not players:
        raise ConfigError(
            f"unexpected argument `{shown_name(more_players[0])}`; players come after --players"
        )
    return [*players, *more_players]


def rules_of(rules: str, target: str | None, changes: Sequence[str]) -> RuleSet:
    """The rule set of the options.

    Raises:
        ConfigError: unknown rules, or an impossible value.
    """
    from physim.rules.ruleset import load_rules, read_change

    changed = dict(read_change(change) for change in changes)
    if target is not None:
        changed |= dict([read_change(f"target={text('--target', target)}")])
    return load_rules(rules, changed)


def progress_line(unit: str = "rolls") -> ProgressLine:
    """On stderr, for what takes longer than some seconds; silent until then."""
    from physim.dataset.progress import ProgressLine

    return ProgressLine(sys.stderr, unit, PATIENCE_S)


def solved(distribution: Distribution, rules: RuleSet) -> Solution:
    """The game of two, solved; tells how far it is.

    Raises:
        ConfigError: rules that the solver does not cover.
    """
    from physim.game.outcomes import odds
    from physim.strategy.solver import solve

    with closing(progress_line()) as line:
        return solve(odds(distribution, rules), rules, progress=line.note)


def distribution_of(source: str, rolls: int, seed: int) -> Distribution:
    """The throws that `--source` names.

    Raises:
        ConfigError: an unknown name.
        DatasetError: a folder that is no dataset, or a damaged one.
    """
    from physim.strategy.match import from_counts, from_table, table_names

    source = text("--source", source)
    if source in table_names():
        return from_table(source)
    if source == PHYSICS:
        import physim

        with closing(progress_line()) as line:
            counts = physim.batch(rolls, seed=seed, progress=line).counts
        return from_counts(f"physics (seed {seed})", counts)
    if not Path(source).is_dir():
        valid = [*table_names(), PHYSICS]
        raise ConfigError(
            f"unknown source `{shown_name(source)}`{hint(source, valid)} "
            f"(valid: {', '.join(valid)}, or the folder of a dataset)"
        )
    from physim.dataset.parquet import read_counts

    return from_counts(source, read_counts(Path(source)))

"""What the commands of the game share: the throws, the rules, the players, the saved game."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from physim.cli.options import Decorator, file_path, seed_option, stacked, whole_number
from physim.config import text
from physim.errors import ConfigError, hint, shown_name

if TYPE_CHECKING:
    from physim.dataset.progress import ProgressLine
    from physim.game.outcomes import Distribution
    from physim.rules.ruleset import RuleSet
    from physim.strategy.solver import Solution

PHYSICS = "physics"
STRATEGIES = "hold:N, rolls:N, greedy, score_aware:N, hog_caller:N, optimal"
PATIENCE_S = 3.0  # before a progress line appears


def players_option(help_text: str) -> Decorator:
    """`--players A B C`; see `players_of`.

    Click's options take a fixed number of values, so the first is the option's and the others are
    the command's arguments.
    """
    return stacked(
        click.option("--players", multiple=True, metavar="A B ...", help=help_text),
        click.argument("more_players", nargs=-1, metavar=""),
    )


rules_options = stacked(
    click.option(
        "--rules",
        default="box",
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
"""See `rules_of`."""
study_options = stacked(
    click.option(
        "--source",
        default="kern2006",
        metavar="NAME|DIR",
        help="Where throws come from: kern2006 (6,000 real rolls of two pigs), physics, or a "
        "dataset of `physim batch`.",
    ),
    click.option(
        "--rolls",
        type=whole_number(1, 10**8),
        default=2_000,
        metavar="N",
        help="How many `--source physics` makes and counts.",
    ),
    seed_option,
    rules_options,
)
"""The throws, see `distribution_of`, and the rules."""


def save_options(file: str) -> Decorator:
    """`--first`, `--save` and `--new`, of a game of people that is kept in a file."""
    return stacked(
        click.option("--first", metavar="NAME", help="Who begins, in place of what the rules say."),
        click.option(
            "--save",
            type=file_path,
            default=file,
            metavar="FILE",
            help="The game's file, written after every move. If it is there, the game goes on.",
        ),
        click.option(
            "--new",
            is_flag=True,
            help="Begin anew; the game that the file holds becomes FILE.old.",
        ),
    )


def players_of(options: dict[str, Any]) -> list[str]:
    """The players or strategies that were named; takes them out of the options.

    Raises:
        ConfigError: arguments without `--players` before them.
    """
    players, more = options.pop("players"), options.pop("more_players")
    if more and not players:
        raise ConfigError(
            f"unexpected argument `{shown_name(more[0])}`; players come after --players"
        )
    return [*players, *more]


def rules_of(options: Mapping[str, Any]) -> RuleSet:
    """The rule set of the options.

    Raises:
        ConfigError: unknown rules, or an impossible value.
    """
    from physim.rules.ruleset import load_rules, read_change

    changes = list(options["changes"])
    if options["target"] is not None:
        changes.append(f"target={text('--target', options['target'])}")
    return load_rules(options["rules"], dict(map(read_change, changes)))


def distribution_of(source: str, rolls: int = 0, seed: int = 0) -> Distribution:
    """The throws that a source names; `physics` makes that many rolls of the seed.

    Raises:
        ConfigError: an unknown name.
        DatasetError: a folder that is no dataset, or a damaged one.
    """
    from physim.strategy.policies import TABLES, from_counts, from_table

    source = text("--source", source)
    if source in TABLES:
        return from_table(source)
    if source == PHYSICS:
        import physim

        with closing(progress_line()) as line:
            counts = physim.batch(rolls, seed=seed, progress=line).counts
        return from_counts(f"physics (seed {seed})", counts)
    if not Path(source).is_dir():
        valid = [*TABLES, PHYSICS]
        raise ConfigError(
            f"unknown source `{shown_name(source)}`{hint(source, valid)} (valid: "
            f"{', '.join(valid)}, or the folder of a dataset; `physim play` takes a file with a "
            "throw a line too)"
        )
    from physim.dataset.parquet import read_counts

    return from_counts(source, read_counts(Path(source)))


def check_output(option: str, path: Path, *endings: str) -> None:
    """Refuses to begin what could not be written in the end.

    Raises:
        ConfigError: a name with another ending, or no such folder.
    """
    if path.suffix.lower() not in endings:
        raise ConfigError(f"{option} {path}: the name must end in {', '.join(endings)}")
    if not path.parent.is_dir() or path.is_dir():
        raise ConfigError(f"{option} {path}: cannot be written there; name a file in a folder")


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

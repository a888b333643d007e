"""`physim validate`: the simulator beside the real rolls."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from physim.cli.options import file_path, json_option, whole_number
from physim.cli.output import clean_stdout, print_json
from physim.cli.streams import say
from physim.seeding import MAX_SEED

GROUPS = (  # of `physim.calibrate.validate`, which loads more
    "poses",
    "pairs",
    "height",
    "pig",
    "blocks",
    "settled",
    "rare",
    "step",
    "solver",
    "settle",
    "hand",
    "surfaces",
)
MAX_ROLLS, MAX_WORKERS = 10**9, 1024
_SEEDS = 20  # that follow the given one are used too


@click.command()
@click.option("--out", type=file_path, metavar="DIR", required=True, help="For rolls and results.")
@click.option(
    "--rolls",
    type=whole_number(1, MAX_ROLLS),
    default=100_000,
    show_default=True,
    metavar="N",
    help="Of the main sample and of those with a finer step or solver. The limits suit 100,000.",
)
@click.option(
    "--fewer-rolls",
    type=whole_number(1, MAX_ROLLS),
    default=20_000,
    show_default=True,
    metavar="M",
    help="Of each other sample: settle, hand, surfaces.",
)
@click.option(
    "--seed",
    type=whole_number(0, MAX_SEED - _SEEDS),
    default=0,
    show_default=True,
    metavar="S",
    help=f"Fixes every result; the {_SEEDS} that follow are used too. Take one that no fit used.",
)
@click.option("--model", default="standard", show_default=True, metavar="NAME|FOLDER")
@click.option("--black", metavar="NAME|FOLDER", help="Model of the black pig only.")
@click.option("--pink", metavar="NAME|FOLDER", help="Model of the pink pig only.")
@click.option("--toss", default="trapdoor", show_default=True, metavar="NAME")
@click.option("--surface", metavar="NAME", help="What covers the table.")
@click.option(
    "--only",
    type=click.Choice(GROUPS),
    multiple=True,
    metavar="CHECK",
    help=f"These checks; give it once for each. Without it, all: {', '.join(GROUPS)}.",
)
@click.option("--workers", type=whole_number(1, MAX_WORKERS), metavar="W", help="As for `batch`.")
@click.option("--no-plot", is_flag=True, help="Write no picture.")
@json_option
def validate(
    *,
    out: Path,
    rolls: int,
    fewer_rolls: int,
    seed: int,
    only: tuple[str, ...],
    workers: int | None,
    no_plot: bool,
    as_json: bool,
    **names: Any,
) -> None:
    """Compare new rolls with 11,954 real pigs, and with rolls that are simulated more finely.

    The rolls are kept in datasets in DIR/rolls, so the same command goes on where it was stopped.
    It writes DIR/validation.json and DIR/validation.png.
    """
    with clean_stdout() as stdout:
        from physim.calibrate import validate as core
        from physim.calibrate.datasets import Folder
        from physim.calibrate.plot import need_plots, plot_validation
        from physim.calibrate.validation_output import to_json, to_text
        from physim.calibrate.validation_samples import MAIN, Request
        from physim.cli.kept import kept_rolls
        from physim.roll import Setup
        from physim.statistics.joint import real_by_height
        from physim.statistics.tables import load_table
        from physim.wholefile import write_whole

        if not no_plot:
            need_plots()
        request = Request(Setup.named(**names), seed, rolls, fewer_rolls)
        real = real_by_height(load_table("kern2006_pairs"))
        with kept_rolls(out):
            folder = Folder(out / "rolls", workers, sys.stderr)
            result = core.validate(request, real, folder, only=only, say=say)
        given = {**names, "rolls": rolls, "fewer_rolls": fewer_rolls, "only": list(only)}
        plain = {"asked": given, **to_json(result)}
        write_whole(out / "validation.json", (json.dumps(plain, indent=1) + "\n").encode())
        if not no_plot:
            plot_validation(result.rolls[MAIN].by_height(), real, out / "validation.png")
        if as_json:
            print_json(plain, stdout)
        else:
            stdout.write(to_text(result) + "\n")

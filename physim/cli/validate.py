"""`physim validate`: the simulator beside the real rolls."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from physim.cli.fitted import (
    check_seed,
    fitted_values,
    kept_rolls,
    real_joints,
    with_origin,
    write_json,
)
from physim.cli.options import fit_options, json_option, whole_number
from physim.cli.output import clean_stdout, print_json
from physim.cli.streams import say
from physim.seeding import MAX_SEED
from physim.validation.asked import GROUPS, SEEDS

MAX_ROLLS = 10**9


@click.command()
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
    type=whole_number(0, MAX_SEED - SEEDS),
    default=0,
    show_default=True,
    metavar="S",
    help=f"Fixes every result; the {SEEDS} that follow are used too. Take one that no fit used.",
)
@click.option(
    "--only",
    type=click.Choice(GROUPS),
    multiple=True,
    metavar="CHECK",
    help=f"These checks; give it once for each. Without it, all: {', '.join(GROUPS)}.",
)
@fit_options
@json_option
def validate(
    *,
    out: Path,
    rolls: int,
    fewer_rolls: int,
    seed: int,
    only: tuple[str, ...],
    fit: Path | None,
    table: str,
    half: str | None,
    workers: int | None,
    no_plot: bool,
    as_json: bool,
    **names: Any,
) -> None:
    """Compare new rolls with real ones, and with rolls that are simulated more finely.

    The rolls are kept in datasets in DIR/rolls, so the same command goes on where it was stopped.
    It writes DIR/validation.json and DIR/validation.png. A check that fails is a result, not an
    error: the exit code is 0.
    """
    with clean_stdout() as stdout:
        from physim.calibrate.parameters import setup
        from physim.roll import Setup
        from physim.validation import validate as core
        from physim.validation.datasets import Folder
        from physim.validation.output import to_json, to_text
        from physim.validation.plot import need_plots, plot_validation
        from physim.validation.samples import MAIN, Request

        if not no_plot:
            need_plots()
        check_seed(fit, seed, SEEDS)
        names = with_origin(names, fit)
        real = real_joints(table, half)
        fitted = setup(Setup.named(**names), fitted_values(fit))
        request = Request(fitted, seed, rolls, fewer_rolls)
        with kept_rolls(out):
            source = Folder(out / "rolls", workers, sys.stderr)
            result = core.validate(request, real, source, only=only, say=say)
        asked = {
            **names,
            "fit": None if fit is None else str(fit),
            "table": table,
            "half": half,
            "rolls": rolls,
            "fewer_rolls": fewer_rolls,
            "only": list(only),
        }
        plain = {"asked": asked, **to_json(result)}
        write_json(out / "validation.json", plain)
        if not no_plot:
            plot_validation(result.rolls[MAIN].by_height(), real, out / "validation.png")
        if as_json:
            print_json(plain, stdout)
        else:
            stdout.write(to_text(result) + "\n")

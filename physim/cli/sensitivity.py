"""`physim sensitivity`: how frequencies move with parameters, and what the real rolls tell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from physim.cli.fitted import fitted_values, kept_rolls, real_joints, with_origin, write_json
from physim.cli.options import SEED, decimal_number, fit_options, json_option, listed, whole_number
from physim.cli.output import clean_stdout, print_json
from physim.cli.streams import say

MAX_ROLLS = 10**9
MIN_STEP, MAX_STEP = 0.001, 5.0  # a step below would drown in rounding


@click.command()
@click.option(
    "--parameters",
    metavar="A,B,...",
    help="Names as for `physim calibrate`. Without it, those that it fits by default.",
)
@click.option(
    "--rolls",
    type=whole_number(4, MAX_ROLLS),
    default=20_000,
    show_default=True,
    metavar="N",
    help="Of each setup: one, and two a parameter.",
)
@click.option(
    "--step",
    type=decimal_number(MIN_STEP, MAX_STEP),
    default=0.5,
    show_default=True,
    metavar="S",
    help="How far a parameter is moved each way, in standard deviations of its prior.",
)
@click.option(
    "--seed", type=SEED, default=0, show_default=True, metavar="S", help="Fixes every result."
)
@fit_options
@json_option
def sensitivity(
    *,
    out: Path,
    parameters: str | None,
    rolls: int,
    step: float,
    seed: int,
    fit: Path | None,
    table: str,
    half: str | None,
    workers: int | None,
    no_plot: bool,
    as_json: bool,
    **names: Any,
) -> None:
    """Move one parameter at a time and see how often each pose comes up.

    Central differences on the same tosses, with standard errors, and which combinations of the
    parameters the real rolls tell apart. The rolls are kept in DIR/rolls, so the same command goes
    on where it was stopped. It writes DIR/sensitivity.json and DIR/sensitivity.png.
    """
    with clean_stdout() as stdout:
        from physim.calibrate import parameters as registry
        from physim.roll import Setup
        from physim.validation import sensitivity as core
        from physim.validation.datasets import Folder
        from physim.validation.information import information
        from physim.validation.plot import need_plots, plot_sensitivity
        from physim.validation.samples import check_heights
        from physim.validation.sensitivity_output import labels, to_json, to_text

        if not no_plot:
            need_plots()
        names = with_origin(names, fit)
        real = real_joints(table, half)
        base, fitted = Setup.named(**names), fitted_values(fit)
        check_heights(base.toss, real)
        asked = registry.DEFAULT if parameters is None else listed(parameters)
        space = registry.Space.of(asked, registry.known_parameters(base))
        values = {**registry.values_of(base, space.names), **fitted}
        change = core.after(fitted, registry.setup)
        varied = [core.Varied.of(one, values[one.name], step) for one in space.parameters]
        with kept_rolls(out):
            source = Folder(out / "rolls", workers, sys.stderr)
            found = core.sensitivity(base, varied, change, source, seed=seed, rolls=rolls, say=say)
        known = information(found, real)
        shown = {**names, "fit": None if fit is None else str(fit), "table": table, "half": half}
        plain = {"asked": {**shown, "step": step}, **to_json(found, known)}
        write_json(out / "sensitivity.json", plain)
        if not no_plot:
            slopes, picture = found.pooled, out / "sensitivity.png"
            plot_sensitivity(labels(found), slopes.slope, slopes.error, picture)
        if as_json:
            print_json(plain, stdout)
        else:
            stdout.write(to_text(found, known) + "\n")

"""`physim sensitivity`: how frequencies move with parameters, and what the real rolls tell."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from physim.cli.kept import kept_rolls
from physim.cli.options import SEED, file_path, json_option, whole_number
from physim.cli.output import clean_stdout, print_json
from physim.cli.streams import say
from physim.errors import ConfigError

MAX_ROLLS, MAX_WORKERS = 10**9, 1024


@click.command()
@click.option("--out", type=file_path, metavar="DIR", required=True, help="For rolls and results.")
@click.option(
    "--parameters",
    metavar="A,B,...",
    help="Names as for `physim calibrate`. Without it, those that it fits by default.",
)
@click.option(
    "--rolls",
    type=whole_number(2, MAX_ROLLS),
    default=20_000,
    show_default=True,
    metavar="N",
    help="Of each setup: one, and two a parameter.",
)
@click.option(
    "--step",
    type=float,
    default=0.5,
    show_default=True,
    metavar="S",
    help="How far a parameter is moved each way, in standard deviations of its prior.",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Fixes every result.")
@click.option("--model", default="standard", show_default=True, metavar="NAME|FOLDER")
@click.option("--toss", default="trapdoor", show_default=True, metavar="NAME")
@click.option("--workers", type=whole_number(1, MAX_WORKERS), metavar="W", help="As for `batch`.")
@click.option("--no-plot", is_flag=True, help="Write no heat map.")
@json_option
def sensitivity(
    *,
    out: Path,
    parameters: str | None,
    rolls: int,
    step: float,
    seed: int,
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
    if not 0.0 < step <= 5.0:
        raise click.BadParameter("must lie above 0 and not above 5", param_hint="--step")
    with clean_stdout() as stdout:
        from physim.calibrate import parameters as registry
        from physim.calibrate import sensitivity as core
        from physim.calibrate.datasets import Folder
        from physim.calibrate.information import information
        from physim.calibrate.plot import need_plots, plot_sensitivity
        from physim.calibrate.sensitivity_output import labels, to_json, to_text
        from physim.roll import Setup
        from physim.statistics.joint import real_by_height
        from physim.statistics.tables import load_table
        from physim.wholefile import write_whole

        if not no_plot:
            need_plots()
        base = Setup.named(**names)
        if len(getattr(base.toss, "heights_m", ())) != 2:
            raise ConfigError(
                "a sensitivity analysis needs a toss from the two heights of the real rolls, such "
                "as trapdoor"
            )
        asked = parameters.split(",") if parameters else list(registry.DEFAULT)
        space = registry.Space.of(map(str.strip, asked), registry.known_parameters(base))
        values = registry.values_of(base, space.names)
        varied = [core.Varied.of(one, values[one.name], step) for one in space.parameters]
        with kept_rolls(out):
            source = Folder(out / "rolls", workers, sys.stderr)
            found = core.sensitivity(
                base, varied, registry.setup, source, seed=seed, rolls=rolls, say=say
            )
        known = information(found, real_by_height(load_table("kern2006_pairs")))
        plain = {"asked": {**names, "step": step}, **to_json(found, known)}
        write_whole(out / "sensitivity.json", (json.dumps(plain, indent=1) + "\n").encode())
        if not no_plot:
            picture = out / "sensitivity.png"
            plot_sensitivity(labels(found), found.pooled.slope, found.pooled.error, picture)
        if as_json:
            print_json(plain, stdout)
        else:
            stdout.write(to_text(found, known) + "\n")

"""`physim validate`: the simulator beside the real rolls.

What the commands that look at a fit have in common: `validate` and `sensitivity`.

`physim sensitivity`: how frequencies move with parameters, and what the real rolls tell.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from physim.cli.options import SEED, decimal_number, fit_options, json_option, listed, whole_number
from physim.cli.output import clean_stdout, print_json, say
from physim.seeding import MAX_SEED
from physim.validate import GROUPS, SEEDS

if TYPE_CHECKING:
    from physim.statistics.joint import Joint

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
        from physim.calibrate.priors import setup
        from physim.simulator import Setup
        from physim.validate import run_checks
        from physim.validate.datasets import MAIN, Folder, Request
        from physim.validate.plot import need_plots, plot_validation
        from physim.validate.report import to_json, to_text

        if not no_plot:
            need_plots()
        check_seed(fit, seed, SEEDS)
        names = with_origin(names, fit)
        real = real_joints(table, half)
        fitted = setup(Setup.named(**names), fitted_values(fit))
        request = Request(fitted, seed, rolls, fewer_rolls)
        with kept_rolls(out):
            source = Folder(out / "rolls", workers, sys.stderr)
            result = run_checks.validate(request, real, source, only=only, say=say)
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


def fitted_values(fit: Path | None) -> dict[str, float]:
    """The parameters of a fit; none without one.

    Raises:
        ConfigError: no such file, or no result of a fit.
    """
    if fit is None:
        return {}
    from physim.calibrate.priors import read_fit

    return read_fit(fit)


def with_origin(names: dict[str, Any], fit: Path | None) -> dict[str, Any]:
    """The names of a setup; model and toss that are not given are those that the fit set out from.

    Raises:
        ConfigError: no such file.
    """
    from physim.calibrate.priors import read_origin

    origin = {"model": "standard", "toss": "trapdoor"}
    if fit is not None:
        origin.update(read_origin(fit)[0])
    return {**names, **{key: names.get(key) or name for key, name in origin.items()}}


def check_seed(fit: Path | None, seed: int, seeds: int) -> None:
    """Refuses seeds whose rolls the fit was made with.

    Raises:
        ConfigError: says to take another one.
    """
    from physim.calibrate.priors import read_origin
    from physim.errors import ConfigError

    used = None if fit is None else read_origin(fit)[1]
    if used is not None and seed <= used <= seed + seeds:
        raise ConfigError(
            f"the fit used the seed {used}, and --seed {seed} would use it again: take another one"
        )


def real_joints(table: str, half: str | None) -> dict[float, Joint]:
    """The real rolls by height of release [m].

    Raises:
        ConfigError: no such table or file, or a table without heights.
    """
    from physim.calibrate.target import real_rows
    from physim.statistics.joint import real_by_height

    return real_by_height(real_rows(table, None if half is None else int(half)))


@contextmanager
def kept_rolls(out: Path) -> Iterator[None]:
    """Meanwhile an interrupt says that what was rolled is kept."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise type(stop)(
            f"interrupted; what was finished is kept in {out}: run the same command to go on"
        ) from None


def write_json(path: Path, plain: dict[str, Any]) -> None:
    """Writes a result so that it is the old one or the new one at any moment.

    Raises:
        ConfigError: it cannot be written.
    """
    from physim.errors import ConfigError
    from physim.files import told, write_whole

    with told(ConfigError, f"{path}: cannot be written", "choose another --out"):
        write_whole(path, (json.dumps(plain, indent=1, allow_nan=False) + "\n").encode())


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
        from physim.calibrate import priors
        from physim.simulator import Setup
        from physim.validate import sensitivity as study
        from physim.validate.datasets import Folder, check_heights
        from physim.validate.plot import need_plots, plot_sensitivity
        from physim.validate.sensitivity import information
        from physim.validate.sensitivity_output import labels, to_json, to_text

        if not no_plot:
            need_plots()
        names = with_origin(names, fit)
        real = real_joints(table, half)
        base, fitted = Setup.named(**names), fitted_values(fit)
        check_heights(base.toss, real)
        asked = priors.DEFAULT if parameters is None else listed(parameters)
        space = priors.Space.of(asked, priors.known_parameters(base))
        values = {**priors.values_of(base, space.names), **fitted}
        change = study.after(fitted, priors.setup)
        varied = [study.Varied.of(one, values[one.name], step) for one in space.parameters]
        with kept_rolls(out):
            source = Folder(out / "rolls", workers, sys.stderr)
            found = study.sensitivity(base, varied, change, source, seed=seed, rolls=rolls, say=say)
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

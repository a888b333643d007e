"""Options that several commands share, and the kinds of values they take."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from physim.cli.output import clean_stdout, print_json
from physim.config import MAX_WORKERS, SetupOptions, path
from physim.errors import ConfigError, shown
from physim.seeding import MAX_SEED

Decorator = Callable[[Any], Any]

_LONGEST = 40  # characters of a number


def whole_number(low: int, high: int | None = None) -> Callable[[str], int]:
    """The type of an option: a whole number in [low, high], or of `low` or more."""
    limits = f"of {low} or more" if high is None else f"from {low} to {high}"

    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if number < low or (high is not None and number > high):
            raise click.BadParameter(f"must be a whole number {limits}, found {shown(text)}")
        return number

    convert.__name__ = "number"  # as `--help` shows it
    return convert


def decimal_number(low: float, high: float) -> Callable[[str], float]:
    """The type of an option: a number in [low, high]; NaN is in no range."""

    def convert(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not low <= number <= high:
            raise click.BadParameter(
                f"must be a number from {low:g} to {high:g}, found {shown(text)}"
            )
        return number

    convert.__name__ = "number"
    return convert


def file_path(text: str) -> Path:
    """A path; an empty one is refused, since it would be the current folder."""
    try:
        return path("the path", text)
    except ConfigError as error:
        raise click.BadParameter(str(error)) from None


def listed(text: str) -> tuple[str, ...]:
    """The names in a text that commas separate."""
    return tuple(filter(None, map(str.strip, text.split(","))))


def seconds(text: str) -> float:
    """A decimal number or a fraction such as 1/2048."""
    try:
        if len(text) > _LONGEST:
            raise ValueError
        # As a fraction 1e999999999 would be written out in full.
        number = float(Fraction(text)) if "/" in text else float(text)
        if not math.isfinite(number):
            raise ValueError
        return number
    except (ValueError, ZeroDivisionError, OverflowError):
        raise click.BadParameter(f"{shown(text)} is no number of seconds, such as 1/2048") from None


def stacked(*options: Decorator) -> Decorator:
    """All of these options, in their order in the help."""

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def given_options() -> dict[str, str]:
    """The parameters that the command line names, with their options as `--help` writes them."""
    context = click.get_current_context()
    return {
        parameter.name or "": parameter.opts[0]
        for parameter in context.command.params
        if context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
    }


SEED = whole_number(0, MAX_SEED)
MILLIMETRES = decimal_number(1, 3000)
seed_option = click.option("--seed", type=SEED, default=0, help="Fixes every result.")
index_option = click.option("--index", type=SEED, default=0, help="Index of the first roll.")
workers_option = click.option(
    "--workers",
    type=whole_number(1, MAX_WORKERS),
    metavar="W",
    help="Worker processes. Without it, one a core. No result depends on it.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, nothing else.")
_KINDS: dict[str, Any] = {
    "mm": MILLIMETRES,
    "mm_mm": (decimal_number(1, 1e5),) * 2,
    "s": seconds,
}


def _setup_option(name: str, **how: Any) -> Decorator:
    """One of `SetupOptions` as an option of the command line, with what differs there."""
    entry = next(entry for entry in fields(SetupOptions) if entry.name == name)
    about = {**entry.metadata, "default": entry.default, **how}
    kind = about.pop("kind")
    kind = click.Choice(kind) if isinstance(kind, tuple) else _KINDS.get(kind)
    return click.option(f"--{name.replace('_', '-')}", type=kind, **about)


pig_options = stacked(*(_setup_option(entry.name) for entry in fields(SetupOptions)))
"""All options that fix a roll besides seed and index."""
setup_options = stacked(seed_option, pig_options)


def printed(command: Callable[..., tuple[Any, str]]) -> Callable[..., None]:
    """Prints what a command returns: its plain values with `--json`, which this adds; or its text.

    Meanwhile stdout takes nothing else.
    """

    @json_option
    @wraps(command)
    def run(*, as_json: bool, **options: Any) -> None:
        with clean_stdout() as stdout:
            plain, text = command(**options)
            if as_json:
                print_json(plain, stdout)
            else:
                stdout.write(f"{text}\n")

    return run


_OF_FIT = "Without it, what the fit started from, or {} without a fit."
fit_options = stacked(
    click.option("--out", type=file_path, metavar="DIR", required=True, help="For all results."),
    click.option(
        "--fit",
        type=file_path,
        metavar="FILE|DIR",
        help="Parameters that `physim calibrate` wrote, in place of the model's and the toss's.",
    ),
    _setup_option("model", default=None, help=_OF_FIT.format("standard")),
    _setup_option("black"),
    _setup_option("pink"),
    _setup_option(
        "toss",
        default=None,
        help=f"A name, or the YAML file of a toss. {_OF_FIT.format('trapdoor')}",
    ),
    _setup_option("surface", help="What covers the table."),
    click.option(
        "--table",
        default="kern2006_pairs",
        metavar="NAME|CSV",
        help="Counts of real two-pig rolls by height: a table, or a CSV of your own.",
    ),
    click.option("--half", type=click.Choice(["1", "2"]), help="Only this half of the real rolls."),
    workers_option,
    click.option("--no-plot", is_flag=True, help="Write no picture."),
)
"""What the commands that look at a fit have in common: which one, and the real rolls."""

"""Options that several commands share, and the kinds of values they take."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import click

from physim.config import path
from physim.errors import ConfigError, shown
from physim.seeding import MAX_SEED
from physim.setup_options import SETTLE_MODES, SetupOptions

Command = TypeVar("Command", bound=Callable[..., Any])

_LONGEST = 40  # characters of a number
_FIXES = "The same seed gives the same results."


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


SEED = whole_number(0, MAX_SEED)


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


def millimetres(text: str) -> float:
    """A finite number; its range is the toss's to check."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise click.BadParameter(f"{shown(text)} is no number of millimetres from 1 to 3000")
    return number


_KINDS: dict[str, Any] = {
    "mm": millimetres,
    "mm_mm": (decimal_number(1, 1e5),) * 2,
    "s": seconds,
    "settle": click.Choice(SETTLE_MODES),
}
_SETUP_OPTIONS = {
    entry.name: {
        "type": _KINDS.get(entry.metadata["kind"]),
        "default": entry.default,
        "show_default": entry.default is not None,
        "metavar": entry.metadata["metavar"],
        "help": entry.metadata["help"],
    }
    for entry in fields(SetupOptions)
}


def setup_options(command: Command) -> Command:
    """All options that fix a roll: `--seed`, `--model`, `--toss` and so on."""
    seed = click.option("--seed", type=SEED, default=0, show_default=True, help=_FIXES)
    return seed(pig_options(command))


def pig_options(command: Command) -> Command:
    """The options of `setup_options` without the seed."""
    for name in reversed(_SETUP_OPTIONS):
        command = _setup_option(name)(command)
    return command


def _setup_option(name: str, **how: Any) -> Callable[[Command], Command]:
    """One of `SetupOptions` as an option of the command line, with what differs there."""
    return click.option(f"--{name.replace('_', '-')}", **{**_SETUP_OPTIONS[name], **how})


def json_option(command: Command) -> Command:
    """`--json`, as the parameter `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, nothing else.")(
        command
    )


_OF_FIT = "Without it, what the fit set out from, or {} without a fit."
_FIT_OPTIONS = (
    click.option("--out", type=file_path, metavar="DIR", required=True, help="For all results."),
    click.option(
        "--fit",
        type=file_path,
        metavar="FILE|DIR",
        help="Parameters that `physim calibrate` wrote, in place of the model's and the toss's.",
    ),
    _setup_option("model", default=None, show_default=False, help=_OF_FIT.format("standard")),
    _setup_option("black"),
    _setup_option("pink"),
    _setup_option(
        "toss",
        default=None,
        show_default=False,
        metavar="NAME",
        help=_OF_FIT.format("trapdoor"),
    ),
    _setup_option("surface", help="What covers the table."),
    click.option(
        "--table",
        default="kern2006_pairs",
        show_default=True,
        metavar="NAME|CSV",
        help="Counts of real two-pig rolls by height.",
    ),
    click.option("--half", type=click.Choice(["1", "2"]), help="Only this half of the real rolls."),
    click.option(
        "--workers",
        type=whole_number(1, 1024),
        metavar="W",
        help="Worker processes. Without it, one a core. The rolls do not depend on it.",
    ),
    click.option("--no-plot", is_flag=True, help="Write no picture."),
)


def fit_options(command: Command) -> Command:
    """What the commands that look at a fit have in common: which one, and the real rolls."""
    for option in reversed(_FIT_OPTIONS):
        command = option(command)
    return command

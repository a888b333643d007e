"""Options that several commands share, and the kinds of values they take."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import click

from physim.config import path
from physim.errors import ConfigError, shown
from physim.seeding import MAX_SEED

Command = TypeVar("Command", bound=Callable[..., Any])

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


_SEED_OPTION = click.option(
    "--seed", type=SEED, default=0, show_default=True, help="Fixes every result."
)
_PIG_OPTIONS = (
    click.option(
        "--model",
        default="standard",
        show_default=True,
        metavar="NAME|FOLDER",
        help="Pig model of both pigs.",
    ),
    click.option("--black", metavar="NAME|FOLDER", help="Model of the black pig only."),
    click.option("--pink", metavar="NAME|FOLDER", help="Model of the pink pig only."),
    click.option(
        "--toss",
        default="trapdoor",
        show_default=True,
        metavar="NAME|FILE",
        help="How the pigs are released: trapdoor, hand, drop, trapdoor_big, hand_big, "
        "trapdoor_before_fit, or the YAML file of a toss.",
    ),
    click.option(
        "--height-mm",
        type=millimetres,
        metavar="MM",
        help="Height of release, 1 to 3000. Without it, the toss's own; trapdoor alternates.",
    ),
    click.option(
        "--surface",
        metavar="NAME",
        help="What covers the table: laminate (default), wood, glass, cloth, felt; or floor.",
    ),
    click.option(
        "--time-step-s",
        type=seconds,
        metavar="S",
        help="Time step of the engine: 1/256 halved some times (advanced).",
    ),
    click.option(
        "--settle",
        type=click.Choice(["full", "fast"]),
        default="fast",
        show_default=True,
        help="Stop when the outcome is certain, or when both pigs are still: the same rolls.",
    ),
)


def setup_options(command: Command) -> Command:
    """All options that fix a roll: `--seed`, `--model`, `--toss` and so on."""
    return _SEED_OPTION(pig_options(command))


def pig_options(command: Command) -> Command:
    """As `setup_options`, without the seed."""
    for option in reversed(_PIG_OPTIONS):
        command = option(command)
    return command


def json_option(command: Command) -> Command:
    """`--json`, as the parameter `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, nothing else.")(
        command
    )


_FIT_OPTIONS = (
    click.option("--out", type=file_path, metavar="DIR", required=True, help="For all results."),
    click.option(
        "--fit",
        type=file_path,
        metavar="FILE|DIR",
        help="Parameters that `physim calibrate` wrote, in place of the model's and the toss's.",
    ),
    click.option(
        "--model",
        metavar="NAME|FOLDER",
        help="Without it, what the fit set out from, or standard without a fit.",
    ),
    click.option("--black", metavar="NAME|FOLDER", help="Model of the black pig only."),
    click.option("--pink", metavar="NAME|FOLDER", help="Model of the pink pig only."),
    click.option(
        "--toss",
        metavar="NAME",
        help="Without it, what the fit set out from, or trapdoor without a fit.",
    ),
    click.option("--surface", metavar="NAME", help="What covers the table."),
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

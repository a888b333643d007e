"""Options that several commands share, and the kinds of values they take."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import click

from physim.seeding import MAX_SEED

Command = TypeVar("Command", bound=Callable[..., Any])

SEED = click.IntRange(0, MAX_SEED)


def seconds(text: str) -> float:
    """A decimal number or a fraction such as 1/2048."""
    try:
        return float(Fraction(text))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise click.BadParameter(f"{text!r} is no number of seconds, such as 1/2048") from None


def millimetres(text: str) -> float:
    """A finite number; its range is the toss's to check."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise click.BadParameter(f"{text!r} is no number of millimetres from 1 to 3000")
    return number


_SETUP_OPTIONS = (
    click.option("--seed", type=SEED, default=0, show_default=True, help="Fixes every result."),
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
        metavar="NAME",
        help="How the pigs are released: trapdoor, hand or drop.",
    ),
    click.option(
        "--height-mm",
        type=millimetres,
        metavar="MM",
        help="Height of release, 1 to 3000. Without it, the toss's own; trapdoor alternates.",
    ),
    click.option("--surface", metavar="NAME", help="What covers the table."),
    click.option(
        "--time-step-s",
        type=seconds,
        metavar="S",
        help="Time step of the engine: 1/256 halved some times (advanced).",
    ),
    click.option(
        "--settle",
        type=click.Choice(["full", "fast"]),
        default="full",
        show_default=True,
        help="Simulate until both pigs are still, or until the outcome is certain.",
    ),
)


def setup_options(command: Command) -> Command:
    """All options that fix a roll: `--seed`, `--model`, `--toss` and so on."""
    for option in reversed(_SETUP_OPTIONS):
        command = option(command)
    return command


def json_option(command: Command) -> Command:
    """`--json`, as the parameter `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, nothing else.")(
        command
    )

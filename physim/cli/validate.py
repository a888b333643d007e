"""`physim validate` and `physim sensitivity`: the simulator beside the real rolls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from physim.cli.options import (
    decimal_number,
    fit_options,
    listed,
    printed,
    seed_option,
    whole_number,
)
from physim.cli.output import resumable, say
from physim.seeding import MAX_SEED
from physim.validate import GROUPS, ROLLS, SEEDS

_MAX_ROLLS = 10**9
_COUNT = whole_number(1, _MAX_ROLLS)
_STEPS = decimal_number(0.001, 5.0)  # below, a step would drown in rounding


@click.command()
@click.option(
    "--rolls",
    type=_COUNT,
    default=ROLLS,
    metavar="N",
    help="Of the main sample and of those with a finer step or solver; the limits of the checks "
    "suit the default.",
)
@click.option(
    "--fewer-rolls",
    type=_COUNT,
    default=20_000,
    metavar="M",
    help="Of each other sample: settle, hand, surfaces.",
)
@click.option(
    "--seed",
    type=whole_number(0, MAX_SEED - SEEDS),
    default=0,
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
@printed
def validate(
    rolls: int, fewer_rolls: int, seed: int, only: tuple[str, ...], **review: Any
) -> tuple[Any, str]:
    """Compare new rolls with real ones, and with rolls that are simulated more finely.

    The rolls are kept in datasets in DIR/rolls, so the same command continues where it was stopped.
    It writes DIR/validation.json and DIR/validation.png. A check that fails is a result, not an
    error: the exit code is 0.
    """
    from physim.validate.validation import run

    return _study(run, review, rolls=rolls, fewer_rolls=fewer_rolls, seed=seed, only=only)


@click.command()
@click.option(
    "--parameters",
    metavar="A,B,...",
    help="Names as for `physim calibrate`. Without it, those that it fits by default.",
)
@click.option(
    "--rolls",
    type=whole_number(4, _MAX_ROLLS),
    default=20_000,
    metavar="N",
    help="Of each setup: one, and two a parameter.",
)
@click.option(
    "--step",
    type=_STEPS,
    default=0.5,
    metavar="S",
    help="How far a parameter is moved each way, in standard deviations of its prior.",
)
@seed_option
@fit_options
@printed
def sensitivity(
    parameters: str | None, rolls: int, step: float, seed: int, **review: Any
) -> tuple[Any, str]:
    """Move one parameter at a time and see how often each pose comes up.

    Central differences on the same tosses, with standard errors. The rolls are kept in DIR/rolls,
    so the same command continues where it was stopped. It writes DIR/sensitivity.json and
    DIR/sensitivity.png.
    """
    from physim.validate.sensitivity import run

    names = None if parameters is None else listed(parameters)
    return _study(run, review, parameters=names, rolls=rolls, step=step, seed=seed)


def _study(run: Callable[..., Any], review: dict[str, Any], **own: Any) -> tuple[Any, str]:
    from physim.validate.datasets import FitReview

    with resumable(review["out"]):
        plain, text = run(FitReview(**review), **own, say=say)
    return plain, text

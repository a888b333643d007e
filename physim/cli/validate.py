"""`physim validate` and `physim sensitivity`: the simulator beside the real rolls."""

from __future__ import annotations

from typing import Any, TextIO

import click

from physim.cli.options import SEED, decimal_number, fit_options, json_option, listed, whole_number
from physim.cli.output import clean_stdout, print_json, resumable, say
from physim.seeding import MAX_SEED
from physim.validate import GROUPS, SEEDS

MAX_ROLLS = 10**9
Options = dict[str, Any]
MIN_STEP, MAX_STEP = 0.001, 5.0  # a step below would drown in rounding


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
def validate(*, as_json: bool, **options: Any) -> None:
    """Compare new rolls with real ones, and with rolls that are simulated more finely.

    The rolls are kept in datasets in DIR/rolls, so the same command goes on where it was stopped.
    It writes DIR/validation.json and DIR/validation.png. A check that fails is a result, not an
    error: the exit code is 0.
    """
    with clean_stdout() as stdout:
        from physim.validate.validation import run

        own = {name: options.pop(name) for name in ("seed", "rolls", "fewer_rolls", "only")}
        _study(run, own, options, as_json, stdout)


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
def sensitivity(*, parameters: str | None, as_json: bool, **options: Any) -> None:
    """Move one parameter at a time and see how often each pose comes up.

    Central differences on the same tosses, with standard errors, and which combinations of the
    parameters the real rolls tell apart. The rolls are kept in DIR/rolls, so the same command goes
    on where it was stopped. It writes DIR/sensitivity.json and DIR/sensitivity.png.
    """
    with clean_stdout() as stdout:
        from physim.validate.sensitivity import run

        own = {name: options.pop(name) for name in ("seed", "rolls", "step")}
        own["parameters"] = None if parameters is None else listed(parameters)
        _study(run, own, options, as_json, stdout)


def _study(
    run: Any, own: dict[str, Any], common: dict[str, Any], as_json: bool, to: TextIO
) -> None:
    from physim.validate.datasets import FitReview

    with resumable(common["out"]):
        plain, text = run(FitReview(**common), **own, say=say)
    if as_json:
        print_json(plain, to)
    else:
        to.write(text + "\n")

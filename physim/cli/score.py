"""`physim score`: what two poses are worth. Needs no physics."""

from __future__ import annotations

import click

from physim.cli.options import json_option
from physim.cli.output import clean_stdout, print_json


@click.command()
@click.argument("black", metavar="POSE")
@click.argument("pink", metavar="POSE")
@click.option("--touching", is_flag=True, help="The pigs rest in contact.")
@click.option("--piggyback", is_flag=True, help="One pig rests on the other.")
@json_option
def score(black: str, pink: str, touching: bool, piggyback: bool, as_json: bool) -> None:
    """Name and score a roll from the poses of its two pigs.

    Poses: side_dot_up, side_dot_down, trotter, razorback, snouter, leaning_jowler, other.
    """
    from physim.rules.score import score as score_poses

    result = score_poses(black, pink, touching, piggyback)
    with clean_stdout() as stdout:
        if as_json:
            print_json({"outcome": result.outcome.value, "score": result.score}, stdout)
            return
        points = "no points" if result.score is None else f"{result.score} points"
        stdout.write(f"{result.outcome.value}: {points}\n")

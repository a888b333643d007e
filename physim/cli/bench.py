"""`physim bench`: rolls a second of one core, beside a plain PyBullet loop."""

from __future__ import annotations

import sys
from typing import Any

import click

from physim.cli.options import SEED, json_option, millimetres, seconds, whole_number
from physim.cli.output import clean_stdout, print_json, say
from physim.errors import ConfigError, how_to_install

NAMES = ("plain_pybullet", "mujoco", "physim_full", "physim")  # of `bench`, which loads more
MOST_ROLLS = 10**7
_ROUNDS = 5


@click.command()
@click.option(
    "-n",
    "count",
    type=whole_number(1, MOST_ROLLS),
    metavar="N",
    default=200,
    show_default=True,
    help="Rolls of each contestant.",
)
@click.option(
    "--rounds",
    type=whole_number(1, 1000),
    metavar="R",
    help="Rounds that they are split into; in each, all contestants make the same rolls. "
    "Without it 5, or N if that is less.",
)
@click.option(
    "--seed", type=SEED, default=0, show_default=True, metavar="S", help="Fixes the tosses."
)
@click.option(
    "--model", default="standard", show_default=True, metavar="NAME|FOLDER", help="Both pigs."
)
@click.option(
    "--toss",
    default="trapdoor",
    show_default=True,
    metavar="NAME",
    help="How the pigs are released: trapdoor, hand or drop.",
)
@click.option("--height-mm", type=millimetres, metavar="MM", help="Height of release.")
@click.option("--surface", metavar="NAME", help="What covers the table.")
@click.option("--time-step-s", type=seconds, metavar="S", help="Time step of all engines.")
@click.option(
    "--only",
    type=click.Choice(NAMES),
    multiple=True,
    metavar="NAME",
    help=f"This contestant; give it once for each. Without it, all: {', '.join(NAMES)}.",
)
@json_option
def bench(
    *, count: int, rounds: int | None, only: tuple[str, ...], as_json: bool, **names: Any
) -> None:
    """Time rolls on one core, beside a plain PyBullet loop and MuJoCo.

    All roll the same tosses with the same pigs, time step and rest criterion, and name what lies
    there with physim's classifier. Times are processor times; ratios are taken round by round.
    """
    if rounds is None:
        rounds = min(_ROUNDS, count)
    if rounds > count:
        raise click.BadParameter(f"must not exceed -n ({count})", param_hint="--rounds")
    with clean_stdout() as stdout:
        from physim.bench.race import MUJOCO, has_mujoco, race, to_json, to_text
        from physim.dataset.plan import BatchPlan
        from physim.dataset.progress import ProgressLine

        plan = BatchPlan(n=count, **names)
        chosen = [name for name in NAMES if not only or name in only]
        if MUJOCO in chosen and not has_mujoco():
            missing = f"MuJoCo is not installed; get it with: {how_to_install('mujoco')}"
            if only:
                raise ConfigError(missing)
            chosen.remove(MUJOCO)
            say(f"physim: no row mujoco: {missing}")
        line = ProgressLine(sys.stderr)
        try:
            rows = race(chosen, plan, rounds, line)
        finally:
            line.close()
        if as_json:
            print_json({"rounds": rounds, **names, "rows": to_json(rows)}, stdout)
        else:
            stdout.write(to_text(rows) + "\n")

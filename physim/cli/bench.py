"""`physim bench`: rolls per second of one core, beside a plain PyBullet loop."""

from __future__ import annotations

import sys
from contextlib import closing
from importlib.util import find_spec
from typing import Any

import click

from physim.cli.options import MILLIMETRES, printed, seconds, seed_option, whole_number
from physim.cli.output import say
from physim.errors import ConfigError, how_to_install

NAMES = (  # of `bench`, which loads more
    "plain_pybullet",
    "plain_tolerance",
    "mujoco",
    "mujoco_fine",
    "physim_full",
    "physim",
    "physim_compiled",
    "physim_cone",
)
_NEEDED = (  # libraries that not every installation has, their extras and rows
    ("mujoco", "mujoco", ("mujoco", "mujoco_fine")),
    ("pybullet", "pybullet", ("plain_pybullet", "plain_tolerance", "physim_full", "physim")),
)
_ROUNDS = 5
_COUNT = whole_number(1, 10**7)
_ROUNDS_HELP = (
    "Rounds that they are split into; in each, all engines make the same rolls. "
    f"Without it {_ROUNDS}, or N if that is less."
)
_ONLY_HELP = f"This engine; give it once for each. Without it, all: {', '.join(NAMES)}."
_TOSS_HELP = "How the pigs are released: trapdoor, hand, drop, or the YAML file of a toss."


@click.command()
@click.option("-n", "count", type=_COUNT, default=200, help="Rolls of each engine.")
@click.option("--rounds", type=whole_number(1, 1000), metavar="R", help=_ROUNDS_HELP)
@seed_option
@click.option("--model", default="standard", metavar="NAME|FOLDER", help="Both pigs.")
@click.option("--toss", default="trapdoor", metavar="NAME|FILE", help=_TOSS_HELP)
@click.option("--height-mm", type=MILLIMETRES, metavar="MM", help="Height of release.")
@click.option("--surface", metavar="NAME", help="What covers the table.")
@click.option("--time-step-s", type=seconds, metavar="S", help="Time step of all engines.")
@click.option("--only", type=click.Choice(NAMES), multiple=True, metavar="NAME", help=_ONLY_HELP)
@printed
def bench(
    *, count: int, rounds: int | None, only: tuple[str, ...], **names: Any
) -> tuple[Any, str]:
    """Time rolls on one core, beside a plain PyBullet loop and MuJoCo.

    All roll the same tosses with the same pigs, time step and rest criterion, and name what lies
    there with physim's classifier. Times are processor times; ratios are taken round by round.
    """
    if rounds is None:
        rounds = min(_ROUNDS, count)
    if rounds > count:
        raise click.BadParameter(f"must not exceed -n ({count})", param_hint="--rounds")
    from physim.bench.benchmark import benchmark, to_json, to_text
    from physim.dataset.plan import BatchPlan
    from physim.dataset.progress import ProgressLine

    plan = BatchPlan(n=count, **names)
    chosen = [name for name in NAMES if not only or name in only]
    for library, extra, rows in _NEEDED:
        unable = [name for name in rows if name in chosen]
        if not unable or find_spec(library) is not None:
            continue
        missing = f"`{library}` is not installed; get it with: {how_to_install(extra)}"
        if only:
            raise ConfigError(missing)
        chosen = [name for name in chosen if name not in unable]
        say(f"physim: no rows {', '.join(unable)}: {missing}")
    with closing(ProgressLine(sys.stderr)) as line:
        results = benchmark(chosen, plan, rounds, line)
    return {"rounds": rounds, **names, "rows": to_json(results)}, to_text(results)

"""`physim roll`: some rolls, printed one by one.

`physim score`: what two poses, or a throw, are worth. Needs no physics.

`physim watch`: the window.
"""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from physim.cli.game_options import rules_of, rules_options
from physim.cli.options import (
    file_path,
    given_options,
    index_option,
    json_option,
    printed,
    setup_options,
    whole_number,
)
from physim.cli.output import clean_stdout, print_json
from physim.seeding import MAX_SEED

if TYPE_CHECKING:
    from physim.types import Contact, PigResult, Roll


@click.command()
@click.option("-n", "count", type=whole_number(1), default=1, help="How many.")
@index_option
@setup_options
@json_option
def roll(count: int, index: int, seed: int, as_json: bool, **names: Any) -> None:
    """Roll the two pigs.

    Seed and index fix a roll; `-n 3 --index 5` makes the rolls 5, 6 and 7 of the seed.
    """
    if index + count - 1 > MAX_SEED:
        raise click.BadParameter(f"the last index must not exceed {MAX_SEED}", param_hint="-n")
    with clean_stdout() as stdout:
        from physim.dataset import preload  # noqa: F401
        from physim.simulator import Setup, Simulator

        with Simulator(Setup.named(**names)) as simulator:
            for which in range(index, index + count):
                result = simulator.roll(seed, which)
                if as_json:
                    plain = {**roll_to_json(result), "engine": names["engine"]}
                    print_json(plain, stdout, indent=None)
                else:
                    stdout.write(roll_text(result) + "\n")
                    stdout.flush()


def roll_to_json(roll: Roll) -> dict[str, Any]:
    """A roll with the public names; floats keep every bit."""
    return {
        "seed": roll.seed,
        "index": roll.index,
        "status": roll.status.value,
        "outcome": roll.outcome.value,
        "score": roll.score,
        "touching": roll.touching,
        "ended": roll.ended.value,
        "pigs": [_pig_to_json(pig) for pig in roll.pigs],
        "time_s": float(roll.time_s),
    }


def roll_text(roll: Roll) -> str:
    """A roll in three lines: what it is worth, and how each pig lies."""
    from physim.rules.score import points_text

    points = points_text(roll.score)
    head = f"roll {roll.index}: {roll.outcome.value}, {points} ({roll.time_s:.2f} s)"
    return "\n".join([head, *(_pig_text(pig) for pig in roll.pigs)])


def _pig_text(pig: PigResult) -> str:
    parts = ", ".join(dict.fromkeys(map(_contact_text, pig.contacts)))
    where = f"on {parts}" if parts else "in the air at that moment"  # certain, or fallen
    return f"  {pig.name:6}{pig.pose.value:15} margin {pig.margin:.2f}, {where}"


def _contact_text(contact: Contact) -> str:
    where = f" at {contact.other}'s {contact.other_part}" if contact.other_part else ""
    return contact.part + where


def _pig_to_json(pig: PigResult) -> dict[str, Any]:
    return {
        "name": pig.name,
        "pose": pig.pose.value,
        "rest": pig.rest,
        "margin": float(pig.margin),
        "contacts": [
            {
                "part": contact.part,
                "other": contact.other,
                "other_part": contact.other_part,
                "gap_m": float(contact.gap_m),
                "position_m": [float(c) for c in contact.position_m],
            }
            for contact in pig.contacts
        ],
        "position_m": [float(c) for c in pig.position_m],
        "quat_xyzw": [float(c) for c in pig.quat_xyzw],
        "time_s": float(pig.time_s),
    }


@click.command()
@click.argument("words", metavar="POSE POSE", nargs=-1, required=True)
@click.option("--touching", is_flag=True, help="The pigs rest in contact.")
@click.option("--piggyback", is_flag=True, help="One pig rests on the other.")
@rules_options
@printed
def score(
    words: tuple[str, ...], touching: bool, piggyback: bool, **options: Any
) -> tuple[Any, str]:
    """Name and score a roll from the poses of its two pigs, or from its name.

    Poses: side_dot_up (up), side_dot_down (down), trotter (t), razorback (r), snouter (s),
    leaning_jowler (j), other. Names: pig out, sider, double trotter, makin bacon and the like.
    What a roll without points costs goes by the rules.
    """
    from physim.rules.ruleset import COSTS, Effect
    from physim.rules.score import point_table, points_text, read_throw
    from physim.types import Outcome

    rules, throw = rules_of(options), read_throw(" ".join(words))
    outcome, points = throw.outcome, throw.points
    if touching or piggyback:
        outcome = Outcome.PIGGYBACK if piggyback else Outcome.OINKER
        points = point_table()[outcome]
    effect = rules.effect(outcome)
    costs = "" if effect in (Effect.SCORES, Effect.NOTHING) else f"; {COSTS[effect]}"
    plain = {"outcome": outcome.value, "score": points}
    return plain, f"{outcome.value}: {points_text(points)}{costs}"


_SIZE = whole_number(200, 4096)


@click.command()
@click.option("--run", metavar="DIR", type=file_path, help="The rolls of this dataset.")
@index_option
@click.option("--width", type=_SIZE, default=1200, help="Pixels.")
@click.option("--height", type=_SIZE, default=800, help="Pixels.")
@setup_options
def watch(run: Path | None, index: int, width: int, height: int, **names: Any) -> None:
    """Watch rolls in a window.

    The rolls are those of --seed from --index on, as `physim roll` makes them, or of a dataset
    with --run. Keys are listed in the window; what it shows never changes a roll.
    """
    given = [option for name, option in given_options().items() if name in names]
    if run is not None and given:
        raise click.UsageError(
            f"{given[0]} does not go with --run, which shows the rolls of a dataset; leave out one "
            "of them",
            click.get_current_context(),
        )
    from physim.dataset.progress import ProgressLine
    from physim.window.watch import watch as open_window

    with closing(ProgressLine(sys.stderr)) as line:
        line.begin("opening the window; without a graphics card its first roll takes a while ...")
    open_window(names, index, run, width, height)

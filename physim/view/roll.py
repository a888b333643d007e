"""One roll as a captioned picture of how it ended."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from physim.batch.plan import BatchPlan
from physim.roll import FULL, Simulator
from physim.values import Outcome, RigidState, Roll
from physim.view.poses import placed, title_of
from physim.view.scene import PlacedPig, picture
from physim.view.sheet import FAINT, INK, PAPER

_BAR = 64  # height of the caption [pixels]
_GAP = 4  # between the two views [pixels]
_NEAR = 1.3  # times both radii


def roll_picture(plan: BatchPlan, index: int, width: int, height: int) -> Pillow.Image:
    """The end of the roll `index` of a plan, with its outcome, points and poses below.

    Pigs that lie far apart are shown in a view each, black on the left.
    """
    with Simulator(replace(plan.setup(), settle=FULL)) as simulator:
        roll = simulator.roll(plan.seed, index)
    models = {"black": str(plan.black or plan.model), "pink": str(plan.pink or plan.model)}
    pigs = [
        placed(models[pig.name], pig.name, RigidState(pig.position_m, pig.quat_xyzw))
        for pig in roll.pigs
    ]
    image = Pillow.new("RGB", (width, height), PAPER)
    tall = max(1, height - _BAR)
    if _near(pigs):
        image.paste(Pillow.fromarray(picture(pigs, width, tall)), (0, 0))
    else:  # so far apart that one view would show them tiny: a view each
        half = width // 2
        for number, pig in enumerate(pigs):
            left = number * (half + _GAP)
            wide = half if number == 0 else width - left
            image.paste(Pillow.fromarray(picture([pig], wide, tall)), (left, 0))
    draw = ImageDraw.Draw(image)
    draw.text((14, height - _BAR + 8), _headline(roll), INK, ImageFont.load_default(size=22))
    poses = ", ".join(f"{pig.name}: {title_of(pig.pose).lower()}" for pig in roll.pigs)
    text = f"{poses}; seed {roll.seed}, roll {roll.index}, {roll.time_s:.2f} s"
    draw.text((14, height - _BAR + 38), text, FAINT, ImageFont.load_default(size=15))
    return image


def _near(pigs: Sequence[PlacedPig]) -> bool:
    """Whether both pigs fit into one view and can still be told."""
    apart = math.dist(pigs[0].state.position_m, pigs[1].state.position_m)
    return apart < _NEAR * sum(pig.radius_m for pig in pigs)


def _headline(roll: Roll) -> str:
    name = Outcome(roll.outcome).value.replace("_", " ").capitalize()
    if roll.score is None:
        return f"{name}: no points"
    return f"{name}: {roll.score} point{'' if roll.score == 1 else 's'}"

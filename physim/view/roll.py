"""One roll as a captioned picture of how it ended."""

from __future__ import annotations

from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from physim.batch.plan import BatchPlan
from physim.roll import Simulator
from physim.values import Outcome, RigidState, Roll
from physim.view.poses import placed, title_of
from physim.view.scene import picture
from physim.view.sheet import FAINT, INK, PAPER

_BAR = 64  # height of the caption [pixels]


def roll_picture(plan: BatchPlan, index: int, width: int, height: int) -> Pillow.Image:
    """The end of the roll `index` of a plan, with its outcome, points and poses below."""
    with Simulator(plan.setup()) as simulator:
        roll = simulator.roll(plan.seed, index)
    models = {"black": str(plan.black or plan.model), "pink": str(plan.pink or plan.model)}
    pigs = [
        placed(models[pig.name], pig.name, RigidState(pig.position_m, pig.quat_xyzw))
        for pig in roll.pigs
    ]
    image = Pillow.new("RGB", (width, height), PAPER)
    image.paste(Pillow.fromarray(picture(pigs, width, max(1, height - _BAR))), (0, 0))
    draw = ImageDraw.Draw(image)
    draw.text((14, height - _BAR + 8), _headline(roll), INK, ImageFont.load_default(size=22))
    poses = ", ".join(f"{pig.name}: {title_of(pig.pose).lower()}" for pig in roll.pigs)
    text = f"{poses}; seed {roll.seed}, roll {roll.index}, {roll.time_s:.2f} s"
    draw.text((14, height - _BAR + 38), text, FAINT, ImageFont.load_default(size=15))
    return image


def _headline(roll: Roll) -> str:
    name = Outcome(roll.outcome).value.replace("_", " ").capitalize()
    if roll.score is None:
        return f"{name}: no points"
    return f"{name}: {roll.score} point{'' if roll.score == 1 else 's'}"

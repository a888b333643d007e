"""Pictures of how a roll ended, with what is written on and below them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from physim.render.camera import framing
from physim.render.pig_meshes import PlacedPig
from physim.render.replay import Replay
from physim.render.scene import Image, picture
from physim.rules.score import points_text
from physim.types import Roll, Table

Ink = tuple[int, int, int]
PAPER, INK, FAINT = (250, 248, 244), (40, 36, 40), (120, 112, 116)
_NEAR = 1.3  # times both radii
_GAP = 4  # between two views [pixels]


def near(pigs: Sequence[PlacedPig]) -> bool:
    """Whether all pigs fit into one view and can still be told."""
    if len(pigs) < 2:
        return True
    apart = math.dist(pigs[0].state.position_m, pigs[1].state.position_m)
    return apart < _NEAR * sum(pig.radius_m for pig in pigs)


def pigs_picture(
    pigs: Sequence[PlacedPig], width: int, height: int, table: Table | None = None
) -> Image:
    """(height, width, 3) all pigs in one view, or side by side if they lie far apart."""
    if near(pigs):
        return picture(pigs, width, height, framing(pigs, width / height), table)
    half = (width - _GAP) // 2
    widths = half, width - _GAP - half
    views = [
        pigs_picture([pig], wide, height, table) for pig, wide in zip(pigs, widths, strict=True)
    ]
    return _joined(views, axis=1)


def roll_picture(
    replay: Replay, width: int, height: int, pig: str | None = None, label: bool = True
) -> Pillow.Image:
    """How a roll ended, of both pigs or of the one of that name.

    Pigs that lie far apart are shown in a view each, black on the left. With a label, outcome,
    points and poses stand below.
    """
    pigs = [shown for shown in replay.at_rest() if pig in (None, shown.name)]
    tall = height - label * _strip(height)
    return _labelled(replay, pigs_picture(pigs, width, tall, replay.table), (width, height), label)


def four_views(replay: Replay, width: int, height: int, label: bool = True) -> Pillow.Image:
    """How a roll ended: each pig from its best side, and both from the side and from above."""
    black, pink = replay.at_rest()
    tall = (height - label * _strip(height) - _GAP) // 2
    wide = (width - _GAP) // 2

    def view(pigs: list[PlacedPig], above: bool = False) -> Image:
        return picture(pigs, wide, tall, framing(pigs, wide / tall, above), replay.table)

    rows = ([view([black]), view([pink])], [view([black, pink]), view([black, pink], above=True)])
    drawn = _joined([_joined(row, axis=1) for row in rows], axis=0)
    return _labelled(replay, drawn, (width, height), label)


def captioned(image: Pillow.Image, roll: Roll) -> Pillow.Image:
    """The picture with a strip along its lower edge that says what the roll came to."""
    width, height = image.size
    strip = _strip(height)
    left, top = strip // 6, height - strip
    below = image.crop((0, top, width, height))
    image = image.copy()
    image.paste(Pillow.blend(below, Pillow.new("RGB", below.size, PAPER), 0.82), (0, top))
    draw = ImageDraw.Draw(image)
    write(draw, (left, top + strip // 10), headline(roll), INK, 0.34 * strip, width)
    write(draw, (left, top + 9 * strip // 16), details(roll), FAINT, 0.24 * strip, width)
    return image


def headline(roll: Roll) -> str:
    """Outcome and points."""
    return f"{title_of(roll.outcome)}: {points_text(roll.score)}"


def title_of(name: str) -> str:
    """`leaning_jowler` as "Leaning jowler"; outcomes and poses are texts."""
    return name.replace("_", " ").capitalize()


def poses_text(roll: Roll) -> str:
    """Both poses in a line."""
    return ", ".join(f"{pig.name}: {title_of(pig.pose).lower()}" for pig in roll.pigs)


def details(roll: Roll) -> str:
    """Both poses, and which roll it is."""
    return f"{poses_text(roll)}; seed {roll.seed}, roll {roll.index}, {roll.time_s:.2f} s"


def write(
    draw: ImageDraw.ImageDraw,
    place: tuple[int, int],
    text: str,
    color: Ink,
    size: float,
    right: float,
) -> None:
    """Text that gets smaller where it would reach past `right` [pixels]."""
    font = ImageFont.load_default(size=size)
    while size > 7 and place[0] + draw.textlength(text, font) > right - 4:
        size -= 1
        font = ImageFont.load_default(size=size)
    draw.text(place, text, color, font)


def _strip(height: int) -> int:
    """Height of the caption in a picture that is so high [pixels]."""
    return min(height // 3, 64, max(32, height // 6))


def _labelled(replay: Replay, drawn: Image, size: tuple[int, int], label: bool) -> Pillow.Image:
    image = Pillow.new("RGB", size, PAPER)
    image.paste(Pillow.fromarray(drawn), (0, 0))
    return captioned(image, replay.roll) if label else image


def _joined(images: list[Image], axis: int) -> Image:
    """Pictures side by side (axis 1) or one below the other, with paper between them."""
    shape = list(images[0].shape)
    shape[axis] = _GAP
    gap = np.broadcast_to(np.array(PAPER, dtype=np.uint8), shape)
    first, *others = images
    return np.concatenate([first, *(part for image in others for part in (gap, image))], axis)

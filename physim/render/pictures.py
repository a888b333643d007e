"""The contact sheet: captioned pictures in rows.

One roll as a captioned picture of how it ended.

What is written on and below pictures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from physim.render.camera import framing
from physim.render.pig_meshes import PlacedPig
from physim.render.replay import Replay
from physim.render.scene import Image, picture
from physim.rules.score import points_text
from physim.types import Outcome, Roll, Table

TILE = (400, 300)
CAPTION = 62
GAP = 14
TITLE = 58
_NEAR = 1.3  # times both radii
_BETWEEN = 4  # pixels between two views


@dataclass(frozen=True)
class Tile:
    """One picture of the sheet.

    Attributes:
        title: below the picture, large.
        caption: below the title, small.
        pigs: what is seen; empty for a place-holder that says it did not occur.
        table: what they lie on; None for an endless one.
    """

    title: str
    caption: str
    pigs: tuple[PlacedPig, ...]
    table: Table | None = None


def contact_sheet(
    title: str,
    tiles: Sequence[Tile],
    columns: int = 3,
    progress: Callable[[int, int], None] | None = None,
) -> Pillow.Image:
    """All tiles in rows, under one title; `progress` is told how many are done of how many."""
    rows = -(-len(tiles) // columns)
    width = columns * (TILE[0] + GAP) + GAP
    height = TITLE + rows * (TILE[1] + CAPTION + GAP) + GAP
    sheet = Pillow.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(sheet)
    write(draw, (GAP, 16), title, INK, 24, width)
    for number, tile in enumerate(tiles):
        if progress is not None:
            progress(number, len(tiles))
        left = GAP + (number % columns) * (TILE[0] + GAP)
        top = TITLE + (number // columns) * (TILE[1] + CAPTION + GAP)
        right = left + TILE[0]
        if tile.pigs:
            sheet.paste(Pillow.fromarray(pigs_picture(tile.pigs, *TILE, tile.table)), (left, top))
        else:
            draw.rectangle((left, top, right, top + TILE[1]), outline=FAINT)
            write(draw, (left + 20, top + 20), "did not occur", FAINT, 18, right)
        write(draw, (left, top + TILE[1] + 6), tile.title, INK, 20, right)
        write(draw, (left, top + TILE[1] + 34), tile.caption, FAINT, 15, right)
    if progress is not None:
        progress(len(tiles), len(tiles))
    return sheet


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
    half = (width - _BETWEEN) // 2
    first, second = (
        picture([pig], wide, height, framing([pig], wide / height), table)
        for pig, wide in zip(pigs, (half, width - _BETWEEN - half), strict=True)
    )
    white = np.broadcast_to(np.array(PAPER, dtype=np.uint8), (height, _BETWEEN, 3))
    return np.concatenate([first, white, second], axis=1)


_GAP = 4  # between two views [pixels]


def roll_picture(
    replay: Replay, width: int, height: int, pig: str | None = None, label: bool = True
) -> Pillow.Image:
    """How a roll ended.

    Pigs that lie far apart are shown in a view each, black on the left.

    Args:
        replay: the roll.
        width: [pixels].
        height: [pixels].
        pig: `black` or `pink` for that one alone; None for both.
        label: whether outcome, points and poses stand below.
    """
    pigs = [shown for shown in replay.at_rest() if pig in (None, shown.name)]
    drawn = pigs_picture(pigs, width, height - bar(height, label), replay.table)
    return _labelled(replay, drawn, (width, height), label)


def four_views(replay: Replay, width: int, height: int, label: bool = True) -> Pillow.Image:
    """How a roll ended: each pig from its best side, and both from the side and from above."""
    black, pink = replay.at_rest()
    tall = (height - bar(height, label) - _GAP) // 2
    wide = (width - _GAP) // 2

    def view(pigs: list[PlacedPig], above: bool = False) -> Image:
        return picture(pigs, wide, tall, framing(pigs, wide / tall, above), replay.table)

    rows = ([view([black]), view([pink])], [view([black, pink]), view([black, pink], above=True)])
    drawn = np.empty((2 * tall + _GAP, 2 * wide + _GAP, 3), dtype=np.uint8)
    drawn[:] = PAPER
    for row, views in enumerate(rows):
        for column, one in enumerate(views):
            top, left = row * (tall + _GAP), column * (wide + _GAP)
            drawn[top : top + tall, left : left + wide] = one
    return _labelled(replay, drawn, (width, height), label)


def bar(height: int, label: bool = True) -> int:
    """Height of the caption below a picture that is so high with it [pixels]."""
    return min(64, height // 4) if label else 0


def _labelled(replay: Replay, drawn: Image, size: tuple[int, int], label: bool) -> Pillow.Image:
    image = Pillow.new("RGB", size, PAPER)
    image.paste(Pillow.fromarray(drawn), (0, 0))
    if label:
        _caption(replay, image)
    return image


def _caption(replay: Replay, image: Pillow.Image) -> None:
    width, height = image.size
    draw, size = ImageDraw.Draw(image), bar(height)
    left, top = 14 * size // 64, height - size
    write(draw, (left, top + size // 8), headline(replay.roll), INK, 0.34 * size, width)
    write(draw, (left, top + 38 * size // 64), details(replay.roll), FAINT, 0.23 * size, width)


PAPER, INK, FAINT = (250, 248, 244), (40, 36, 40), (120, 112, 116)


def headline(roll: Roll) -> str:
    """Outcome and points."""
    return f"{title_of(Outcome(roll.outcome))}: {points_text(roll.score)}"


def title_of(name: Outcome | str) -> str:
    """`leaning_jowler` as "Leaning jowler"."""
    text = name if isinstance(name, str) else name.value
    return text.replace("_", " ").capitalize()


def details(roll: Roll) -> str:
    """Both poses, and which roll it is."""
    poses = ", ".join(f"{pig.name}: {title_of(pig.pose.value).lower()}" for pig in roll.pigs)
    return f"{poses}; seed {roll.seed}, roll {roll.index}, {roll.time_s:.2f} s"


def captioned(image: Pillow.Image, roll: Roll) -> Pillow.Image:
    """The picture with a strip along its lower edge that says what the roll came to."""
    width, height = image.size
    size = max(11, min(22, height // 18))
    strip = round(2.9 * size)
    shown = image.copy()
    below = Pillow.new("RGB", (width, strip), PAPER)
    area = (0, height - strip, width, height)
    shown.paste(Pillow.blend(shown.crop(area), below, 0.82), area[:2])
    draw = ImageDraw.Draw(shown)
    top = height - strip + size // 4
    write(draw, (size // 2, top), headline(roll), INK, size, width)
    write(draw, (size // 2, top + round(1.35 * size)), details(roll), FAINT, 0.72 * size, width)
    return shown


def write(
    draw: ImageDraw.ImageDraw,
    place: tuple[int, int],
    text: str,
    color: tuple[int, int, int],
    size: float,
    right: float,
) -> None:
    """Text that gets smaller where it would reach past `right` [pixels]."""
    font = ImageFont.load_default(size=size)
    while size > 7 and place[0] + draw.textlength(text, font) > right - 4:
        size -= 1
        font = ImageFont.load_default(size=size)
    draw.text(place, text, color, font)

"""One roll as a captioned picture of how it ended."""

from __future__ import annotations

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw

from physim.view.caption import FAINT, INK, PAPER, details, headline, write
from physim.view.replay import Replay
from physim.view.scene import Image, PlacedPig, framing, picture
from physim.view.sheet import pigs_picture

_GAP = 4  # between two views [pixels]


def roll_picture(replay: Replay, width: int, height: int) -> Pillow.Image:
    """How a roll ended, with its outcome, points and poses below.

    Pigs that lie far apart are shown in a view each, black on the left.
    """
    drawn = pigs_picture(replay.at_rest(), width, height - bar(height), replay.table)
    return _captioned(replay, drawn, height)


def four_views(replay: Replay, width: int, height: int) -> Pillow.Image:
    """How a roll ended: each pig from its best side, and both from the side and from above."""
    black, pink = replay.at_rest()
    tall = (height - bar(height) - _GAP) // 2
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
    return _captioned(replay, drawn, height, width)


def bar(height: int) -> int:
    """Height of the caption below a picture that is so high with it [pixels]."""
    return min(64, height // 4)


def _captioned(replay: Replay, drawn: Image, height: int, width: int | None = None) -> Pillow.Image:
    width = width or drawn.shape[1]
    image = Pillow.new("RGB", (width, height), PAPER)
    image.paste(Pillow.fromarray(drawn), (0, 0))
    draw, size = ImageDraw.Draw(image), bar(height)
    left, top = 14 * size // 64, height - size
    write(draw, (left, top + size // 8), headline(replay.roll), INK, 0.34 * size, width)
    write(draw, (left, top + 38 * size // 64), details(replay.roll), FAINT, 0.23 * size, width)
    return image

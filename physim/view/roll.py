"""One roll as a captioned picture of how it ended."""

from __future__ import annotations

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw

from physim.view.caption import FAINT, INK, PAPER, details, headline, write
from physim.view.framing import framing
from physim.view.pigs import PlacedPig
from physim.view.replay import Replay
from physim.view.scene import Image, picture
from physim.view.sheet import pigs_picture

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

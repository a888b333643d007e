"""The contact sheet: captioned pictures in rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw

from physim.values import Table
from physim.view.caption import FAINT, INK, PAPER, write
from physim.view.framing import framing
from physim.view.pigs import PlacedPig
from physim.view.scene import Image, picture

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

"""The contact sheet: one captioned picture a pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from physim.view.scene import PlacedPig, picture

TILE = (400, 300)
CAPTION = 62
GAP = 14
TITLE = 58
PAPER, INK, FAINT = (250, 248, 244), (40, 36, 40), (120, 112, 116)


@dataclass(frozen=True)
class Tile:
    """One picture of the sheet.

    Attributes:
        title: below the picture, large.
        caption: below the title, small.
        pigs: what is seen; empty for a place-holder that says it did not occur.
    """

    title: str
    caption: str
    pigs: tuple[PlacedPig, ...]


def contact_sheet(title: str, tiles: Sequence[Tile], columns: int = 3) -> Pillow.Image:
    """All tiles in rows, under one title."""
    rows = -(-len(tiles) // columns)
    width = columns * (TILE[0] + GAP) + GAP
    height = TITLE + rows * (TILE[1] + CAPTION + GAP) + GAP
    sheet = Pillow.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(sheet)
    draw.text((GAP, 16), title, INK, ImageFont.load_default(size=24))
    for number, tile in enumerate(tiles):
        left = GAP + (number % columns) * (TILE[0] + GAP)
        top = TITLE + (number // columns) * (TILE[1] + CAPTION + GAP)
        if tile.pigs:
            sheet.paste(Pillow.fromarray(picture(tile.pigs, *TILE)), (left, top))
        else:
            draw.rectangle((left, top, left + TILE[0], top + TILE[1]), outline=FAINT)
            draw.text(
                (left + 20, top + 20), "did not occur", FAINT, ImageFont.load_default(size=18)
            )
        draw.text((left, top + TILE[1] + 6), tile.title, INK, ImageFont.load_default(size=20))
        draw.text((left, top + TILE[1] + 34), tile.caption, FAINT, ImageFont.load_default(size=15))
    return sheet

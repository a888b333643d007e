"""What is written on and below pictures."""

from __future__ import annotations

from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from physim.values import Outcome, Roll

PAPER, INK, FAINT = (250, 248, 244), (40, 36, 40), (120, 112, 116)


def headline(roll: Roll) -> str:
    """Outcome and points."""
    name = title_of(Outcome(roll.outcome))
    if roll.score is None:
        return f"{name}: no points"
    return f"{name}: {roll.score} point{'' if roll.score == 1 else 's'}"


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

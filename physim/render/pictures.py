"""Pictures of how a roll ended, with what is written on and below them.

What the classifier saw of each pig: contacts, support polygon, centre of mass, up, margin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from physim.geometry import convex_polygon, inside_margin, rotate, up_in_body
from physim.poses.classify import heights_m, table_gap_m, table_gaps
from physim.render.camera import framing
from physim.render.pig_meshes import PlacedPig
from physim.render.replay import Replay
from physim.render.scene import Image, picture
from physim.rules.score import points_text
from physim.types import TABLE, FloatArray, PigModel, PigResult, Pose, RigidState, Roll, Table

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


_FINE = 2  # lines are drawn this many times larger, then averaged
SUPPORT, CONTACT, MASS, UP = (20, 90, 190), (235, 140, 0), (200, 20, 40), (20, 130, 70)
_LEGEND = (
    ("contacts", CONTACT),
    ("support polygon", SUPPORT),
    ("centre of mass and its foot", MASS),
    ("the pig's own up", UP),
)
_TOP, _TEXT = 62, 150  # height of the text above and below the pictures [pixels]


def pose_overlay(replay: Replay, width: int, height: int) -> Pillow.Image:
    """Both pigs side by side, with what their poses were read from."""
    image = Pillow.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(image)
    write(draw, (12, 8), f"{headline(replay.roll)}   ({details(replay.roll)})", INK, 18, width)
    left = 12
    for text, color in _LEGEND:
        draw.ellipse((left, 41, left + 11, 52), fill=color)
        write(draw, (left + 16, 38), text, INK, 14, width)
        left += 34 + round(draw.textlength(text) * 1.45)
    half, tall = width // 2, max(32, height - _TOP - _TEXT)
    pigs = zip(replay.at_rest(), replay.roll.pigs, replay.setup.pigs, strict=True)
    for number, (placed, result, model) in enumerate(pigs):
        left = number * half
        image.paste(_marked(placed, result, model, half - 4, tall), (left, _TOP))
        title, *lines = _told(result, model, placed.state)
        top = _TOP + tall + 8
        write(draw, (left + 12, top), title, INK, 20, left + half)
        for row, line in enumerate(lines):
            write(draw, (left + 12, top + 30 + 22 * row), line, FAINT, 14, left + half)
    return image


def support_polygon(model: PigModel, state: RigidState) -> FloatArray:
    """(m, 2) the hull of all corners that touch the table, in the world [m]."""
    touching = heights_m(model, state) < table_gap_m(model)
    corners = rotate(state.quat_xyzw, model.vertices_m[touching]) + state.position_m
    return convex_polygon(corners[:, :2])


def _marked(
    pig: PlacedPig, result: PigResult, model: PigModel, width: int, height: int
) -> Pillow.Image:
    view = framing([pig], width / height)
    drawn = Pillow.fromarray(picture([pig], width, height, view))
    drawn = drawn.resize((width * _FINE, height * _FINE), Pillow.Resampling.BICUBIC)
    draw = ImageDraw.Draw(drawn, "RGBA")

    def place(*points: FloatArray) -> list[tuple[float, float]]:
        return [(x, y) for x, y, _ in view.project(np.array(points), *drawn.size).tolist()]

    def dot(point: FloatArray, color: Ink, radius: int = 6) -> None:
        (x, y), r = place(point)[0], radius * _FINE
        draw.ellipse((x - r, y - r, x + r, y + r), color, (255, 255, 255), _FINE)

    polygon = place(*(np.array([x, y, 0.0]) for x, y in support_polygon(model, pig.state)))
    if len(polygon) > 2:
        draw.polygon(polygon, fill=(*SUPPORT, 70))
    draw.line([*polygon, *polygon[:1]], SUPPORT, 3 * _FINE, joint="curve")
    middle = pig.state.position_m
    foot = middle * [1.0, 1.0, 0.0]
    draw.line(place(middle, foot), MASS, 2 * _FINE)
    dot(foot, MASS, 4)
    dot(middle, MASS, 7)
    for contact in result.contacts:
        dot(contact.position_m, CONTACT)
        if contact.other != TABLE:
            x, y = place(contact.position_m)[0]
            text = f"{contact.part} at {contact.other}"
            corner = (round(x) + 9 * _FINE, round(y))
            write(draw, corner, text, CONTACT, 13 * _FINE, width * _FINE)
    back = rotate(pig.state.quat_xyzw, np.array([0.0, 0.0, 1.0]))
    tip = middle + 0.9 * pig.radius_m * back
    draw.line(place(middle, tip), UP, 3 * _FINE)
    dot(tip, UP, 5)
    return drawn.resize((width, height), Pillow.Resampling.LANCZOS)


def _told(result: PigResult, model: PigModel, state: RigidState) -> list[str]:
    """The lines below a picture."""
    alone = "" if result.pose is Pose.OTHER else f", margin {result.margin:.2f}"
    touching = [c.part if c.other == TABLE else f"{c.part} at {c.other}" for c in result.contacts]
    gaps = sorted(table_gaps(model, state).items(), key=lambda item: item[1])
    spare = [f"{label} {1e3 * gap:.2f}" for label, gap in gaps if gap >= table_gap_m(model)][:5]
    margin_mm = 1e3 * inside_margin(state.position_m[:2], support_polygon(model, state))
    forward, left, up = up_in_body(state.quat_xyzw.tolist())
    lines = [
        "touches: " + (", ".join(dict.fromkeys(touching)) or "nothing"),
        "next parts, mm above the table: " + ", ".join(spare),
        f"centre of mass {margin_mm:.2f} mm inside the support polygon",
        f"world's up seen from the pig: {forward:+.2f} forward, {left:+.2f} left, {up:+.2f} up",
    ]
    title = f"{result.name}: {title_of(result.pose)}{alone}"
    return [title, *(line.replace("_", " ") for line in lines)]

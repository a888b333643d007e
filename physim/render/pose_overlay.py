"""What the classifier saw of each pig: contacts, support polygon, centre of mass, up, margin."""

from __future__ import annotations

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw

from physim.convex import convex_polygon, inside_margin
from physim.poses.classify import heights_m, table_gap_m, table_gaps
from physim.quaternions import rotate, up_in_body
from physim.render.camera import framing
from physim.render.pictures import FAINT, INK, PAPER, Ink, details, headline, title_of, write
from physim.render.pig_meshes import PlacedPig
from physim.render.replay import Replay
from physim.render.scene import picture
from physim.types import TABLE, FloatArray, PigModel, PigResult, Pose, RigidState

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

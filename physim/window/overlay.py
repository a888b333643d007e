"""What the classifier saw of each pig: contacts, support polygon, centre of mass, up, margin."""

from __future__ import annotations

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw

from physim.convex import convex_polygon, inside_margin
from physim.poses.classify import heights_m, table_gap_m, table_gaps
from physim.quaternions import rotate
from physim.render.camera import View, framing
from physim.render.pictures import FAINT, INK, PAPER, details, headline, title_of, write
from physim.render.pig_meshes import PlacedPig
from physim.render.replay import Replay
from physim.render.scene import picture
from physim.types import TABLE, FloatArray, PigModel, PigResult, Pose, RigidState

_FINE = 2  # lines are drawn this many times larger, then averaged
SUPPORT, CONTACT, MASS, UP = (20, 90, 190), (235, 140, 0), (200, 20, 40), (20, 130, 70)
_TEXT = 150  # height of the text below each picture [pixels]


def reading_picture(replay: Replay, width: int, height: int) -> Pillow.Image:
    """Both pigs side by side, with what their poses were read from."""
    image = Pillow.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(image)
    write(draw, (12, 8), f"{headline(replay.roll)}   ({details(replay.roll)})", INK, 18, width)
    _legend(draw, 12, 38, width)
    top, half = 62, width // 2
    tall = max(32, height - top - _TEXT)
    pigs = zip(replay.at_rest(), replay.roll.pigs, replay.setup.pigs, strict=True)
    for number, (placed, result, model) in enumerate(pigs):
        left = number * half
        image.paste(_marked(placed, result, model, half - 4, tall), (left, top))
        _tell(draw, result, model, placed.state, (left + 12, top + tall + 8), left + half)
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
    layer = Pillow.new("RGBA", drawn.size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(layer)
    pen = _Pen(draw, view, width * _FINE, height * _FINE)
    place, quat = pig.state.position_m, pig.state.quat_xyzw
    polygon = support_polygon(model, pig.state)
    if len(polygon):
        pen.area(np.column_stack([polygon, np.zeros(len(polygon))]), SUPPORT)
    foot = np.array([place[0], place[1], 0.0])
    pen.line(place, foot, MASS)
    pen.cross(foot, MASS)
    pen.dot(place, 7, MASS)
    for contact in result.contacts:
        pen.dot(contact.position_m, 6, CONTACT)
        if contact.other != TABLE:
            pen.label(contact.position_m, f"{contact.part} at {contact.other}", CONTACT)
    back = rotate(quat, np.array([0.0, 0.0, 1.0]))
    pen.arrow(place, place + 0.9 * pig.radius_m * back, UP)
    drawn = Pillow.alpha_composite(drawn.convert("RGBA"), layer).convert("RGB")
    return drawn.resize((width, height), Pillow.Resampling.LANCZOS)


class _Pen:
    """Draws places of the world into a picture."""

    def __init__(self, draw: ImageDraw.ImageDraw, view: View, width: int, height: int) -> None:
        self._draw, self._view, self._size = draw, view, (width, height)

    def _at(self, place: FloatArray) -> tuple[float, float]:
        x, y, _ = self._view.project(place[None], *self._size)[0].tolist()
        return x, y

    def area(self, places: FloatArray, color: tuple[int, int, int]) -> None:
        corners = [self._at(place) for place in places]
        if len(corners) > 2:
            self._draw.polygon(corners, fill=(*color, 70))
        self._draw.line([*corners, corners[0]], (*color, 255), 3 * _FINE, joint="curve")

    def line(self, a: FloatArray, b: FloatArray, color: tuple[int, int, int]) -> None:
        self._draw.line([self._at(a), self._at(b)], (*color, 230), 2 * _FINE)

    def dot(self, place: FloatArray, radius: int, color: tuple[int, int, int]) -> None:
        x, y = self._at(place)
        r = radius * _FINE
        self._draw.ellipse((x - r, y - r, x + r, y + r), (*color, 255), (255, 255, 255), _FINE)

    def cross(self, place: FloatArray, color: tuple[int, int, int]) -> None:
        x, y = self._at(place)
        r = 7 * _FINE
        for dx, dy in ((r, r), (r, -r)):
            self._draw.line((x - dx, y - dy, x + dx, y + dy), (*color, 255), 2 * _FINE)

    def arrow(self, a: FloatArray, b: FloatArray, color: tuple[int, int, int]) -> None:
        begin, end = np.array(self._at(a)), np.array(self._at(b))
        way = end - begin
        length = float(np.hypot(*way))
        self._draw.line([*begin, *end], (*color, 255), 3 * _FINE)
        if length < 1.0:  # it points at the camera
            return
        along = way / length
        aside = np.array([-along[1], along[0]])
        tip = [end + 9 * _FINE * along, end + 5 * _FINE * aside, end - 5 * _FINE * aside]
        self._draw.polygon([tuple(p.tolist()) for p in tip], fill=(*color, 255))

    def label(self, place: FloatArray, text: str, color: tuple[int, int, int]) -> None:
        x, y = self._at(place)
        write(self._draw, (round(x) + 9 * _FINE, round(y)), text, color, 13 * _FINE, self._size[0])


def _legend(draw: ImageDraw.ImageDraw, left: int, top: int, right: int) -> None:
    entries = (
        ("contacts", CONTACT),
        ("support polygon", SUPPORT),
        ("centre of mass and its foot", MASS),
        ("the pig's own up", UP),
    )
    for text, color in entries:
        draw.ellipse((left, top + 3, left + 11, top + 14), fill=color)
        write(draw, (left + 16, top), text, INK, 14, right)
        left += 34 + round(draw.textlength(text) * 1.45)


def _tell(
    draw: ImageDraw.ImageDraw,
    result: PigResult,
    model: PigModel,
    state: RigidState,
    place: tuple[int, int],
    right: int,
) -> None:
    """The numbers below a picture."""
    x, y = place
    alone = "" if result.pose is Pose.OTHER else f", margin {result.margin:.2f}"
    write(draw, (x, y), f"{result.name}: {title_of(result.pose.value)}{alone}", INK, 20, right)
    touching = [c.part if c.other == TABLE else f"{c.part} at {c.other}" for c in result.contacts]
    gaps = table_gaps(model, state)
    spare = [
        f"{label} {1e3 * gap:.2f}"
        for label, gap in sorted(gaps.items(), key=lambda item: item[1])
        if gap >= table_gap_m(model)
    ][:5]
    margin_mm = 1e3 * inside_margin(state.position_m[:2], support_polygon(model, state))
    up = rotate(state.quat_xyzw, np.eye(3))[:, 2]
    lines = [
        "touches: " + (", ".join(dict.fromkeys(touching)) or "nothing"),
        "next parts, mm above the table: " + ", ".join(spare),
        f"centre of mass {margin_mm:.2f} mm inside the support polygon",
        f"world's up seen from the pig: {up[0]:+.2f} forward, {up[1]:+.2f} left, {up[2]:+.2f} up",
    ]
    for number, line in enumerate(lines):
        write(draw, (x, y + 30 + 22 * number), line.replace("_", " "), FAINT, 14, right)

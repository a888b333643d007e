"""Where the body parts of a shape are: boxes, guessed from its sections, that can be corrected.

A box cuts its part out of the shape; what earlier boxes took, later ones do not get. What no box
takes is the trunk, or, of a shape without any landmarks, `solid`, which no pose of the rules is
read from.

Four legs, found in the sections of a standing shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from physim.importer.solids import Problem, Solid, area
from physim.types import FloatArray

Box = tuple[float, float, float, float, float, float]  # x from, to, y from, to, z from, to
Landmarks = dict[str, Box]
Range = tuple[float | None, float | None]  # None: to the outside
REST, SOLID = "trunk", "solid"
_MARGIN = 0.02  # of the length: boxes reach past the shape's outside
_FOOT = 0.08  # of the height
_SNOUT_SHARES = np.arange(0.02, 0.15, 0.01)  # of the length, from the tip
_SNOUT_WIDENS = 2.0  # where the section is so much larger than at the tip, the head begins
_EAR_SECTIONS = np.arange(0.98, 0.55, -0.02)  # of the height
_EAR_AREA = 0.15  # of the box's, at most
_EAR_LOWEST = 0.65  # of the height
_EAR_WIDENS = 1.3  # where the section beside the head is so much larger, the cheek begins
_CRUMB = 1e-4  # of the volume: smaller pieces of a box stay with the rest


def guess(solid: Solid, legs: Legs | None) -> tuple[Landmarks, list[Problem]]:
    """The landmarks of a shape in the pig's axes, and what could not be found.

    Args:
        solid: x forward, y left, z up [mm].
        legs: of it, or None.
    """
    if legs is None:
        return {}, [
            Problem(
                "landmarks",
                "four legs",
                "not found: no pose of the rules is read, every rest is `other`; give --forward "
                "and --up, or boxes under `landmarks` in model.yaml",
            )
        ]
    marks: Landmarks = {}
    snout_x = _snout(solid)
    low, high = solid.bounds
    edge = _MARGIN * (high[0] - low[0])
    outside = (low - edge, high + edge)
    problems = []
    ears = _ears(solid, legs, snout_x)
    if ears is None:
        problems.append(
            Problem(
                "landmarks",
                "ears",
                "not found: no leaning jowler is read; give boxes under `landmarks` in model.yaml",
            )
        )
    else:
        for label, (x, y, z) in zip(("left_ear", "right_ear"), ears, strict=True):
            marks[label] = _box(outside, x=x, y=y, z=(_ear_root(solid, outside, x, y, z), None))
    marks["snout"] = _box(outside, x=(snout_x, None), z=(legs.high, None))
    _add_legs(marks, legs, outside, low[2], high[2])
    neck = min(legs.front_x, snout_x - edge)
    marks["head"] = _box(outside, x=(neck, None), z=(legs.high, None))
    return marks, problems


def _add_legs(
    marks: Landmarks, legs: Legs, outside: tuple[FloatArray, FloatArray], low: float, high: float
) -> None:
    x, y = legs.middle
    sole = max(low + _FOOT * (high - low), legs.low + 0.02 * (high - low))
    sole = min(sole, max(legs.high, legs.low + 1e-3 * (high - low)))
    sides = {"front": (x, None), "hind": (None, x)}
    flanks = {"left": (y, None), "right": (None, y)}
    for part, heights in (("foot", (None, sole)), ("leg", (None, legs.high))):
        for end, along in sides.items():
            for flank, across in flanks.items():
                name = f"{end}_{flank}_{part}"
                marks[name] = _box(outside, x=along, y=across, z=heights)


def _snout(solid: Solid) -> float:
    """Where the snout leaves the head, from the sections behind its tip."""
    low, high = solid.bounds
    length = high[0] - low[0]
    upright = solid.turned(np.array([[0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]]), np.zeros(3))
    first = 0.0
    for share in _SNOUT_SHARES:
        outlines = upright.outlines(high[0] - share * length)
        section = max((area(outline) for outline in outlines), default=0.0)
        first = first or section
        if section > _SNOUT_WIDENS * first > 0:
            return float(high[0] - max(share - 0.01, 0.04) * length)
    return float(high[0] - 0.10 * length)


def _ears(
    solid: Solid, legs: Legs, snout_x: float
) -> tuple[tuple[Range, Range, float], ...] | None:
    """Of the left ear and the right one: x and y between which, z above which it is apart."""
    low, high = solid.bounds
    box = float(np.prod((high - low)[:2]))
    middle_y = float(legs.middle[1])
    behind = float(legs.middles[:2, 0].mean())
    root: float | None = None
    found: list[FloatArray] = []
    for share in _EAR_SECTIONS:
        height = low[2] + share * (high[2] - low[2])
        ears = [
            o
            for o in solid.outlines(height)
            if _is_ear(o, behind, snout_x, middle_y, _EAR_AREA * box)
        ]
        if len({bool(o[:, 1].mean() > middle_y) for o in ears}) == 2:
            root = height
        elif root is not None:
            break
        found += ears
    if root is None:
        return None
    points = np.concatenate(found)
    sides = points[:, 1] > middle_y
    start = float(points[:, 0].min()) - _MARGIN * (high[0] - low[0])
    left, right = float(points[sides, 1].min()), float(points[~sides, 1].max())
    return ((start, None), (left, None), root), ((start, None), (None, right), root)


def _ear_root(
    solid: Solid, outside: tuple[FloatArray, FloatArray], x: Range, y: Range, z: float
) -> float:
    """How far down an ear goes beside the head, before its section widens to the cheek."""
    box = _box(outside, x, y)
    flap, _ = solid.halves(Solid.box(np.array(box[::2]), np.array(box[1::2])))
    low, high = solid.bounds
    step = 0.02 * (high[2] - low[2])
    widest = _EAR_WIDENS * _section(flap, z)
    while (
        z - step > low[2] + _EAR_LOWEST * (high[2] - low[2])
        and 0 < _section(flap, z - step) < widest
    ):
        z -= step
    return z


def _section(solid: Solid, height: float) -> float:
    return sum(area(outline) for outline in solid.outlines(height))


def _is_ear(outline: FloatArray, behind: float, ahead: float, middle_y: float, most: float) -> bool:
    x = 0.5 * (outline[:, 0].min() + outline[:, 0].max())
    sides = outline[:, 1] - middle_y
    on_one_side = bool((sides > 0).all() or (sides < 0).all())
    return on_one_side and behind < x < ahead and area(outline) < most


def _box(
    outside: tuple[FloatArray, FloatArray],
    x: Range = (None, None),
    y: Range = (None, None),
    z: Range = (None, None),
) -> Box:
    low, high = outside
    ends: list[float] = []
    for axis, (start, stop) in enumerate((x, y, z)):
        ends.append(round(float(low[axis] if start is None else start), 2))
        ends.append(round(float(high[axis] if stop is None else stop), 2))
    return (ends[0], ends[1], ends[2], ends[3], ends[4], ends[5])


def cut(solid: Solid, marks: Mapping[str, Box]) -> list[tuple[str, Solid]]:
    """The shape in labelled pieces: those of the boxes, in order, and the rest."""
    pieces: list[tuple[str, Solid]] = []
    left = solid
    least = _CRUMB * solid.volume
    for label, box in marks.items():
        inside, left = _cut_box(left, box, least)
        pieces += [(label, piece) for piece in inside]
    rest = REST if marks else SOLID
    return pieces + [(rest, piece) for piece in left.separate() if piece.volume > 0.01 * least]


def _cut_box(solid: Solid, box: Box, least: float) -> tuple[list[Solid], Solid]:
    """What lies in the box, in pieces of at least that volume, and the rest."""
    low, high = np.array(box[::2]), np.array(box[1::2])
    if (high <= low).any():
        return [], solid
    inside, outside = solid.halves(Solid.box(low, high))
    pieces = inside.separate() if inside.faces else []
    crumbs = [piece for piece in pieces if piece.volume < least]
    return pieces[: len(pieces) - len(crumbs)], Solid.union([outside, *crumbs])


SECTIONS = np.arange(0.02, 0.56, 0.03)  # heights at which a shape is cut, as shares of its own
_LEAST_AREA = 5e-4  # of the box's: smaller outlines are no legs
_MOST_AREA = 0.2


@dataclass(frozen=True)
class Legs:
    """Where four legs are, in the axes of the shape.

    Attributes:
        low, high: heights between which the sections show just four legs.
        middles: (4, 2) of the legs' lowest sections: front left, front right, hind left, right.
        front_x, hind_x: where the front legs end forward and the hind legs backward.
        clarity: the share of the height over which there are four legs.
    """

    low: float
    high: float
    middles: FloatArray
    front_x: float
    hind_x: float
    clarity: float

    @property
    def middle(self) -> FloatArray:
        """(2,) the point between the four."""
        front, hind = self.middles[:2, 0].mean(), self.middles[2:, 0].mean()
        left, right = self.middles[[0, 2], 1].mean(), self.middles[[1, 3], 1].mean()
        return np.array([0.5 * (front + hind), 0.5 * (left + right)])


def legs_of(solid: Solid) -> Legs | None:
    """The legs of a shape that stands along z with its length along x; None if it has not four."""
    (x0, y0, z0), (x1, y1, z1) = solid.bounds
    box = (x1 - x0) * (y1 - y0)
    found: list[tuple[float, FloatArray, float, float]] = []
    for share in SECTIONS:
        height = z0 + share * (z1 - z0)
        outlines = [o for o in solid.outlines(height) if area(o) > _LEAST_AREA * box]
        if len(outlines) != 4 or max(area(o) for o in outlines) > _MOST_AREA * box:
            if found:
                break  # the belly
            continue
        middles = _corners(np.array([0.5 * (o.min(axis=0) + o.max(axis=0)) for o in outlines]))
        if middles is None:
            if found:
                break
            continue
        every = np.concatenate(outlines)
        found.append((height, middles, float(every[:, 0].max()), float(every[:, 0].min())))
    if not found:
        return None
    low, high = found[0][0], found[-1][0]
    clarity = (high - low) / (z1 - z0) + float(SECTIONS[1] - SECTIONS[0])
    return Legs(low, high, found[0][1], found[0][2], found[0][3], clarity)


def _corners(middles: FloatArray) -> FloatArray | None:
    """Four points, one a corner: front left, front right, hind left, hind right."""
    order = np.argsort(-middles[:, 0])
    front, hind = middles[order[:2]], middles[order[2:]]
    front, hind = (pair[np.argsort(-pair[:, 1])] for pair in (front, hind))
    across = min(front[0, 1], hind[0, 1]) - max(front[1, 1], hind[1, 1])
    along = front[:, 0].min() - hind[:, 0].max()
    if across <= 0 or along <= 0:
        return None
    return np.concatenate([front, hind])

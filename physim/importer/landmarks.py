"""Which way is up and forward in a shape, and where its body parts are, guessed from its sections.

Body parts are boxes, which can be corrected.
A box cuts its part out of the shape; what earlier boxes took, later ones do not get. What no box
takes is the trunk, or, of a shape without any landmarks, `solid`, which no pose of the rules is
read from. The axes are the pig's: x forward, y left, z up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from physim.importer.solids import Problem, Solid, area, ordered_corners
from physim.pigs.stable_poses import stable_rests
from physim.types import FloatArray

Box = tuple[float, ...]  # x from, to, y from, to, z from, to
Landmarks = dict[str, Box]
Range = tuple[float | None, float | None]  # None: to the outside
REST, SOLID = "trunk", "solid"
DIRECTIONS: dict[str, FloatArray] = {
    sign + name: float(sign + "1") * axis + 0.0
    for name, axis in zip("xyz", np.eye(3), strict=True)
    for sign in ("", "-")
}
_SNAP = np.cos(np.radians(25.0))  # a guess this near to an axis of the file means that axis
_HULL_POINTS = 120  # for guessing where it could stand
_MOST_RESTS = 24
_CLEARER = 0.05  # of the height: so much longer legs make another direction the one for up
_MARGIN = 0.02  # of the length: boxes reach past the shape's outside
_LEG_SECTIONS = np.arange(0.02, 0.56, 0.03)  # of the height, where four legs are looked for
_LEG_AREA = 5e-4, 0.2  # of the box's
_FOOT = 0.08  # of the height
_SNOUT_SECTIONS = np.arange(0.02, 0.15, 0.01)  # of the length, from the tip
_SNOUT_WIDENS = 2.0  # where the section is so much larger than at the tip, the head begins
_EAR_SECTIONS = np.arange(0.98, 0.55, -0.02)  # of the height
_EAR_AREA = 0.15  # of the box's, at most
_EAR_LOWEST = 0.65  # of the height
_EAR_WIDENS = 1.3  # where the section beside the head is so much larger, the cheek begins
_CRUMB = 1e-4  # of the volume: smaller pieces of a box stay with the rest


@dataclass(frozen=True)
class Legs:
    """Where four legs are.

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


def legs_of(solid: Solid) -> Legs | None:
    """The legs of a shape that stands along z with its length along x; None if it has not four."""
    low, high = solid.bounds
    box = float(np.prod((high - low)[:2]))
    found: list[tuple[float, FloatArray, FloatArray]] = []
    for height in low[2] + _LEG_SECTIONS * (high[2] - low[2]):
        outlines = [o for o in solid.outlines(height) if area(o) > _LEG_AREA[0] * box]
        middles = None
        if len(outlines) == 4 and max(map(area, outlines)) <= _LEG_AREA[1] * box:
            middles = _corners(np.array([0.5 * (o.min(axis=0) + o.max(axis=0)) for o in outlines]))
        if middles is not None:
            found.append((float(height), middles, np.concatenate(outlines)[:, 0]))
        elif found:
            break  # the belly
    if not found:
        return None
    (lowest, middles, along), highest = found[0], found[-1][0]
    clarity = (highest - lowest) / float(high[2] - low[2]) + float(np.diff(_LEG_SECTIONS)[0])
    return Legs(lowest, highest, middles, float(along.max()), float(along.min()), clarity)


def _corners(middles: FloatArray) -> FloatArray | None:
    """Four points, one a corner: front left, front right, hind left, hind right."""
    order = middles[np.argsort(-middles[:, 0])]
    front, hind = (pair[np.argsort(-pair[:, 1])] for pair in (order[:2], order[2:]))
    across = min(front[0, 1], hind[0, 1]) - max(front[1, 1], hind[1, 1])
    along = front[:, 0].min() - hind[:, 0].max()
    return np.concatenate([front, hind]) if across > 0 and along > 0 else None


def orient(
    solid: Solid, forward: str | None, up: str | None, y_up: bool
) -> tuple[FloatArray, bool, list[Problem]]:
    """Finds the pig's axes.

    Args:
        solid: in the file's axes [mm].
        forward: one of `DIRECTIONS`, or None to guess.
        up: as `forward`.
        y_up: the file's format has y upwards and z forward.

    Returns:
        (3, 3) the pig's forward, left and up in the file's axes, row by row; whether it stands on
        four legs there; what was guessed.
    """
    ahead = None if forward is None else DIRECTIONS[forward]
    usual = [DIRECTIONS[name] for name in ("yz" if y_up else "zy")]
    if up is not None:
        ups = [DIRECTIONS[up]]
    elif ahead is not None:
        ups = [axis for axis in (*usual, *DIRECTIONS.values()) if abs(axis @ ahead) < 0.5]
    else:
        ups = [usual[0], *DIRECTIONS.values()]
    axes, legs = _clearest(solid, ups, ahead)
    if legs is None and up is None and ahead is None:
        axes, legs = _clearest(solid, [usual[0], *_standing(solid)], None)
    if legs is None and (ahead is None or up is None):
        if ahead is None:
            ways = (DIRECTIONS[name] for name in ("zy" if y_up else "xy"))
            ahead = next(way for way in ways if abs(way @ ups[0]) < 0.5)
        axes = _axes(ups[0], ahead)
        said = "no four legs to tell by; else give --forward and --up"
    elif legs is not None and forward is None:
        if _tail_first(_turned(solid, axes), legs):
            axes = axes * np.array([[-1.0], [-1.0], [1.0]])
        said = "guessed from legs and head; else --forward, --up"
    else:
        return axes, legs is not None, []
    return axes, legs is not None, [Problem("axes", axes_text(axes), said)]


def _clearest(
    solid: Solid, ups: list[FloatArray], forward: FloatArray | None
) -> tuple[FloatArray, Legs | None]:
    """The axes for the first of the directions for up, or those in which legs are clearer."""
    best: tuple[FloatArray, Legs | None] | None = None
    clearest = 0.0
    for up in ups:
        axes = _axes(up, _long_axis(solid, up) if forward is None else forward)
        legs = legs_of(_turned(solid, axes))
        clarity = legs.clarity if legs else 0.0
        if best is None or clarity > clearest + _CLEARER:
            best, clearest = (axes, legs), clarity
    assert best is not None  # there is a direction at least
    return best


def _standing(solid: Solid) -> list[FloatArray]:
    """Up, where the shape stands on a table."""
    vertices, _ = solid.mesh()
    tolerance = 2e-3 * float(np.ptp(vertices, axis=0).max())
    corners, _ = ordered_corners(vertices, _HULL_POINTS, tolerance)
    rests = stable_rests(corners, [""] * len(corners), corners.mean(axis=0), 2000)
    return [-rest.down for rest in rests[:_MOST_RESTS]]


def _axes(up: FloatArray, forward: FloatArray) -> FloatArray:
    """The three axes; what of `forward` lies along `up` is dropped."""
    left = np.cross(up, forward)
    left /= np.linalg.norm(left)
    return np.array([np.cross(left, up), left, up])


def _long_axis(solid: Solid, up: FloatArray) -> FloatArray:
    """The principal axis of the surface across `up`, or the file's axis that is near it."""
    vertices, faces = solid.mesh()
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    middles = (a + b + c) / 3.0
    middles = middles - np.average(middles, axis=0, weights=areas)
    middles = middles - (middles @ up)[:, None] * up
    axis = np.linalg.eigh((middles * areas[:, None]).T @ middles)[1][:, -1]
    for name in "xyz":
        if abs(DIRECTIONS[name] @ axis) > _SNAP and abs(DIRECTIONS[name] @ up) < 1e-6:
            return DIRECTIONS[name]
    return np.asarray(axis)


def _tail_first(solid: Solid, legs: Legs) -> bool:
    """Whether the head is at the low end of x: it reaches farther beyond the legs, and is high."""
    (low, _, bottom), (high, _, top) = solid.bounds
    ahead, behind = high - legs.front_x, legs.hind_x - low
    vertices, _ = solid.mesh()
    high_ones = vertices[vertices[:, 2] > bottom + 0.9 * (top - bottom)]
    lean = float(high_ones[:, 0].mean()) - 0.5 * (low + high)
    return bool((ahead - behind) + lean < 0.0)


def _turned(solid: Solid, axes: FloatArray) -> Solid:
    return solid.turned(axes, np.zeros(3))


def axes_text(axes: FloatArray) -> str:
    """Which axes of the file the pig's are, from (3, 3) forward, left, up."""
    shown = []
    for direction in axes[[0, 2]]:
        names = [name for name, axis in DIRECTIONS.items() if axis @ direction > 0.9999]
        shown.append(names[0] if names else "({:.2f}, {:.2f}, {:.2f})".format(*(direction + 0.0)))
    return f"forward {shown[0]}, up {shown[1]}"


def guess(solid: Solid, legs: Legs | None) -> tuple[Landmarks, list[Problem]]:
    """The landmarks of a shape, and what could not be found."""
    if legs is None:
        action = "not found: no pose of the rules is read, every rest is `other`; give --forward "
        action += "and --up, or boxes under `landmarks` in model.yaml"
        return {}, [Problem("landmarks", "four legs", action)]
    low, high = solid.bounds
    edge = _MARGIN * (high[0] - low[0])
    outside = np.stack([low - edge, high + edge])
    snout_x = _snout(solid)
    marks, problems = _ears(solid, legs, snout_x, outside), []
    if not marks:
        action = "not found: no leaning jowler is read; give boxes under `landmarks` in model.yaml"
        problems.append(Problem("landmarks", "ears", action))
    marks["snout"] = _box(outside, x=(snout_x, None), z=(legs.high, None))
    (front_x, left_y), (hind_x, right_y) = (
        (legs.middles[:2, 0].mean(), legs.middles[::2, 1].mean()),
        (legs.middles[2:, 0].mean(), legs.middles[1::2, 1].mean()),
    )
    x, y, height = 0.5 * (front_x + hind_x), 0.5 * (left_y + right_y), high[2] - low[2]
    sole = max(low[2] + _FOOT * height, legs.low + 0.02 * height)
    sole = min(sole, max(legs.high, legs.low + 1e-3 * height))
    for part, top in (("foot", sole), ("leg", legs.high)):
        for end, along in (("front", (x, None)), ("hind", (None, x))):
            for flank, across in (("left", (y, None)), ("right", (None, y))):
                marks[f"{end}_{flank}_{part}"] = _box(outside, along, across, (None, top))
    neck = min(legs.front_x, snout_x - edge)
    marks["head"] = _box(outside, x=(neck, None), z=(legs.high, None))
    return marks, problems


def _box(
    outside: FloatArray,
    x: Range = (None, None),
    y: Range = (None, None),
    z: Range = (None, None),
) -> Box:
    ends = np.array([x, y, z], dtype=np.float64)
    ends = np.where(np.isnan(ends), outside.T, ends)
    return tuple(round(end, 2) for end in ends.ravel().tolist())


def _snout(solid: Solid) -> float:
    """Where the snout leaves the head, from the sections behind its tip."""
    low, high = solid.bounds
    length = high[0] - low[0]
    upright = solid.turned(np.roll(np.eye(3), 1, axis=1), np.zeros(3))  # the snout upwards
    first = 0.0
    for share in _SNOUT_SECTIONS:
        section = max(map(area, upright.outlines(high[0] - share * length)), default=0.0)
        first = first or section
        if section > _SNOUT_WIDENS * first > 0:
            return float(high[0] - max(share - 0.01, 0.04) * length)
    return float(high[0] - 0.10 * length)


def _ears(solid: Solid, legs: Legs, snout_x: float, outside: FloatArray) -> Landmarks:
    """The boxes of the left ear and the right one; none where sections show no pair of ears."""
    low, high = solid.bounds
    length, _, tall = high - low
    most = _EAR_AREA * float(np.prod((high - low)[:2]))
    middle_y = 0.5 * float(legs.middles[::2, 1].mean() + legs.middles[1::2, 1].mean())
    behind = float(legs.middles[:2, 0].mean())

    def is_ear(outline: FloatArray) -> bool:
        x = 0.5 * (outline[:, 0].min() + outline[:, 0].max())
        on_one_side = abs(np.sign(outline[:, 1] - middle_y).sum()) == len(outline)
        return bool(on_one_side and behind < x < snout_x and area(outline) < most)

    root: float | None = None
    found: list[FloatArray] = []
    for height in low[2] + _EAR_SECTIONS * tall:
        ears = [outline for outline in solid.outlines(height) if is_ear(outline)]
        if len({bool(o[:, 1].mean() > middle_y) for o in ears}) == 2:
            root = float(height)
        elif root is not None:
            break
        found += ears
    if root is None:
        return {}
    points = np.concatenate(found)
    sides = points[:, 1] > middle_y
    x = (float(points[:, 0].min()) - _MARGIN * length, None)
    flanks: dict[str, Range] = {
        "left_ear": (float(points[sides, 1].min()), None),
        "right_ear": (None, float(points[~sides, 1].max())),
    }
    lowest = low[2] + _EAR_LOWEST * tall
    return {
        label: _box(outside, x, y, (_ear_root(solid, _box(outside, x, y), root, lowest), None))
        for label, y in flanks.items()
    }


def _ear_root(solid: Solid, box: Box, z: float, lowest: float) -> float:
    """How far down an ear goes beside the head, before its section in the box widens to the cheek.

    Args:
        solid: the whole shape.
        box: of the ear, from the very bottom.
        z: where the ear is apart from the head.
        lowest: the least height to which it may go.
    """
    flap, _ = solid.halves(Solid.box(np.array(box[::2]), np.array(box[1::2])))
    low, high = solid.bounds
    step = 0.02 * (high[2] - low[2])

    def section(height: float) -> float:
        return sum(map(area, flap.outlines(height)))

    widest = _EAR_WIDENS * section(z)
    while z - step > lowest and 0 < section(z - step) < widest:
        z -= step
    return z


def cut(solid: Solid, marks: Mapping[str, Box]) -> list[tuple[str, Solid]]:
    """The shape in labelled pieces: those of the boxes, in order, and the rest."""
    pieces: list[tuple[str, Solid]] = []
    left = solid
    least = _CRUMB * solid.volume
    for label, box in marks.items():
        low, high = np.array(box[::2]), np.array(box[1::2])
        if (high > low).all():
            inside, left = left.halves(Solid.box(low, high))
            found = inside.separate()
            pieces += [(label, piece) for piece in found if piece.volume >= least]
            left = Solid.union([left, *(piece for piece in found if piece.volume < least)])
    rest = REST if marks else SOLID
    return pieces + [(rest, piece) for piece in left.separate() if piece.volume > 0.01 * least]

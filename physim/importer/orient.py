"""Which way is up and forward in a mesh, guessed from its legs.

The unit of a mesh: declared, said by its file, or guessed from its size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from physim.errors import ModelError
from physim.importer.hulls import ordered_corners
from physim.importer.landmarks import Legs, legs_of
from physim.importer.reading import RawMesh
from physim.importer.solids import Problem, Solid
from physim.pigs.mesh import MAX_LENGTH_M, MIN_LENGTH_M
from physim.pigs.stable_poses import stable_rests
from physim.types import FloatArray

DIRECTIONS = {
    "x": (1.0, 0.0, 0.0),
    "-x": (-1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "-z": (0.0, 0.0, -1.0),
}
_SNAP = np.cos(np.radians(25.0))  # a guess this near to an axis of the file means that axis
_HULL_POINTS = 120  # for guessing where it could stand
_MOST_RESTS = 24


@dataclass(frozen=True)
class Pose:
    """A mesh in the pig's axes.

    Attributes:
        axes: (3, 3) the pig's forward, left and up in the file's axes, row by row.
        legs: where it stands on four, else None.
    """

    axes: FloatArray
    legs: Legs | None


def orient(
    solid: Solid, forward: str | None, up: str | None, y_up: bool
) -> tuple[Pose, list[Problem]]:
    """Finds the pig's axes.

    Args:
        solid: in the file's axes [mm].
        forward: one of `DIRECTIONS`, or None to guess.
        up: as `forward`.
        y_up: the file's format has y upwards and z forward.

    Returns:
        The axes, and what was guessed.
    """
    given_up = None if up is None else np.array(DIRECTIONS[up])
    given = None if forward is None else np.array(DIRECTIONS[forward])
    if given_up is not None:
        best, _ = _clearest(solid, [given_up], given)
    else:
        best, clarity = _clearest(solid, _file_axes(y_up, given), given)
        if clarity == 0.0 and given is None:
            best, _ = _clearest(solid, _standing(solid), given, best)
    problems = []
    if best.legs is None and (given is None or given_up is None):
        axes = _axes(solid, _usual_up(y_up, given) if given_up is None else given_up, given, y_up)
        best = Pose(axes, None)
        problems.append(
            Problem(
                "axes", axes_text(axes), "no four legs to tell by; else give --forward and --up"
            )
        )
    elif given is None and best.legs is not None:
        if _tail_first(_turned(solid, best.axes), best.legs):
            axes = best.axes * np.array([[-1.0], [-1.0], [1.0]])
            best = Pose(axes, legs_of(_turned(solid, axes)))
        problems.append(
            Problem(
                "axes", axes_text(best.axes), "guessed from legs and head; else --forward, --up"
            )
        )
    return best, problems


def _clearest(
    solid: Solid, ups: list[FloatArray], forward: FloatArray | None, best: Pose | None = None
) -> tuple[Pose, float]:
    """The first of the directions for up, or the one with clearer legs, and how clear they are."""
    clearest = 0.0
    for up in ups:
        axes = _axes(solid, up, forward)
        legs = legs_of(_turned(solid, axes))
        clarity = 0.0 if legs is None else legs.clarity
        if best is None or clarity > clearest + 0.05:
            best, clearest = Pose(axes, legs), clarity
    if best is None:
        raise ValueError("no direction to try")
    return best, clearest


def _file_axes(y_up: bool, forward: FloatArray | None) -> list[FloatArray]:
    """The file's axes, the usual one for up first."""
    usual = _usual_up(y_up, forward)
    axes = [usual, *(np.array(d) for d in DIRECTIONS.values() if not np.array_equal(d, usual))]
    return axes if forward is None else [axis for axis in axes if abs(axis @ forward) < 0.5]


def _standing(solid: Solid) -> list[FloatArray]:
    """Up, where the shape stands on a table."""
    vertices, _ = solid.mesh()
    low, high = solid.bounds
    tolerance = 2e-3 * float((high - low).max())
    corners = ordered_corners(vertices, _HULL_POINTS, tolerance).points
    rests = stable_rests(corners, [""] * len(corners), corners.mean(axis=0), 2000)
    return [-rest.down for rest in rests[:_MOST_RESTS]]


def _usual_up(y_up: bool, forward: FloatArray | None) -> FloatArray:
    up = np.array([0.0, 1.0, 0.0] if y_up else [0.0, 0.0, 1.0])
    if forward is not None and abs(forward @ up) > 0.5:
        return np.array([0.0, 0.0, 1.0] if y_up else [0.0, 1.0, 0.0])
    return up


def _axes(
    solid: Solid, up: FloatArray, forward: FloatArray | None, y_up: bool | None = None
) -> FloatArray:
    """The three axes for this up; forward is the longest way across it unless it is given."""
    if forward is None and y_up is not None:
        forward = np.array([0.0, 0.0, 1.0] if y_up else [1.0, 0.0, 0.0])
        if abs(forward @ up) > 0.5:
            forward = np.array([0.0, 1.0, 0.0])
    if forward is None:
        forward = _long_axis(solid, up)
    left = np.cross(up, forward)
    left /= np.sqrt(left @ left)
    ahead = np.cross(left, up)
    return np.array([ahead, left, up])


def _long_axis(solid: Solid, up: FloatArray) -> FloatArray:
    """The principal axis of the surface across `up`, or the file's axis that is near it."""
    vertices, faces = solid.mesh()
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    areas = np.sqrt(np.einsum("ij,ij->i", cross, cross))
    middles = (a + b + c) / 3.0
    middles = middles - np.average(middles, axis=0, weights=areas)
    middles = middles - (middles @ up)[:, None] * up
    spread = (middles * areas[:, None]).T @ middles
    axis = np.linalg.eigh(spread)[1][:, -1]
    for direction in DIRECTIONS.values():
        if float(np.dot(direction, axis)) > _SNAP and abs(np.dot(direction, up)) < 1e-6:
            return np.array(direction)
        if float(np.dot(direction, axis)) < -_SNAP and abs(np.dot(direction, up)) < 1e-6:
            return -np.array(direction)
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
    return f"forward {_direction_name(axes[0])}, up {_direction_name(axes[2])}"


def _direction_name(direction: FloatArray) -> str:
    """`-x` or three numbers."""
    for name, axis in DIRECTIONS.items():
        if np.dot(axis, direction) > 0.9999:
            return name
    return "({:.2f}, {:.2f}, {:.2f})".format(*(direction + 0.0))


UNITS_MM = {"mm": 1.0, "cm": 10.0, "inch": 25.4, "m": 1000.0, "foot": 304.8, "micron": 1e-3}
GUESSED = ("mm", "inch", "m")  # in this order the first that gives a likely size
LIKELY_MM = (10.0, 300.0)
USUAL_MM = (8.0, 500.0)  # beyond, only with `force`


@dataclass(frozen=True)
class Scale:
    """How a file's lengths become millimetres.

    Attributes:
        mm: length of one unit of the file [mm].
        unit: its name, or "" where the size was given.
        how: where it comes from.
    """

    mm: float
    unit: str
    how: str


def scale_of(raw: RawMesh, longest: float, unit: str | None, length_mm: float | None) -> Scale:
    """The scale of a mesh.

    Args:
        raw: the mesh.
        longest: side of what is used of it, in its own unit.
        unit: declared by the user, or None.
        length_mm: the longest side is made this long, whatever the unit; or None.
    """
    if length_mm is not None:
        return Scale(length_mm / longest, "", "scaled to the length given")
    if unit is not None:
        return Scale(UNITS_MM[unit], unit, f"1 unit = 1 {unit}, as given")
    if raw.y_up and _likely(longest):  # 10 to 300 m: the common slip of writing mm into glTF
        how = f"glTF is in metres, yet {longest:g} m are no pig's: 1 unit taken for 1 mm"
        return Scale(1.0, "mm", how)
    if raw.unit:
        return Scale(UNITS_MM[raw.unit], raw.unit, f"1 unit = 1 {raw.unit}, as the file says")
    if raw.unit_remark and _likely(longest * UNITS_MM[raw.unit_remark]):
        how = f"1 unit taken for 1 {raw.unit_remark}, as its text says and the size allows"
        return Scale(UNITS_MM[raw.unit_remark], raw.unit_remark, how)
    for guess in GUESSED:
        if _likely(longest * UNITS_MM[guess]):
            return Scale(UNITS_MM[guess], guess, f"1 unit taken for 1 {guess}, from the size")
    return Scale(1.0, "mm", "1 unit taken for 1 mm, no unit gives a likely size")


def size_note(
    scale: Scale, found_mm: float, force: bool, declared: bool, name: str
) -> list[Problem]:
    """What there is to say of a size.

    Args:
        scale: that gave it.
        found_mm: the longest side.
        force: take an unlikely size too.
        declared: whether the user said the unit or the length.
        name: of the file.

    Raises:
        ModelError: an absurd size.
    """
    low, high = 1e3 * MIN_LENGTH_M, 1e3 * MAX_LENGTH_M
    if not low <= found_mm <= high or (not force and not USUAL_MM[0] <= found_mm <= USUAL_MM[1]):
        usual = "from {:g} to {:g} mm".format(*((low, high) if force else USUAL_MM))
        remedy = "give --unit or --length-mm"
        if low <= found_mm <= high:
            remedy += ", or --force to take it as it is"
        raise ModelError(
            f"{name}: {_plain(found_mm)} mm long ({scale.how}); a pig is {usual}; {remedy}"
        )
    if declared:
        return []
    return [Problem("unit", f"{found_mm:.1f} mm long", f"{scale.how}; else give --unit")]


def _plain(length_mm: float) -> str:
    """A length to read: 37500, 0.02."""
    return f"{length_mm:.0f}" if length_mm >= 100 else f"{length_mm:.3g}"


def _likely(length_mm: float) -> bool:
    return LIKELY_MM[0] <= length_mm <= LIKELY_MM[1]

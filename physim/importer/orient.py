"""Which way is up and forward in a mesh, guessed from its legs."""

from __future__ import annotations

import numpy as np

from physim.importer.hulls import ordered_corners
from physim.importer.landmarks import Legs, legs_of
from physim.importer.solids import Problem, Solid
from physim.pigs.stable_poses import stable_rests
from physim.types import FloatArray

DIRECTIONS: dict[str, FloatArray] = {
    sign + name: float(sign + "1") * axis + 0.0
    for name, axis in zip("xyz", np.eye(3), strict=True)
    for sign in ("", "-")
}
_SNAP = np.cos(np.radians(25.0))  # a guess this near to an axis of the file means that axis
_HULL_POINTS = 120  # for guessing where it could stand
_MOST_RESTS = 24
_CLEARER = 0.05  # of the height: so much longer legs make another direction the one for up


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

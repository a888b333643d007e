"""Which way is up and forward in a mesh, guessed from its legs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from physim.importer.legs import Legs, legs_of
from physim.importer.problems import Problem
from physim.importer.solids import Solid
from physim.pigs.stable import stable_rests
from physim.values import FloatArray

DIRECTIONS = {
    "x": (1.0, 0.0, 0.0),
    "-x": (-1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "-z": (0.0, 0.0, -1.0),
}
_SNAP = np.cos(np.radians(25.0))  # a guess this near to an axis of the file means that axis
_HULL_POINTS = 400  # for guessing where it could stand
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
    best, best_score = None, 0.0
    for candidate in [given_up] if given_up is not None else _candidates(solid, y_up, given):
        axes = _axes(solid, candidate, given)
        legs = legs_of(_turned(solid, axes))
        score = 0.0 if legs is None else legs.clarity
        if best is None or score > best_score + 0.05:
            best, best_score = Pose(axes, legs), score
    if best is None:  # cannot be: there is always a candidate
        raise AssertionError("no candidate for up")
    problems = []
    if best.legs is None and (given is None or given_up is None):
        axes = _axes(solid, _usual_up(y_up, given) if given_up is None else given_up, given, y_up)
        best = Pose(axes, None)
        problems.append(
            Problem("axes", _named(axes), "no four legs to tell by; else give --forward and --up")
        )
    elif given is None and best.legs is not None:
        if _tail_first(_turned(solid, best.axes), best.legs):
            axes = best.axes * np.array([[-1.0], [-1.0], [1.0]])
            best = Pose(axes, legs_of(_turned(solid, axes)))
        problems.append(
            Problem("axes", _named(best.axes), "guessed from legs and head; else --forward, --up")
        )
    return best, problems


def _candidates(solid: Solid, y_up: bool, forward: FloatArray | None) -> list[FloatArray]:
    """Directions that may be up: the file's axes, the usual one first, then those of rests."""
    usual = _usual_up(y_up, forward)
    axes = [usual, *(np.array(d) for d in DIRECTIONS.values() if not np.array_equal(d, usual))]
    if forward is not None:
        return [axis for axis in axes if abs(axis @ forward) < 0.5]
    vertices, _ = solid.mesh()
    points = vertices[:: max(1, len(vertices) // _HULL_POINTS)]
    spread = _corners(vertices)
    points = np.unique(np.concatenate([points, spread]), axis=0)
    rests = stable_rests(points, [""] * len(points), points.mean(axis=0), 2000)
    return [*axes, *(-rest.down for rest in rests[:_MOST_RESTS])]


def _corners(vertices: FloatArray) -> FloatArray:
    """The corners of the hull."""
    from scipy.spatial import ConvexHull

    return np.asarray(vertices[ConvexHull(vertices).vertices])


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


def _named(axes: FloatArray) -> str:
    return f"forward {direction_name(axes[0])}, up {direction_name(axes[2])}"


def direction_name(direction: FloatArray) -> str:
    """`-x` or three numbers."""
    for name, axis in DIRECTIONS.items():
        if np.dot(axis, direction) > 0.9999:
            return name
    return "({:.2f}, {:.2f}, {:.2f})".format(*(direction + 0.0))

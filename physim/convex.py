"""Convex sets: the hull and support polygon in the plane, the distance of two hulls in space.

The distance is the least norm over the Minkowski difference, found with Wolfe's method: it keeps a
simplex of difference points, moves to the point of least norm in its affine hull, and drops corners
that this leaves with a negative weight. It ends after finitely many steps with an exact answer up
to rounding. (`physics.fast.pair` asks at every check for no more than a lower bound.)

References:
    P. Wolfe, "Finding the nearest point in a polytope", Mathematical Programming 11, 1976.
"""

from __future__ import annotations

import math

import numpy as np

from physim.types import FloatArray

_MAX_STEPS = 200  # bodies of 30 corners need about 10
_RELATIVE_ERROR = 1e-12


def convex_polygon(points: FloatArray) -> FloatArray:
    """(m, 2) corners of the convex hull, counter-clockwise (Andrew's monotone chain)."""
    unique = sorted(set(map(tuple, points.tolist())))
    if len(unique) < 3:
        return np.array(unique).reshape(-1, 2)
    chains = []
    for ordered in (unique, unique[::-1]):
        chain: list[tuple[float, ...]] = []
        for point in ordered:
            while len(chain) >= 2 and _cross(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return np.array(chains[0] + chains[1])


def inside_margin(point: FloatArray, points: FloatArray) -> float:
    """How far a point lies inside the convex hull of others in the plane.

    Returns:
        The distance to the nearest edge; negative outside, and for fewer than
        three corners (no area: nothing stands on a line).
    """
    polygon = convex_polygon(points)
    if len(polygon) < 3:
        return -math.inf if len(polygon) == 0 else -1e-9 - _to_line(point, polygon)
    edges = np.roll(polygon, -1, axis=0) - polygon
    lengths = np.sqrt((edges**2).sum(axis=1))
    to_point = point - polygon
    inward = edges[:, 0] * to_point[:, 1] - edges[:, 1] * to_point[:, 0]
    return float((inward / lengths).min())


def plane_axes(normal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two unit vectors at right angles to a unit vector and to each other."""
    first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    first /= np.sqrt((first**2).sum())
    return first, np.cross(normal, first)


def _to_line(point: FloatArray, ends: FloatArray) -> float:
    a, b = ends[0], ends[-1]
    along = b - a
    square = float((along**2).sum())
    t = 0.0 if square == 0 else min(1.0, max(0.0, float(((point - a) * along).sum()) / square))
    return math.sqrt(float(((point - a - t * along) ** 2).sum()))


def _cross(o: tuple[float, ...], a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def separation(
    a: FloatArray, b: FloatArray, cutoff_m: float = math.inf
) -> tuple[float, FloatArray]:
    """The gap between two convex hulls and where it is.

    Args:
        a: (n, 3) corners of the one [m].
        b: (m, 3) corners of the other [m].
        cutoff_m: the search ends where the gap is surely larger; what it has come to is too.

    Returns:
        The distance [m], 0 where the hulls overlap, and the (3,) point half-way
        between the two nearest points.
    """
    pairs = [(0, 0)]
    corners = [a[0] - b[0]]
    weights = np.array([1.0])
    scale = float(np.abs(a).max() + np.abs(b).max()) ** 2
    for _ in range(_MAX_STEPS):
        nearest = weights @ np.array(corners)
        pair = int(np.argmin(a @ nearest)), int(np.argmax(b @ nearest))
        corner = a[pair[0]] - b[pair[1]]
        square, along = float(nearest @ nearest), float(nearest @ corner)
        if square - along <= _RELATIVE_ERROR * scale or pair in pairs:
            break
        if along > cutoff_m * math.sqrt(square):  # no point of the difference is nearer than this
            break
        pairs.append(pair)
        corners.append(corner)
        weights = np.append(weights, 0.0)
        pairs, corners, weights = _least_norm(pairs, corners, weights)
    nearest = weights @ np.array(corners)
    on_a = weights @ a[[i for i, _ in pairs]]
    return float(np.sqrt(nearest @ nearest)), np.asarray(on_a - 0.5 * nearest)


def _least_norm(
    pairs: list[tuple[int, int]], corners: list[FloatArray], weights: FloatArray
) -> tuple[list[tuple[int, int]], list[FloatArray], FloatArray]:
    """The corners that carry the point of least norm of their hull, and its weights."""
    while True:
        affine = _affine_weights(np.array(corners))
        if (affine > 0).all():
            return pairs, corners, affine
        falling = affine <= 0
        steps = weights[falling] / np.maximum(weights[falling] - affine[falling], 1e-300)
        step = float(steps.min(initial=1.0))
        weights = (1 - step) * weights + step * affine
        keep = weights > 1e-14
        if keep.all():  # rounding: let go of the least
            keep[int(np.argmin(weights))] = False
        pairs = [pair for pair, kept in zip(pairs, keep, strict=True) if kept]
        corners = [corner for corner, kept in zip(corners, keep, strict=True) if kept]
        weights = weights[keep] / weights[keep].sum()


def _affine_weights(corners: FloatArray) -> FloatArray:
    """Weights, summing to 1, of the least-norm point of the corners' affine hull."""
    first, others = corners[0], corners[1:] - corners[0]
    if len(others) == 0:
        return np.array([1.0])
    solved = np.linalg.lstsq(others.T, -first, rcond=None)[0]
    return np.concatenate([[1.0 - solved.sum()], solved])

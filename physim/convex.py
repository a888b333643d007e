"""Small plane geometry that several stages need."""

from __future__ import annotations

import math

import numpy as np

from physim.types import FloatArray


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


def _to_line(point: FloatArray, ends: FloatArray) -> float:
    a, b = ends[0], ends[-1]
    along = b - a
    square = float((along**2).sum())
    t = 0.0 if square == 0 else min(1.0, max(0.0, float(((point - a) * along).sum()) / square))
    return math.sqrt(float(((point - a - t * along) ** 2).sum()))


def _cross(o: tuple[float, ...], a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

"""Plane geometry against Qhull and hand-made cases."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from physim.geometry import convex_polygon, inside_margin

SQUARE = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])


@given(st.integers(0, 2**32 - 1), st.integers(3, 40))
def test_polygon_is_qhulls(seed: int, count: int) -> None:
    points = np.random.default_rng(seed).normal(size=(count, 2))
    hull = ConvexHull(points)
    polygon = convex_polygon(points)
    assert sorted(map(tuple, polygon)) == sorted(map(tuple, points[hull.vertices]))
    x, y = polygon.T
    area = 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))
    assert area == pytest.approx(hull.volume)  # and positive: counter-clockwise


@given(st.integers(0, 2**32 - 1))
def test_margin_is_the_distance_to_the_nearest_edge(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, point = rng.normal(size=(12, 2)), 0.5 * rng.normal(size=2)
    equations = ConvexHull(points).equations
    expected = float(-(equations[:, :2] @ point + equations[:, 2]).max())
    assert inside_margin(point, points) == pytest.approx(expected, abs=1e-12)


def test_repeated_and_collinear_points_are_no_corners() -> None:
    extra = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    polygon = convex_polygon(np.vstack([SQUARE, extra]))
    assert sorted(map(tuple, polygon)) == sorted(map(tuple, SQUARE))


def test_margins_of_a_square() -> None:
    for point, margin in [((1, 1), 1.0), ((0.25, 1), 0.25), ((2, 1), 0.0), ((2.5, 1), -0.5)]:
        assert inside_margin(np.array(point, dtype=float), SQUARE) == pytest.approx(margin)


def test_nothing_stands_on_a_line_or_a_point() -> None:
    middle = np.array([1.0, 0.0])
    assert inside_margin(middle, SQUARE[:2]) < 0
    assert inside_margin(np.array([1.0, 3.0]), SQUARE[:2]) == pytest.approx(-3.0)
    assert inside_margin(middle, SQUARE[:1]) == pytest.approx(-1.0)
    assert inside_margin(middle, np.empty((0, 2))) == -math.inf

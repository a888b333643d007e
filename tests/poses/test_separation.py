"""Distances between convex hulls against an independent solver and flat-faced shapes."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from physim.geometry import separation

Array = NDArray[np.float64]
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])


@pytest.mark.parametrize("block", range(4))
def test_separation_of_random_hulls(block: int, hull_gap: Callable[[Array, Array], float]) -> None:
    """200 pairs, of the size of body parts, near, far and overlapping."""
    overlaps = 0
    for number in range(50):
        rng = np.random.default_rng([block, number])
        sizes = rng.uniform(0.001, 0.01, (2, 3))
        first, second = (rng.normal(size=(int(rng.integers(4, 30)), 3)) * size for size in sizes)
        second = second + rng.normal(size=3) * rng.choice([0.005, 0.02, 0.05])
        expected = hull_gap(first, second)
        gap, _ = separation(first, second)
        assert gap == pytest.approx(expected, abs=2e-7)
        overlaps += expected == 0.0
    assert 2 < overlaps < 48


@pytest.mark.parametrize("gap_mm", [-5.0, -0.2, 0.0, 0.05, 0.09, 0.11, 3.0])
def test_separation_of_two_boxes_face_to_face(gap_mm: float) -> None:
    first = 0.01 * CORNERS
    second = 0.005 * CORNERS + np.array([0.015 + gap_mm * 1e-3, 0.002, 0.001])
    turn = Rotation.from_euler("xyz", [30, 40, 50], degrees=True)
    gap, place = separation(turn.apply(first), turn.apply(second))
    assert gap == pytest.approx(max(0.0, gap_mm * 1e-3), abs=1e-9)
    if gap_mm >= 0:
        x, y, z = turn.inv().apply(place)
        assert x == pytest.approx(0.01 + gap_mm * 5e-4, abs=1e-9)  # half-way between
        assert abs(y - 0.002) <= 0.005 + 1e-9
        assert abs(z - 0.001) <= 0.005 + 1e-9


def test_separation_at_a_corner_and_an_edge() -> None:
    cube = 0.01 * CORNERS
    assert separation(cube, cube + np.array([0.023, 0.024, 0.0]))[0] == pytest.approx(
        0.005, abs=1e-12
    )
    assert separation(cube, cube + np.array([0.022, 0.023, 0.026]))[0] == pytest.approx(
        0.007, abs=1e-12
    )
    assert separation(cube, cube)[0] == pytest.approx(0.0, abs=1e-12)
    assert separation(cube, 0.001 * CORNERS)[0] == pytest.approx(0.0, abs=1e-12)  # inside


@pytest.mark.parametrize("gap", [0.0, 0.9e-3, 1.1e-3, 5e-3])
def test_separation_ends_early_only_where_the_gap_is_large_enough(gap: float) -> None:
    first = 0.01 * CORNERS
    turn = Rotation.from_euler("xyz", [30, 40, 50], degrees=True)
    second = 0.01 * turn.apply(CORNERS)
    second = second + [0.01 + gap - second[:, 0].min(), 0.002, 0.001]  # a corner before a face
    whole, place = separation(first, second)
    assert whole == pytest.approx(gap, abs=1e-9)
    ended, there = separation(first, second, 1e-3)
    assert ended >= min(whole, 1e-3)
    if gap < 1e-3:
        assert (ended, *there) == (whole, *place)


def test_separation_does_not_depend_on_the_order() -> None:
    rng = np.random.default_rng(6)
    first, second = rng.normal(size=(20, 3)), rng.normal(size=(15, 3)) + np.array([5, 1, 0])
    gap, place = separation(first, second)
    back, same = separation(second, first)
    assert gap == pytest.approx(back, abs=1e-9)
    assert place == pytest.approx(same, abs=1e-6)

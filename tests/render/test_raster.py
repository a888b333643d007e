"""The rasteriser and the camera against geometry that is known otherwise."""

import numpy as np
import pytest

from physim.render.camera import View
from physim.render.scene import rasterise

# Two triangles, clockwise on the screen since y points down: seen from the front.
SQUARE = np.array([[2.0, 1.0, 1.0], [2.0, 7.0, 1.0], [12.0, 7.0, 1.0], [12.0, 1.0, 1.0]])
FACES = np.array([[0, 1, 2], [0, 2, 3]])


def test_a_square_covers_each_of_its_pixels_once() -> None:
    seen = rasterise(SQUARE, FACES, 20, 10)
    rows, columns = np.divmod(seen.pixels, 20)
    assert len(seen.pixels) == len(set(seen.pixels.tolist())) == 60
    assert rows.min() == 1 and rows.max() == 6
    assert columns.min() == 2 and columns.max() == 11
    assert seen.weights.sum(axis=1) == pytest.approx(1.0)


def test_what_turns_its_back_is_not_seen() -> None:
    assert len(rasterise(SQUARE, FACES[:, ::-1], 20, 10).pixels) == 0


def test_the_picture_ends_at_its_edges_and_nothing_behind_the_camera_is_seen() -> None:
    assert len(rasterise(SQUARE + [100.0, 0, 0], FACES, 20, 10).pixels) == 0
    assert len(rasterise(SQUARE - [6.0, 0, 0], FACES, 20, 10).pixels) == 36
    assert len(rasterise(SQUARE * [1, 1, -1.0], FACES, 20, 10).pixels) == 0


def test_of_two_the_nearer_is_seen() -> None:
    both = np.concatenate([SQUARE * [1, 1, 2.0], SQUARE])
    for faces in (np.concatenate([FACES, FACES + 4]), np.concatenate([FACES + 4, FACES])):
        seen = rasterise(both, faces, 20, 10)
        assert (faces[seen.faces] >= 4).all()
        assert seen.nearness == pytest.approx(1.0)


def test_weights_are_those_of_the_triangle_in_space_not_in_the_picture() -> None:
    """Half-way in the picture between distances 1 and 3 is a quarter of the way in space."""
    corners = np.array([[0.0, 0.0, 1.0], [0.0, 40.0, 1.0], [40.0, 20.0, 3.0]])
    seen = rasterise(corners, np.array([[0, 1, 2]]), 40, 40)
    at = int(np.flatnonzero(seen.pixels == 20 * 40 + 20)[0])
    # 1/distance is linear in the picture: at share s of the way it is (1 - s) + s / 3.
    s = 20.5 / 40
    assert seen.weights[at, 2] == pytest.approx((s / 3) / ((1 - s) + s / 3))


def test_the_camera_sees_its_target_in_the_middle_and_up_is_up() -> None:
    view = View(np.array([0.1, 0.2, 0.0]), 2.0, azimuth_deg=40.0, elevation_deg=25.0)
    x, y, distance = view.project(view.target_m[None], 40, 30)[0]
    assert (x, y, distance) == pytest.approx((20.0, 15.0, 2.0))
    above = view.project(view.target_m[None] + [0, 0, 0.1], 40, 30)[0]
    assert above[0] == pytest.approx(20.0) and above[1] < 15.0
    from_there = view.place_m - view.target_m
    assert np.degrees(np.arctan2(from_there[1], from_there[0])) == pytest.approx(40.0)
    assert np.degrees(np.arcsin(from_there[2] / 2.0)) == pytest.approx(25.0)


def test_slopes_and_projection_are_inverse() -> None:
    view = View(np.array([0.1, 0.2, 0.0]), 2.0, azimuth_deg=-70.0, elevation_deg=50.0)
    x, y = view.slopes(8, 6)
    point = view.place_m + 1.7 * (np.array([x[5], y[2], 1.0]) @ view.axes)
    assert view.project(point[None], 8, 6)[0] == pytest.approx([5.5, 2.5, 1.7])

"""How far parts and mesh are apart, where it is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import trimesh
from scipy.spatial import ConvexHull

from physim.importer.solids import Solid, distances, few_corners, needed, ordered_corners, volume
from tests.importer.made import low_poly_pig, mesh_of

Distances = tuple[float, float]
CYLINDER = trimesh.creation.cylinder(10.0, 20.0, sections=64)


def apart(mesh: trimesh.Trimesh, *parts: np.ndarray) -> Distances:
    return measured(np.asarray(mesh.vertices), np.asarray(mesh.faces), parts)


def measured(vertices: np.ndarray, faces: np.ndarray, parts: Sequence[np.ndarray]) -> Distances:
    solid = Solid.of(vertices, faces)
    assert solid is not None
    return distances(solid, parts)


@pytest.mark.parametrize(
    "mesh", [CYLINDER, trimesh.creation.icosphere(3, 15.0)], ids=["cylinder", "ball"]
)
def test_the_hull_of_a_convex_mesh_is_nowhere_out_of_it(mesh: trimesh.Trimesh) -> None:
    assert apart(mesh, np.asarray(mesh.vertices)) == pytest.approx((0.0, 0.0), abs=1e-9)


def test_a_hull_stands_off_the_bottom_of_a_notch() -> None:
    """A block of 40 x 20 x 10 mm with a notch 8 mm wide and 3 mm deep along its top."""
    xz = [(-20, 0), (20, 0), (20, 10), (4, 10), (4, 7), (-4, 7), (-4, 10), (-20, 10)]
    corners = np.array([(x, y, z) for y in (-10.0, 10.0) for x, z in xz])
    triangles = [(0, 1, 4), (1, 3, 4), (1, 2, 3), (0, 4, 5), (0, 5, 6), (0, 6, 7)]
    sides = [(k, (k + 1) % 8, 8 + (k + 1) % 8) for k in range(8)]
    sides += [(k, 8 + (k + 1) % 8, 8 + k) for k in range(8)]
    faces = np.array([*triangles, *[(8 + c, 8 + b, 8 + a) for a, b, c in triangles], *sides])
    mesh = trimesh.Trimesh(corners, faces, process=False)
    mesh.fix_normals()
    out, bulge = apart(mesh, corners)
    assert out == pytest.approx(0.0, abs=1e-9)
    assert bulge == pytest.approx(3.0, abs=0.02)  # the middle of the notch: 3 from its bottom


def test_a_part_that_is_too_small_leaves_the_mesh_out() -> None:
    box = trimesh.creation.box((40.0, 20.0, 10.0))
    out, bulge = apart(box, np.asarray(box.vertices) * [0.9, 1.0, 1.0])
    assert out == pytest.approx(2.0, abs=1e-9)
    assert bulge == pytest.approx(0.0, abs=1e-9)


def test_a_part_that_stands_off_sideways_is_measured_to_the_nearest_edge() -> None:
    box = trimesh.creation.box((40.0, 20.0, 10.0))
    corner = np.array([[23.0, 14.0, 5.0]])  # 3 and 4 mm beside the edge (20, 10, z)
    assert apart(box, np.concatenate([box.vertices, corner])) == pytest.approx((0.0, 5.0))


def test_distances_do_not_depend_on_where_a_file_has_the_mesh_or_its_faces() -> None:
    vertices, faces = mesh_of(low_poly_pig())
    parts = [vertices[vertices[:, 0] < 9.0], vertices[vertices[:, 0] > 7.0]]
    here = measured(vertices, faces, parts)
    assert min(here) > 0.1
    rng = np.random.default_rng(3)
    for _ in range(3):
        turn = trimesh.transformations.random_rotation_matrix(rng.random(3))[:3, :3]
        shift = rng.uniform(-100.0, 100.0, 3)
        order = rng.permutation(len(faces))
        moved = [(v @ turn.T + shift).astype(np.float32).astype(float) for v in (vertices, *parts)]
        assert measured(moved[0], faces[order], moved[1:]) == pytest.approx(here, abs=1e-3)


MIRROR = np.array([1.0, -1.0, 1.0])


def half_and_mirrored(seed: int) -> np.ndarray:
    """The corners of half a pig and their mirror images, in any order, as 32-bit files hold them
    anywhere but in the middle."""
    half = mesh_of(low_poly_pig().trim_by_plane((0.0, 1.0, 0.0), 0.0))[0]
    points = np.random.default_rng(seed).permutation(np.concatenate([half, half * MIRROR]))
    there = np.array([13.3, 4.1, 101.7])
    return (points + there).astype(np.float32).astype(np.float64) - there


def as_set(points: np.ndarray) -> set[tuple[float, ...]]:
    return set(map(tuple, (np.round(points, 3) + 0.0).tolist()))


@pytest.mark.parametrize("most", [60, 80, 100])
def test_few_corners_of_a_symmetric_shape_are_symmetric_in_any_order(most: int) -> None:
    (one,) = few_corners([half_and_mirrored(1)], most, 0.05)
    (two,) = few_corners([half_and_mirrored(2)], most, 0.05)
    assert 25 <= len(one) <= most
    assert as_set(one) == as_set(two)
    assert as_set(one * MIRROR) == as_set(one)


def test_at_least_a_solid_is_left_of_each_hull() -> None:
    hulls = [half_and_mirrored(1), np.asarray(CYLINDER.vertices)]
    found = few_corners(hulls, 5, 0.05)
    assert all(
        volume(points) > 0.3 * volume(hull) for points, hull in zip(found, hulls, strict=True)
    )


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_corners_leave_out_what_they_say_and_the_next_lies_there(seed: int) -> None:
    """Corners that come together are equally far, but for the rounding of a file."""
    points = half_and_mirrored(seed)
    equal = 1e-5 * np.ptp(points, axis=0).max()
    corners, reach_of = ordered_corners(points, 60, 0.01)
    reaches, first, times = np.unique(reach_of, return_index=True, return_counts=True)
    assert len(reaches) > 15 and reaches[-1] == np.inf
    for reach, at, many in zip(reaches[:-1], first, times, strict=False):
        count = int(at) + 1
        planes = ConvexHull(corners[:count]).equations
        beyond = points @ planes[:, :3].T + planes[:, 3]
        assert beyond.max() == pytest.approx(reach, abs=1e-9)
        assert needed(reach_of, reach) <= count
        coming = corners[count : count + many] @ planes[:, :3].T + planes[:, 3]
        assert (coming.max(axis=1) >= reach - equal - 1e-9).all()

"""Quasi-static rests: solids with known answers, and a second route for the pig."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh
from scipy.sparse import csr_array

from physim import pigs
from physim.errors import ModelError
from physim.pigs import rolling
from physim.pigs.rolling import polyhedron
from physim.pigs.stable_poses import even_directions
from tests.pigs.shapes import box, write_model

ORIGIN = np.zeros(3)


def rests_of(points: np.ndarray, com: np.ndarray = ORIGIN) -> tuple[pigs.StableRest, ...]:
    return pigs.stable_rests(points, [f"p{i}" for i in range(len(points))], com)


def test_a_cube_lands_on_each_face_a_sixth_of_the_time() -> None:
    rests = rests_of(box((2.0, 2.0, 2.0))[0])
    assert len(rests) == 6
    for rest in rests:
        assert rest.probability == pytest.approx(1 / 6, abs=0.002)
        assert rest.height_m == pytest.approx(1.0)
        assert rest.barrier_m == pytest.approx(np.sqrt(2))
        assert len(rest.supports) == 4


def test_a_box_agrees_with_rolling_worked_out_by_hand() -> None:
    """From a corner a box pivots in a vertical plane through the corner and its centre, so the
    first edge it meets depends on d's longitude about the corner alone: sampled here directly."""
    half = np.array([1.5, 1.0, 0.6])
    d = np.abs(np.random.default_rng(5).normal(size=(200_000, 3)))
    d /= np.linalg.norm(d, axis=1)[:, None]
    # In the octant of corner `half`, d moves away from `half` until one component is zero ...
    away = d * (half @ half) - (d @ half)[:, None] * half
    with np.errstate(divide="ignore"):
        time = np.where(away < 0, -d / away, np.inf)
    first = time.argmin(axis=1)
    at = d + time.min(axis=1)[:, None] * away
    # ... and then slides along that edge, away from the edge's own perpendicular.
    counts = np.zeros(3)
    for axis in range(3):
        i, j = (k for k in range(3) if k != axis)
        on = first == axis
        to_i = at[on, i] * half[j] > at[on, j] * half[i]
        counts[i] += to_i.sum()
        counts[j] += (~to_i).sum()
    rests = rests_of(box(tuple(2 * half))[0])
    got = np.zeros(3)
    for rest in rests:
        got[np.abs(rest.down).argmax()] += rest.probability
    np.testing.assert_allclose(got, counts / counts.sum(), atol=0.004)


def test_probabilities_do_not_depend_on_the_number_of_directions(standard) -> None:
    labels = [part.label for part in standard.model.parts for _ in part.vertices_m]
    points = standard.model.vertices_m
    coarse = pigs.stable_rests(points, labels, ORIGIN, 20_000)
    fine = pigs.stable_rests(points, labels, ORIGIN, 160_000)
    by_support = {rest.supports: rest.probability for rest in coarse}
    for rest in fine:
        assert by_support[rest.supports] == pytest.approx(rest.probability, abs=0.002)


def test_turning_the_body_turns_its_rests(standard_rests, standard) -> None:
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    labels = [part.label for part in standard.model.parts for _ in part.vertices_m]
    turned = pigs.stable_rests(standard.model.vertices_m @ turn.T, labels, ORIGIN)
    for a, b in zip(standard_rests, turned, strict=True):
        assert a.probability == pytest.approx(b.probability, abs=0.003)
        assert a.height_m == pytest.approx(b.height_m, abs=1e-9)
        assert a.barrier_m == pytest.approx(b.barrier_m, abs=1e-9)
        np.testing.assert_allclose(turn @ a.down, b.down, atol=1e-6)


def test_a_mirrored_body_has_mirrored_rests(standard_rests, standard) -> None:
    mirror = np.array([1.0, -1.0, 1.0])
    labels = [part.label for part in standard.model.parts for _ in part.vertices_m]
    mirrored = pigs.stable_rests(standard.model.vertices_m * mirror, labels, ORIGIN)
    for rest in standard_rests:
        other = min(mirrored, key=lambda m: np.linalg.norm(m.down - rest.down * mirror))
        np.testing.assert_allclose(other.down, rest.down * mirror, atol=1e-6)
        assert other.probability == pytest.approx(rest.probability, abs=0.003)
        assert other.barrier_m == pytest.approx(rest.barrier_m, abs=1e-9)


def test_the_mesh_library_finds_the_same_rests(standard_rests, standard) -> None:
    """Its probabilities follow another rule for the first roll, so they agree only roughly."""
    hull = trimesh.convex.convex_hull(standard.model.vertices_m)
    transforms, probabilities = trimesh.poses.compute_stable_poses(
        hull, center_mass=ORIGIN, sigma=0.0, n_samples=1, threshold=0.0
    )
    downs = -transforms[:, 2, :3]
    for rest in standard_rests:
        near = np.linalg.norm(downs - rest.down, axis=1) < 1e-3
        assert near.any()
        assert probabilities[near].sum() == pytest.approx(rest.probability, abs=0.06)


def test_the_barrier_is_the_lowest_way_out_on_a_grid(standard_rests, standard) -> None:
    """Second route: flood the sphere of down directions from the rest, lowest first."""
    import heapq

    from scipy.spatial import ConvexHull

    i = np.arange(30_000) + 0.5
    z, phi = 1 - 2 * i / len(i), np.pi * (1 + 5**0.5) * i
    d = np.stack([np.sqrt(1 - z * z) * np.cos(phi), np.sqrt(1 - z * z) * np.sin(phi), z], axis=1)
    height = (d @ standard.model.vertices_m.T).max(axis=1)
    links: list[set[int]] = [set() for _ in d]
    for a, b, c in ConvexHull(d).simplices:
        links[a] |= {b, c}
        links[b] |= {a, c}
        links[c] |= {a, b}
    starts = [int((d @ rest.down).argmax()) for rest in standard_rests]
    for rest, start in zip(standard_rests, starts, strict=True):
        if rest.probability < 0.005:
            continue
        best = {start: height[start]}
        queue = [(height[start], start)]
        while queue:
            level, k = heapq.heappop(queue)
            if k != start and k in starts:
                break
            for n in links[k]:
                up = max(level, height[n])
                if up < best.get(n, np.inf):
                    best[n] = up
                    heapq.heappush(queue, (up, n))
        # The grid's steps of 1 degree cannot follow a narrow valley exactly.
        assert 0.995 * rest.barrier_m < level < 1.03 * rest.barrier_m


TOLERANCE_MM = 0.15
BOX = trimesh.creation.box((30.0, 20.0, 16.0))
BOX_SHARES = [0.2422, 0.2422, 0.174, 0.174, 0.0841, 0.0841]


def divided(mesh: trimesh.Trimesh, times: int) -> np.ndarray:
    """The vertices of a mesh whose faces are divided by four again and again."""
    for _ in range(times):
        mesh = mesh.subdivide()
    return np.asarray(mesh.vertices)


def noisy(points: np.ndarray, noise_mm: float, seed: int) -> np.ndarray:
    return points + np.random.default_rng(seed).normal(0.0, noise_mm, points.shape)


def shares_of(points: np.ndarray, directions: int = 40_000) -> list[float]:
    labels = [""] * len(points)
    rests = pigs.stable_rests(points, labels, ORIGIN, directions, TOLERANCE_MM)
    assert sum(rest.probability for rest in rests) == pytest.approx(1.0, abs=1e-9)
    return [rest.probability for rest in rests]


def two_blocks(shift: tuple[float, float, float]) -> np.ndarray:
    """A block of 20 x 10 x 10 and the same moved, about the middle of both."""
    half = 0.5 * np.array(shift)
    corners = box((20.0, 10.0, 10.0))[0]
    return np.concatenate([corners - half, corners + half])


SHIFTS = [(10, 0, 10)] + [
    tuple(s) for s in np.random.default_rng(1).integers(-15, 16, (30, 3)).tolist()
]


@pytest.mark.parametrize("shift", SHIFTS, ids=str)
def test_two_equal_blocks_have_equal_pairs_of_rests(shift: tuple[float, float, float]) -> None:
    """They are their own image through their middle: full of ties."""
    points = two_blocks(shift)
    rests = pigs.stable_rests(points, [""] * len(points), ORIGIN, 4_000, TOLERANCE_MM)
    assert sum(rest.probability for rest in rests) == pytest.approx(1.0, abs=1e-9)
    for rest in rests:
        other = min(rests, key=lambda r: np.linalg.norm(r.down + rest.down))
        np.testing.assert_allclose(other.down, -rest.down, atol=1e-9)
        assert other.probability == pytest.approx(rest.probability, abs=1e-9)
        assert rest.barrier_m > rest.height_m


def test_a_z_of_blocks_rolls_as_small_steps_downhill_do() -> None:
    """Second route, without facets and edges: 2,000 directions, each moved again and again a little
    away from the lowest corner. Its end faces, over whose edge the centre stands, hold nothing."""
    points = two_blocks((10, 0, 10))
    d = np.random.default_rng(3).normal(size=(2_000, 3))
    for step in np.geomspace(0.02, 2e-4, 1_200):
        d /= np.linalg.norm(d, axis=1)[:, None]
        lowest = points[(d @ points.T).argmax(axis=1)]
        away = lowest - (lowest * d).sum(axis=1)[:, None] * d
        d -= step * away / np.maximum(np.linalg.norm(away, axis=1), 1e-12)[:, None]
    rests = pigs.stable_rests(points, [""] * len(points), ORIGIN, tolerance_m=TOLERANCE_MM)
    near = d @ np.array([rest.down for rest in rests]).T / np.linalg.norm(d, axis=1)[:, None]
    assert (near.max(axis=1) > 0.99).mean() > 0.99
    counts = np.bincount(near.argmax(axis=1), minlength=len(rests)) / len(d)
    assert len(rests) == 6
    assert counts == pytest.approx([rest.probability for rest in rests], abs=0.03)


BLOCKS = {
    "S": [(-10, 0, -5), (0, 0, -5), (0, 0, 5), (10, 0, 5)],
    "tower": [(0, 0, -10), (0, 0, 0), (0, 0, 10)],
    "leaning tower": [(-5, 0, -10), (0, 0, 0), (5, 0, 10)],
    "corner": [(0, 0, 0), (10, 0, 0), (0, 10, 0), (0, 0, 10)],
    "cross": [(0, 0, 0), (10, 0, 0), (-10, 0, 0), (0, 10, 0), (0, -10, 0)],
    "T": [(0, 0, 0), (-10, 0, 0), (10, 0, 0), (0, 0, 10)],
}


@pytest.mark.parametrize("name", BLOCKS)
def test_stacked_cubes_have_rests_that_noise_leaves(name: str) -> None:
    cubes = np.array(BLOCKS[name], dtype=float)
    points = np.concatenate([box((10.0, 10.0, 10.0))[0] + cube for cube in cubes])
    points -= cubes.mean(axis=0)
    exact = shares_of(points)
    for noise in (1e-6, 1e-4, 3e-3):
        assert shares_of(noisy(points, noise, 4)) == pytest.approx(exact, abs=0.005)


NOISE_MM = [1e-6, 1e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1]


@pytest.mark.parametrize("noise_mm", NOISE_MM)
@pytest.mark.parametrize(("times", "seed"), [(2, 2), (4, 3)])
def test_a_box_with_noise_has_the_rests_of_the_box(noise_mm: float, times: int, seed: int) -> None:
    found = shares_of(noisy(divided(BOX, times), noise_mm, seed), 20_000)
    assert found == pytest.approx(BOX_SHARES, abs=0.005)


def test_neither_order_nor_place_nor_turn_of_a_file_matters() -> None:
    rng = np.random.default_rng(6)
    points = noisy(divided(BOX, 3), 0.01, 6)
    expected = shares_of(points)
    assert shares_of(rng.permutation(points)) == pytest.approx(expected, abs=1e-9)
    labels, there = [""] * len(points), np.array([130.0, -47.0, 12.0])
    moved = pigs.stable_rests(points + there, labels, there, tolerance_m=TOLERANCE_MM)
    assert [rest.probability for rest in moved] == pytest.approx(expected, abs=1e-4)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    assert shares_of(points @ turn) == pytest.approx(expected, abs=0.003)


@pytest.mark.parametrize("noise_mm", [0.0, 1e-4])
def test_each_side_of_a_prism_of_64_is_a_rest(noise_mm: float) -> None:
    """Each side is within the tolerance of the next, all around: one plane is near none but few."""
    prism = trimesh.creation.cylinder(10.0, 20.0, sections=64)
    rests = shares_of(noisy(divided(prism, 1), noise_mm, 5))
    assert len(rests) == 66
    end = 0.5 * (1.0 - 1.0 / np.sqrt(2.0))  # the solid angle within which it falls on an end
    assert rests[:2] == pytest.approx([end] * 2, abs=0.003)
    assert rests[2:] == pytest.approx([(1.0 - 2.0 * end) / 64.0] * 64, abs=0.001)


def test_a_ball_has_a_rest_for_what_it_may_lie_on() -> None:
    ball = np.asarray(trimesh.creation.icosphere(2, 15.0).vertices)
    rests = shares_of(ball)
    assert len(rests) == 320
    assert max(rests) < 0.006


def test_directions_that_cross_edges_without_end_are_refused_or_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = np.asarray(trimesh.creation.icosphere(2).vertices) * [3.0, 2.0, 1.0]
    way = rolling.Rolling(polyhedron(points, ORIGIN))
    directions = even_directions(2000)
    expected = way.shares(directions)
    monkeypatch.setattr(rolling, "_MOST_CROSSINGS", 5)
    with pytest.raises(ModelError, match=r"without end from \d+ of \d+ directions; simplify"):
        way.shares(directions)
    monkeypatch.setattr(rolling, "_MOST_LOST", 0.5)
    found = way.shares(directions)
    assert found.sum() == pytest.approx(1.0) and not np.array_equal(found, expected)


@pytest.mark.timeout(20)
def test_shares_that_rounding_has_lost_are_not_waited_for() -> None:
    following = csr_array(np.array([[1.0, 0.0], [0.5, 0.4]]))
    members, leads = rolling.ends_of(following)
    assert [each.tolist() for each in members] == [[0]]
    assert leads.toarray()[:, 0] == pytest.approx([1.0, 0.5 / 0.6])


def with_chamfers(width: float) -> np.ndarray:
    """A bar of 20 x 20 x 30 with chamfers of so wide along its length."""
    a, b = 10.0, 10.0 - width / np.sqrt(2.0)
    corners = [(x * s, y * t) for x, y in ((a, b), (b, a)) for s in (-1, 1) for t in (-1, 1)]
    return np.array([(x, y, z) for x, y in corners for z in (-15.0, 15.0)])


def test_an_edge_that_is_blunt_by_less_than_the_tolerance_is_no_rest() -> None:
    sharp = shares_of(box((20.0, 20.0, 30.0))[0])
    assert len(sharp) == 6
    assert shares_of(with_chamfers(0.1)) == pytest.approx(sharp, abs=0.003)
    assert len(shares_of(with_chamfers(3.0))) == 10


@pytest.mark.parametrize(
    ("size", "count"), [((60, 20, 0.1), 2), ((60, 20, 2), 6), ((60, 0.5, 0.5), 4), ((60, 3, 3), 6)]
)
def test_plates_and_needles_stand_on_no_edge(size: tuple[float, ...], count: int) -> None:
    shares = shares_of(box(size)[0])
    assert len(shares) == count
    assert shares[::2] == pytest.approx(shares[1::2], abs=1e-12)


def test_a_cube_or_nearly_one_has_equal_rests() -> None:
    assert shares_of(box((20.0, 20.0, 20.0))[0]) == pytest.approx([1 / 6] * 6, abs=1e-12)
    assert shares_of(box((20.0, 20.001, 20.002))[0]) == pytest.approx([1 / 6] * 6, abs=1e-3)


def test_two_facets_that_make_a_blunt_keel_are_one_symmetric_rest() -> None:
    """A floor of two halves that meet 0.05 mm below its sides: it rocks by less than is seen."""
    keel = np.array([[x, 0.0, -8.05] for x in (-15.0, 15.0)])
    points = np.concatenate([box((30.0, 20.0, 16.0))[0], keel])
    one, two = (
        [
            rest
            for rest in pigs.stable_rests(points, [""] * 10, ORIGIN, tolerance_m=tolerance)
            if rest.down[2] < -0.9
        ]
        for tolerance in (TOLERANCE_MM, 0.02)
    )
    assert len(one) == 1
    assert len(two) == 2
    np.testing.assert_allclose(one[0].down, [0.0, 0.0, -1.0], atol=1e-9)
    assert one[0].probability == pytest.approx(sum(rest.probability for rest in two))
    assert two[0].probability == pytest.approx(two[1].probability, abs=1e-12)


def test_directions_are_even_and_symmetric() -> None:
    d = even_directions(40_000)
    assert len(d) == pytest.approx(40_000, rel=0.01)
    np.testing.assert_allclose(d.T @ d / len(d), np.eye(3) / 3, atol=1e-12)
    caps = np.random.default_rng(8).normal(size=(50, 3))
    caps /= np.linalg.norm(caps, axis=1)[:, None]
    np.testing.assert_allclose((d @ caps.T > 0.8).mean(axis=0), 0.1, atol=0.002)


def test_a_model_whose_rests_cannot_be_found_is_named(tmp_path: Path) -> None:
    folder = write_model(
        tmp_path / "lopsided", *box((30.0, 20.0, 10.0)), center_of_mass_offset_mm=[0, 0, 6]
    )
    with pytest.raises(ModelError, match=r"lopsided.*centre of mass.*center_of_mass_offset_mm"):
        pigs.model_rests(pigs.load_model(folder))


@pytest.mark.parametrize("com", [[2.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
def test_a_centre_of_mass_outside_or_on_the_hull_is_refused(com: list[float]) -> None:
    with pytest.raises(ModelError, match="centre of mass"):
        rests_of(box((2.0, 2.0, 2.0))[0], np.array(com))


def test_flat_or_broken_points_are_refused() -> None:
    with pytest.raises(ModelError, match="flat"):
        rests_of(box((2.0, 2.0, 0.0))[0])
    with pytest.raises(ModelError, match="finite"):
        rests_of(np.full((8, 3), np.nan))

"""Quasi-static rests: solids with known answers, and a second route for the pig."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from physim import pigs
from physim.errors import ModelError
from tests.pigs.shapes import box

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
        assert rest.margin_m == pytest.approx(1.0)
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


@pytest.mark.parametrize("com", [[2.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
def test_a_centre_of_mass_outside_or_on_the_hull_is_refused(com: list[float]) -> None:
    with pytest.raises(ModelError, match="centre of mass"):
        rests_of(box((2.0, 2.0, 2.0))[0], np.array(com))


def test_flat_or_broken_points_are_refused() -> None:
    with pytest.raises(ModelError, match="flat"):
        rests_of(box((2.0, 2.0, 0.0))[0])
    with pytest.raises(ModelError, match="finite"):
        rests_of(np.full((8, 3), np.nan))

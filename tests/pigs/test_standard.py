"""The standard pig: its six poses, its feet, and parts that follow its surface."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import numpy as np
import pytest
import trimesh
from scipy.spatial import ConvexHull, cKDTree

from physim import pigs
from physim.types import BODY_PARTS, FEET
from tests.pigs.conftest import STANDARD

FRONT_FEET = {"front_left_foot", "front_right_foot"}
COS_60 = 0.5
# Least distance from the centre of mass's foot to the edge of the support polygon [mm].
LEAST_MARGIN_MM = {
    "trotter": 0.6,
    "razorback": 0.3,  # its shallow neighbours
    "side_dot_up": 0.6,
    "side_dot_down": 0.3,  # two rests side by side
    "snouter": 2.0,
    "leaning_jowler": 0.6,
}


def pose_of(rest: pigs.StableRest) -> str:
    """The pose as a player sees it: the parts that touch, else the side that is down."""
    # The hulls of snout and head share corners at the snout's root; `supports` names one of them.
    touching = {"snout" if label == "head" else label for label in rest.supports}
    if touching == set(FEET):
        return "trotter"
    if touching == {"snout", *FRONT_FEET}:
        return "snouter"
    if touching in (
        {"snout", "left_ear", "front_left_foot"},
        {"snout", "right_ear", "front_right_foot"},
    ):
        return "leaning_jowler"
    if rest.down[2] > max(COS_60, abs(rest.down[1])):
        return "razorback"
    if rest.down[1] > COS_60:
        return "side_dot_up"
    if rest.down[1] < -COS_60:
        return "side_dot_down"
    return "other"


def distance_to_edge_mm(rest: pigs.StableRest) -> float:
    """In the plane of the table, with plain geometry."""
    up = -rest.down
    u = np.cross(up, [0.3, 0.5, 0.8])
    u /= np.linalg.norm(u)
    flat = rest.support_points_m @ np.stack([u, np.cross(up, u)], axis=1)
    return float(1e3 * -ConvexHull(flat).equations[:, 2].max())


def test_all_six_poses_are_rests_with_the_centre_of_mass_well_inside(standard_rests) -> None:
    found: dict[str, float] = {}
    for rest in standard_rests:
        if rest.probability > 0.002:
            name = pose_of(rest)
            found[name] = min(found.get(name, np.inf), distance_to_edge_mm(rest))
    assert set(found) - {"other"} == set(LEAST_MARGIN_MM)
    for name, least in LEAST_MARGIN_MM.items():
        assert found[name] >= least, name


def test_hardly_anything_else_is_a_rest(standard_rests) -> None:
    other = sum(r.probability for r in standard_rests if pose_of(r) == "other")
    assert other <= 0.003


def test_rests_are_about_as_frequent_as_the_toy_shows_them(standard_rests) -> None:
    """Without dynamics only roughly: a wide band around Kern's frequencies."""
    bands = {
        "side_dot_down": (0.27, 0.36),
        "side_dot_up": (0.24, 0.35),
        "razorback": (0.12, 0.23),
        "trotter": (0.07, 0.14),
        "snouter": (0.04, 0.10),
        "leaning_jowler": (0.01, 0.04),
    }
    total = dict.fromkeys([*bands, "other"], 0.0)
    for rest in standard_rests:
        total[pose_of(rest)] += rest.probability
    assert sum(total.values()) == pytest.approx(1.0)
    for name, (low, high) in bands.items():
        assert low <= total[name] <= high, (name, total[name])


def test_passes_lie_above_the_rests(standard_rests) -> None:
    for rest in standard_rests:
        assert rest.barrier_m > rest.height_m
        np.testing.assert_allclose(rest.support_points_m @ rest.down, rest.height_m, atol=2e-7)


def test_the_soles_are_coplanar(standard) -> None:
    lowest = [p.vertices_m[:, 2].min() for p in standard.model.parts if p.label in FEET]
    assert len(lowest) == 4
    assert np.ptp(lowest) < 0.05e-3
    assert standard.visual.vertices_m[:, 2].min() == pytest.approx(min(lowest), abs=0.05e-3)


def test_legs_are_staggered_on_the_side_of_the_dot(standard) -> None:
    x = {p.label: p.vertices_m[:, 0].mean() for p in standard.model.parts}
    right = x["front_right_foot"] - x["hind_right_foot"]
    left = x["front_left_foot"] - x["hind_left_foot"]
    assert right > left + 3e-3


def test_the_dot_is_on_the_right_flank(standard) -> None:
    middles = standard.visual.vertices_m[standard.visual.faces].mean(axis=1)
    dot = middles[np.array(standard.visual.materials) == "dot"]
    assert len(dot) > 10
    assert dot[:, 1].max() < 0
    assert set(standard.visual.materials) == {"skin", "snout", "dot", "eye"}


def test_parts_are_few_small_and_named(standard) -> None:
    labels = [part.label for part in standard.model.parts]
    assert len(labels) == len(set(labels)) <= 16
    assert set(labels) <= set(BODY_PARTS)
    assert max(len(part.vertices_m) for part in standard.model.parts) <= 50


def test_the_size_is_the_toys(standard) -> None:
    assert standard.model.length_m == pytest.approx(0.040, abs=0.003)
    density = standard.model.mass_kg / standard.mass.volume_m3
    assert 950 <= density <= 1100


def test_the_file_is_watertight(standard_arrays) -> None:
    mesh = trimesh.Trimesh(*standard_arrays, process=False)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.body_count == 1
    assert mesh.volume > 0


def test_parts_and_picture_agree_to_one_percent_of_the_length(standard) -> None:
    """Hausdorff distance both ways, by sampling."""
    visual = trimesh.Trimesh(standard.visual.vertices_m * 1e3, standard.visual.faces, process=False)
    picture = trimesh.sample.sample_surface(visual, 200_000, seed=1)[0]
    hulls = [ConvexHull(part.vertices_m * 1e3) for part in standard.model.parts]
    outside = []
    for i, hull in enumerate(hulls):
        mesh = trimesh.Trimesh(hull.points, hull.simplices, process=False)
        points, faces = trimesh.sample.sample_surface(mesh, int(100 * mesh.area), seed=i)
        pushed = points + 0.01 * hull.equations[faces, :3]
        hidden = np.zeros(len(points), dtype=bool)
        for j, other in enumerate(hulls):
            if i != j:
                planes = pushed @ other.equations[:, :3].T + other.equations[:, 3]
                hidden |= (planes < 0).all(axis=1)
        outside.append(points[~hidden])
    union = np.concatenate(outside)
    limit = 0.01 * 1e3 * standard.model.length_m
    to_picture = cKDTree(picture).query(union)[0]
    to_union = cKDTree(union).query(picture[::4])[0]
    assert len(union) > 100_000  # sampling adds less than 0.03 mm to a distance of 0.3 mm
    assert to_picture.max() < limit
    assert to_union.max() < limit
    inside = np.max(
        [-(h.equations[:, :3] @ picture[::20].T + h.equations[:, 3:]).max(axis=0) for h in hulls],
        axis=0,
    )
    assert abs(inside.mean()) < 0.05  # neither too small nor too large on the whole


def test_building_is_quick_and_repeatable(tmp_path: Path) -> None:
    folder = tmp_path / "pig"
    shutil.copytree(STANDARD, folder)
    before = {name: (folder / name).read_bytes() for name in ("pig.obj", "parts.obj", "model.yaml")}
    start = time.perf_counter()
    pigs.build_model(folder)
    assert time.perf_counter() - start < 5.0  # 0.5 s on an idle core
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_the_back_is_the_shallow_basin_and_the_flanks_are_deep(standard_rests) -> None:
    """A toss ends where energy runs out: the depth of a basin decides, not its width alone."""
    best = {pose_of(rest): rest for rest in reversed(standard_rests)}
    depth_mm = {name: 1e3 * (rest.barrier_m - rest.height_m) for name, rest in best.items()}
    for side in ("side_dot_up", "side_dot_down"):
        assert best["razorback"].height_m > best[side].height_m + 0.2e-3
    # The dot is down in two rests with a low pass from one to the other.
    assert depth_mm["side_dot_up"] > 1.2
    assert 0.3 < depth_mm["razorback"] < 0.8
    assert depth_mm["trotter"] > 1.5
    assert depth_mm["snouter"] > 0.15
    assert depth_mm["leaning_jowler"] > 0.02

"""One shape in many guises is one pig; primitives lie as theory says."""

from __future__ import annotations

from pathlib import Path

import manifold3d as m3
import numpy as np
import pytest
import trimesh

from physim.errors import ModelError
from physim.importer.build import Options, PreparedMesh, prepare
from physim.importer.convex_parts import convex_parts
from physim.importer.repair import repair
from physim.pigs.stable_poses import stable_rests
from physim.types import FEET
from tests.importer import made

PIG = made.mesh_of(made.low_poly_pig())
TURN = trimesh.transformations.random_rotation_matrix(np.array([0.3, 0.7, 0.2]))[:3, :3]
AXES = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])  # y up, z forward


def subdivided(mesh: made.Mesh, times: int) -> made.Mesh:
    for _ in range(times):
        mesh = trimesh.remesh.subdivide(*mesh)
    return mesh


def split_at_seams(mesh: made.Mesh) -> made.Mesh:
    vertices, faces = mesh
    return vertices[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3)


def moved(by: np.ndarray | float = 0.0, turn: np.ndarray | None = None, scale: float = 1.0):
    turn = np.eye(3) if turn is None else turn
    return scale * PIG[0] @ turn.T + by, PIG[1]


VARIANTS = {
    "stl": ("pig.stl", PIG, Options()),
    "ply": ("pig.ply", PIG, Options()),
    "off": ("pig.off", PIG, Options()),
    "3mf": ("pig.3mf", PIG, Options()),
    "glb": ("pig.glb", PIG, Options(unit="mm", forward="x", up="z")),
    "glb_y_up_in_m": ("pig.glb", moved(turn=AXES, scale=1e-3), Options()),
    "obj_with_seams": ("pig.obj", split_at_seams(PIG), Options()),
    "inch": ("pig.stl", moved(scale=1 / 25.4), Options()),
    "m": ("pig.stl", moved(scale=1e-3), Options()),
    "translated": ("pig.stl", moved(by=np.array([300.0, -50.0, 20.0])), Options()),
    "rotated": ("pig.ply", moved(turn=TURN), Options()),
    "inverted": ("pig.stl", (PIG[0], PIG[1][:, ::-1]), Options()),
    "subdivided": ("pig.ply", subdivided(PIG, 2), Options()),
    "scaled_to_a_length": ("pig.stl", moved(scale=7.0), Options(length_mm=37.5)),
}


def inertia(mesh: PreparedMesh) -> np.ndarray:
    """Volume and principal moments, by the mesh library."""
    solid = trimesh.Trimesh(mesh.vertices_mm, mesh.faces, process=False)
    assert solid.is_watertight
    return np.array([solid.volume, *np.sort(solid.principal_inertia_components)])


def rests(mesh: PreparedMesh) -> list[float]:
    solid = trimesh.Trimesh(mesh.vertices_mm, mesh.faces, process=False)
    found = stable_rests(mesh.vertices_mm, [""] * len(mesh.vertices_mm), solid.center_mass, 10_000)
    return [rest.probability for rest in found]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> PreparedMesh:
    path = made.write(tmp_path_factory.mktemp("plain") / "pig.stl", PIG)
    return prepare(path, Options(forward="x", up="z", unit="mm"))


@pytest.mark.parametrize("kind", VARIANTS)
def test_a_pig_in_any_guise_has_the_same_mass_rests_and_landmarks(
    kind: str, plain: PreparedMesh, tmp_path: Path
) -> None:
    name, mesh, options = VARIANTS[kind]
    found = prepare(made.write(tmp_path / name, mesh), options)
    assert not [problem for problem in found.problems if not problem.solved]
    np.testing.assert_allclose(inertia(found), inertia(plain), rtol=0.01)
    one, two = rests(found), rests(plain)
    count = max(len(one), len(two))
    one, two = (r + [0.0] * (count - len(r)) for r in (one, two))
    assert 0.5 * np.abs(np.array(one) - two).sum() < 0.01
    assert set(found.marks) == set(plain.marks) >= {*FEET, "snout", "left_ear", "right_ear"}
    for label, box in plain.marks.items():
        assert found.marks[label] == pytest.approx(box, abs=0.6), label


def test_a_declared_unit_and_force_are_obeyed(tmp_path: Path) -> None:
    path = made.write(tmp_path / "pig.stl", PIG)
    with pytest.raises(ModelError, match="--unit"):
        prepare(path, Options(unit="inch"))  # 950 mm
    assert np.ptp(prepare(path, Options(unit="inch", force=True)).vertices_mm, axis=0)[
        0
    ] == pytest.approx(37.5 * 25.4, rel=1e-3)
    with pytest.raises(ModelError, match="37"):
        prepare(path, Options(unit="m", force=True))  # 37 m


def test_a_centre_of_mass_outside_the_hull_is_refused(tmp_path: Path) -> None:
    path = made.write(tmp_path / "pig.stl", PIG)
    found = prepare(path, Options(offset_mm=(60.0, 0.0, 0.0)))
    assert [p.kind for p in found.problems if not p.solved] == ["centre of mass"]


PRIMITIVES = {
    "cube": (m3.Manifold.cube((20.0, 20.0, 20.0)), [1 / 6] * 6),
    "ball": (m3.Manifold.sphere(15.0, 64), None),
}


@pytest.mark.parametrize("kind", PRIMITIVES)
def test_a_primitive_has_no_pose_of_the_rules(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    solid, expected = PRIMITIVES[kind]
    mesh = prepare(made.write(tmp_path / "a.stl", made.mesh_of(solid)), Options())
    parts = convex_parts(mesh.vertices_mm, mesh.faces, mesh.marks)
    assert {label for label, _ in parts.corners} == {"solid"}
    assert max(parts.uncovered_mm, parts.bulge_mm) < 0.3
    if expected:
        (corners,) = (points for _, points in parts.corners)
        found = stable_rests(corners, [""] * len(corners), np.zeros(3), 20_000)
        assert [rest.probability for rest in found] == pytest.approx(expected, abs=0.005)


def test_a_cylinder_stands_and_lies_as_its_solid_angles_say(tmp_path: Path) -> None:
    mesh = prepare(
        made.write(tmp_path / "a.stl", made.mesh_of(m3.Manifold.cylinder(20.0, 12.0, 12.0, 64))),
        Options(),
    )
    found = stable_rests(mesh.vertices_mm, [""] * len(mesh.vertices_mm), np.zeros(3), 20_000)
    flat = sum(rest.probability for rest in found if abs(rest.down[2]) > 0.9)
    # It falls to a flat end from within the cone of the edge: cos(atan(r / (h / 2))) = 1 - share.
    assert flat == pytest.approx(1 - 10 / np.hypot(10, 12), abs=0.01)


def test_the_gap_between_the_legs_survives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain: PreparedMesh
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    parts = convex_parts(plain.vertices_mm, plain.faces, plain.marks)
    assert len(parts.corners) <= 16
    assert parts.uncovered_mm < 0.3
    low = plain.vertices_mm[:, 2].min()
    between = np.array([[0.0, 0.0, low + h] for h in (0.5, 1.5, 3.0)])
    assert not inside_any(between, parts.corners)
    again = convex_parts(plain.vertices_mm, plain.faces, plain.marks)  # from the cache
    assert [label for label, _ in again.corners] == [label for label, _ in parts.corners]


def inside_any(points: np.ndarray, corners: list[tuple[str, np.ndarray]]) -> bool:
    from scipy.spatial import Delaunay

    return any((Delaunay(hull).find_simplex(points) >= 0).any() for _, hull in corners)


def with_sheet(thickness: float, rounded: bool) -> m3.Manifold:
    """A block, or a ball of many faces, with an upright sheet on it [mm]."""
    body = m3.Manifold.sphere(12.0, 90) if rounded else m3.Manifold.cube((40.0, 20.0, 15.0), True)
    return body + m3.Manifold.cube((thickness, 9.0, 24.0), True).translate((0.0, 0.0, 10.0))


CUP = m3.Manifold.cube((30.0, 30.0, 20.0)) - m3.Manifold.cube((29.998, 29.998, 20.0)).translate(
    (0.001, 0.001, 0.001)
)


@pytest.mark.parametrize(
    "solid", [with_sheet(1e-3, False), with_sheet(1e-3, True), CUP], ids=["block", "ball", "cup"]
)
def test_a_sheet_too_thin_for_the_samples_is_told_as_that(solid: m3.Manifold) -> None:
    (found,) = repair(*made.mesh_of(solid), largest=False).problems
    assert (found.kind, found.solved) == ("too thin", False)
    assert "give it thickness" in found.action


@pytest.mark.parametrize("rounded", [False, True])
def test_a_sheet_of_a_hundredth_of_a_millimetre_is_taken(rounded: bool) -> None:
    solid = with_sheet(0.01, rounded)
    repaired = repair(*made.mesh_of(solid.refine_to_length(0.8)), largest=False).solid
    assert repaired is not None
    assert repaired.volume == pytest.approx(solid.volume(), rel=1e-3)
    assert repaired.bounds[1, 2] == pytest.approx(22.0, abs=1e-3)


def test_what_is_twisted_runs_through_itself() -> None:
    vertices, faces = made.mesh_of(m3.Manifold.cube((40.0, 20.0, 20.0), True).refine(8))
    vertices[vertices[:, 0] > 5.0, 1] *= -1.0
    (found,) = repair(vertices, faces, largest=False).problems
    assert found.kind == "self-overlap"

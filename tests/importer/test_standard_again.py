"""The standard pig, exported and brought back in many guises: the same pig."""

from __future__ import annotations

from pathlib import Path

import manifold3d as m3
import numpy as np
import pytest
import trimesh

from physim.importer.build import Options, import_mesh
from physim.importer.folder import write_folder
from physim.pigs.library import load_all, model_folder
from physim.rests import RestTable
from tests.importer import made

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
TURN = trimesh.transformations.random_rotation_matrix(np.array([0.3, 0.7, 0.2]))[:3, :3]


def standard() -> made.Mesh:
    scene = trimesh.load_scene(
        model_folder("standard") / "pig.obj", process=False, skip_materials=True
    )
    mesh = scene.to_mesh()
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    return np.asarray(mesh.vertices), np.asarray(mesh.faces)


def simplified(mesh: made.Mesh, faces: int) -> made.Mesh:
    solid = m3.Manifold(m3.Mesh64(mesh[0], mesh[1].astype(np.uint64)))
    tolerance = 0.01
    while solid.num_tri() > faces:
        tolerance *= 1.1
        solid = solid.simplify(tolerance)
    return made.mesh_of(solid)


def guise(kind: str, mesh: made.Mesh) -> tuple[str, made.Mesh]:
    vertices, faces = mesh
    return {
        "stl": ("pig.stl", mesh),
        "inch_ply": ("pig.ply", (vertices / 25.4, faces)),
        "m_glb": ("pig.glb", (vertices[:, [1, 2, 0]] / 1000, faces)),
        "seams_obj": ("pig.obj", (vertices[faces].reshape(-1, 3), np.arange(faces.size))),
        "moved": ("pig.stl", (vertices + [500.0, -80.0, 30.0], faces)),
        "rotated": ("pig.ply", (vertices @ TURN.T, faces)),
        "inverted": ("pig.stl", (vertices, faces[:, ::-1])),
        "3000_faces": ("pig.stl", simplified(mesh, 3000)),
        "176000_faces": ("pig.ply", trimesh.remesh.subdivide(vertices, faces)),
    }[kind]


def poses(kind: str, folder: Path) -> tuple[dict[str, float], np.ndarray]:
    """Quasi-static pose probabilities; volume and principal moments."""
    name, (vertices, faces) = guise(kind, standard())
    folder.mkdir()
    path = made.write(folder / name, (vertices, np.asarray(faces).reshape(-1, 3)))
    imported = import_mesh(path, Options(mass_g=5.5))
    assert not [p for p in imported.problems if p.kind == "decomposition"]
    write_folder(imported, folder / "model", kind)
    loaded = load_all(folder / "model")
    found: dict[str, float] = {}
    for named in RestTable.of(loaded.model).rests:
        found[named.pose.value] = found.get(named.pose.value, 0.0) + named.rest.probability
    moments = np.linalg.eigvalsh(loaded.mass.inertia_kg_m2)
    return found, np.array([1e9 * loaded.mass.volume_m3, *(1e9 * moments)])


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, float], np.ndarray]:
    return poses("stl", tmp_path_factory.mktemp("plain") / "stl")


@pytest.mark.parametrize(
    "kind",
    [
        "inch_ply",
        "m_glb",
        "seams_obj",
        "moved",
        "rotated",
        "inverted",
        "3000_faces",
        "176000_faces",
    ],
)
def test_the_standard_pig_in_any_guise_is_the_same_pig(
    kind: str, plain: tuple[dict[str, float], np.ndarray], tmp_path: Path
) -> None:
    found, mass = poses(kind, tmp_path / kind)
    np.testing.assert_allclose(mass, plain[1], rtol=0.01)
    every = set(found) | set(plain[0])
    distance = 0.5 * sum(abs(found.get(p, 0.0) - plain[0].get(p, 0.0)) for p in every)
    assert distance < 0.025


def test_it_holds_the_poses_of_the_model_it_was_exported_from(
    plain: tuple[dict[str, float], np.ndarray],
) -> None:
    own = load_all("standard")
    expected: dict[str, float] = {}
    for named in RestTable.of(own.model).rests:
        expected[named.pose.value] = expected.get(named.pose.value, 0.0) + named.rest.probability
    distance = 0.5 * sum(
        abs(plain[0].get(p, 0.0) - expected.get(p, 0.0)) for p in {*plain[0], *expected}
    )
    assert distance < 0.08, (plain[0], expected)  # its own parts are another approximation
    assert plain[1][0] == pytest.approx(1e9 * own.mass.volume_m3, rel=0.01)

"""The standard pig, exported and brought back in many guises: the same pig."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import manifold3d as m3
import numpy as np
import pytest
import trimesh
from PIL import Image

from physim.dataset.parquet import read_counts
from physim.dataset.plan import BatchPlan
from physim.dataset.run import run_batch
from physim.importer.build import Options, import_mesh
from physim.importer.folder import write_folder
from physim.importer.formats import export
from physim.pigs.model import load_all
from physim.simulator import RestTable
from physim.statistics.counts import NAMED_POSES
from physim.statistics.tests import g_test, holm, total_variation
from physim.types import Pose
from tests.importer import made

pytestmark = [pytest.mark.slow, pytest.mark.timeout(4 * 3600)]
ROLLS, SEED = 20_000, 600
TURN = trimesh.transformations.random_rotation_matrix(np.array([0.3, 0.7, 0.2]))[:3, :3]


def standard() -> made.Mesh:
    """The solid that is thrown, in 46,080 faces; and what its centre of mass is off by."""
    vertices, faces = (np.asarray(a) for a in _exported()[0])
    for _ in range(3):
        vertices, faces = trimesh.remesh.subdivide(vertices, faces)
    return vertices, faces


@cache
def _exported() -> tuple[made.Mesh, tuple[float, float, float]]:
    with tempfile.TemporaryDirectory() as folder:
        exported = export(load_all("standard"), Path(folder) / "pig.ply")
        mesh = trimesh.load_mesh(exported.path, process=False)
    x, y, z = exported.offset_mm.tolist()
    return (mesh.vertices, mesh.faces), (x, y, z)


def simplified(mesh: made.Mesh, faces: int) -> made.Mesh:
    solid = m3.Manifold(m3.Mesh64(mesh[0], mesh[1].astype(np.uint64)))
    tolerance = 0.01
    while solid.num_tri() > faces:
        tolerance *= 1.1
        solid = solid.simplify(tolerance)
    return made.mesh_of(solid)


def split_in_three(mesh: made.Mesh, chosen: np.ndarray) -> made.Mesh:
    """These faces (indices) cut at their middles: more finely meshed, the same surface."""
    vertices, faces = mesh
    a, b, c = faces[chosen].T
    middle = np.arange(len(chosen)) + len(vertices)
    cut = np.concatenate(
        [np.column_stack(t) for t in ((a, b, middle), (b, c, middle), (c, a, middle))]
    )
    return (
        np.concatenate([vertices, vertices[faces[chosen]].mean(axis=1)]),
        np.concatenate([np.delete(faces, chosen, axis=0), cut]),
    )


def fine_ear(mesh: made.Mesh) -> made.Mesh:
    """The left ear with 27 times as many faces."""
    for _ in range(3):
        middle = mesh[0][mesh[1]].mean(axis=1)
        top = middle[:, 2] > np.quantile(mesh[0][:, 2], 0.9)
        (ear,) = np.nonzero((middle[:, 0] > 8) & (middle[:, 1] > 4) & top)
        assert len(ear) > 100
        mesh = split_in_three(mesh, ear)
    return mesh


def subdivided(mesh: made.Mesh, faces: int) -> made.Mesh:
    vertices, triangles = trimesh.remesh.subdivide(*mesh)
    return split_in_three((vertices, triangles), np.arange((faces - len(triangles)) // 2))


def textured(mesh: made.Mesh, path: Path) -> Path:
    """An OBJ with materials, a picture and texture coordinates, cut open at every face."""
    vertices, faces = mesh
    path.with_suffix(".mtl").write_text("newmtl skin\nKd 1 .7 .7\nmap_Kd skin.png\n")
    Image.new("RGB", (8, 8), "pink").save(path.parent / "skin.png")
    corners = vertices[faces].reshape(-1, 3)
    lines = [f"mtllib {path.stem}.mtl", "usemtl skin"]
    lines += [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in corners.tolist()]
    lines += [f"vt {u:.4f} {v:.4f}" for u, v in np.random.default_rng(1).random((len(corners), 2))]
    lines += [f"f {k}/{k} {k + 1}/{k + 1} {k + 2}/{k + 2}" for k in range(1, len(corners), 3)]
    path.write_text("\n".join(lines) + "\n")
    return path


GUISES = (
    "mm_stl",
    "inch_ply",
    "m_glb",
    "textured_obj",
    "translated",
    "rotated",
    "inverted",
    "fine_ear",
    "3000_faces",
    "200000_faces",
)


def file_of(kind: str, folder: Path) -> Path:
    """The standard pig as a file of this kind."""
    mesh = vertices, faces = standard()
    if kind == "textured_obj":
        return textured(mesh, folder / "pig.obj")
    name, mesh = {
        "mm_stl": lambda: ("pig.stl", mesh),
        "inch_ply": lambda: ("pig.ply", (vertices / 25.4, faces)),
        "m_glb": lambda: ("pig.glb", (vertices[:, [1, 2, 0]] / 1000, faces)),
        "translated": lambda: ("pig.stl", (vertices + [500.0, -80.0, 30.0], faces)),
        "rotated": lambda: ("pig.ply", (vertices @ TURN.T, faces)),
        "inverted": lambda: ("pig.stl", (vertices, faces[:, ::-1])),
        "fine_ear": lambda: ("pig.ply", fine_ear(mesh)),
        "3000_faces": lambda: ("pig.stl", simplified(mesh, 3000)),
        "200000_faces": lambda: ("pig.ply", subdivided(mesh, 200_000)),
    }[kind]()
    return made.write(folder / name, mesh)


def options() -> Options:
    """As `model export` says."""
    return Options(mass_g=1e3 * load_all("standard").model.mass_kg, offset_mm=_exported()[1])


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A model folder of each guise."""
    base = tmp_path_factory.mktemp("guises")
    return {kind: added(kind, base / kind) for kind in GUISES}


def added(kind: str, folder: Path) -> Path:
    folder.mkdir(parents=True)
    imported = import_mesh(file_of(kind, folder), options())
    assert not [p for p in imported.problems if p.kind == "decomposition"]
    write_folder(imported, folder / "model", kind)
    return folder / "model"


def poses(model: str | Path) -> dict[str, float]:
    """Quasi-static pose probabilities."""
    found = dict.fromkeys((pose.value for pose in Pose), 0.0)
    for named in RestTable.of(load_all(model).model).rests:
        found[named.pose.value] += named.rest.probability
    return found


@pytest.mark.parametrize("kind", GUISES)
def test_the_standard_pig_in_any_guise_is_the_same_pig(kind: str, folders: dict[str, Path]) -> None:
    found, own = load_all(folders[kind]), load_all("standard")
    moments = [np.linalg.eigvalsh(loaded.mass.inertia_kg_m2) for loaded in (found, own)]
    np.testing.assert_allclose(moments[0], moments[1], rtol=0.01)
    assert found.mass.volume_m3 == pytest.approx(own.mass.volume_m3, rel=0.01)
    assert found.model.mass_kg == pytest.approx(own.model.mass_kg)
    expected = poses("standard")
    assert poses(folders[kind]) == {
        pose: pytest.approx(share, abs=0.004) for pose, share in expected.items()
    }


def test_it_rolls_the_same_in_every_guise(folders: dict[str, Path], tmp_path: Path) -> None:
    counts = {}
    for number, (kind, model) in enumerate([("standard", "standard"), *folders.items()]):
        run_batch(BatchPlan(n=ROLLS, seed=SEED + number, model=str(model)), tmp_path / kind)
        found = read_counts(tmp_path / kind)
        counts[kind] = [found.poses[pose] for pose in NAMED_POSES]
    own = counts.pop("standard")
    adjusted = holm([g_test(own, found).p for found in counts.values()])
    distances = {kind: total_variation(own, found) for kind, found in counts.items()}
    print(own, counts, distances, dict(zip(counts, adjusted, strict=True)), sep="\n")
    assert max(distances.values()) <= 0.025
    assert min(adjusted) >= 0.01

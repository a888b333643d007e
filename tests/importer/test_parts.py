"""What landmark boxes take, and parts of an added model's folder that are not those of its mesh."""

from __future__ import annotations

import shutil
from pathlib import Path

import manifold3d as m3
import numpy as np
import pytest

from physim.cli.main import main
from physim.errors import ModelError
from physim.importer.build import Options, import_mesh
from physim.importer.convex_parts import Parts, _few_enough, _parts
from physim.importer.folder import rebuild_parts, write_folder
from physim.importer.solids import Problem, Solid
from physim.pigs import load_all, load_model, model_names
from physim.pigs import mesh as meshes
from physim.types import BODY_PARTS
from tests.importer import made

Group = tuple[str, np.ndarray, np.ndarray]
BLOCK = made.mesh_of(m3.Manifold.cube((40.0, 20.0, 20.0), True))
ALL = (-50.0, 50.0, -50.0, 50.0, -50.0, 50.0)
FRONT = (10.0, 50.0, -50.0, 50.0, -50.0, 50.0)  # a quarter of the block
AWAY = (700.0, 701.0, -50.0, 50.0, -50.0, 50.0)


def found(**marks: tuple[float, ...]) -> tuple[Parts, list[Problem]]:
    parts = _parts(*BLOCK, marks, 10.0)  # type: ignore[arg-type]
    return parts, [problem for problem in parts.problems if problem.kind == "landmarks"]


def test_it_is_told_what_each_box_takes() -> None:
    parts, problems = found(head=FRONT)
    assert parts.shares == pytest.approx({"head": 0.25, "trunk": 0.75})
    assert problems == []


@pytest.mark.parametrize("label", ["left_ear", "right_ear"])
def test_a_box_that_takes_nothing_is_told_with_the_poses_that_are_lost(label: str) -> None:
    _, (problem,) = found(head=FRONT, **{label: AWAY})
    assert problem.where == label
    assert f"no leaning jowler on the {label.replace('_', ' ')}" in problem.action
    assert "(-20, -10, -10) to (20, 10, 10) mm" in problem.action


def test_a_box_that_an_earlier_one_left_nothing_is_told() -> None:
    _, (problem,) = found(head=FRONT, snout=(15.0, *FRONT[1:]))
    assert problem.where == "snout"


def test_a_box_that_takes_all_is_told() -> None:
    _, (nothing, everything, rest) = found(head=ALL, snout=FRONT)
    assert nothing.where == "snout"
    assert (everything.where, "100.0%" in everything.action) == ("head", True)
    assert (rest.where, "razorback" in rest.action) == ("trunk", True)


def test_no_label_is_lost_where_pieces_are_too_many() -> None:
    labels = [*("trunk" for _ in range(9)), *BODY_PARTS]
    corners = [np.array([2.0 * k, 0.0, 0.0]) for k in range(len(labels))]
    pieces = [
        (label, Solid.box(corner, corner + [1.0, 1.0, 1.0 + 0.1 * k]))
        for k, (label, corner) in enumerate(zip(labels, corners, strict=True))
    ]
    few = _few_enough(pieces)
    assert {label for label, _ in few} == set(BODY_PARTS)
    assert len(few) == 16
    assert sum(p.volume for _, p in few) == pytest.approx(sum(p.volume for _, p in pieces))


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of a block with legs, a head and ears, all convex, so that it is cut in no time."""
    folder = tmp_path_factory.mktemp("added")
    body = m3.Manifold.cube((30.0, 14.0, 10.0), True)
    head = m3.Manifold.cube((9.0, 10.0, 10.0), True).translate((19.0, 0.0, 3.0))
    blocks = [body, head]
    for y in (-5.0, 5.0):
        blocks += [
            m3.Manifold.cube((4.0, 3.9, 9.0), True).translate((x, y, -9.0)) for x in (-12, 12)
        ]
        blocks.append(m3.Manifold.cube((2.0, 2.0, 6.0), True).translate((18.0, 0.8 * y, 10.0)))
    path = made.write(
        folder / "blocks.stl", made.mesh_of(m3.Manifold.batch_boolean(blocks, m3.OpType.Add))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        write_folder(import_mesh(path, Options(unit="mm")), folder / "model", "blocks")
    return folder / "model"


@pytest.fixture
def copy(added: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Path(shutil.copytree(added, tmp_path / "copy"))


def groups_of(path: Path) -> list[Group]:
    """Each part of a file with its own vertices."""
    obj = meshes.read_obj(path)
    used = [np.unique(group.faces) for group in obj.groups]
    return [
        (group.name, obj.vertices[own], np.searchsorted(own, group.faces))
        for group, own in zip(obj.groups, used, strict=True)
    ]


def whole(folder: Path, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    corners, faces = meshes.convex_hull(meshes.read_obj(folder / "pig.obj").vertices, "")
    return scale * corners, faces


def physim(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, err = capfd.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.mark.parametrize("place", [0, -1])
@pytest.mark.parametrize("kind", ["hull", "a little larger", "a little smaller", "mesh"])
def test_a_part_that_is_the_hull_of_the_whole_is_refused(copy: Path, kind: str, place: int) -> None:
    scale = {"a little larger": 1.02, "a little smaller": 0.98}.get(kind, 1.0)
    obj = meshes.read_obj(copy / "pig.obj")
    form = (obj.vertices, obj.faces) if kind == "mesh" else whole(copy, scale)
    groups = groups_of(copy / "parts.obj")
    groups[place] = (groups[place][0], *form)
    meshes.write_parts(copy / "parts.obj", groups)
    with pytest.raises(ModelError, match=r"parts\.obj: the hull of the part .* holds .* others"):
        load_model(copy)


def test_a_hull_that_is_the_only_part_of_an_added_model_is_refused(
    copy: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    meshes.write_parts(copy / "parts.obj", [("trunk", *whole(copy))])
    code, out, err = physim(capfd, "roll", "--model", str(copy))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "parts.obj: the hull of the part `trunk` alone has" in err


def test_show_compares_parts_and_mesh(copy: Path, capfd: pytest.CaptureFixture[str]) -> None:
    solids = [m3.Manifold.hull_points(points) for _, points, _ in groups_of(copy / "parts.obj")]
    union = m3.Manifold.batch_boolean(solids, m3.OpType.Add)
    loaded = load_all(copy)
    assert 1e9 * loaded.parts_union[0] == pytest.approx(union.volume(), rel=0.005)
    code, out, _ = physim(capfd, "model", "show", str(copy))
    assert code == 0
    assert "of the parts together" in out
    assert "warning" not in out


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda name, points: (name, 0.86 * points), "less volume than the mesh"),
        (lambda name, points: (name, points + [4.0, 0.0, 0.0]), "4.0 mm from the mesh's"),
        (
            lambda name, points: (name.replace("left_ear", "left_eer"), points),
            "did you mean `left_ear`",
        ),
    ],
)
def test_show_warns_of_parts_that_are_not_those_of_the_mesh(
    copy: Path, capfd: pytest.CaptureFixture[str], edit: object, says: str
) -> None:
    groups = [(*edit(name, points), faces) for name, points, faces in groups_of(copy / "parts.obj")]  # type: ignore[operator]
    meshes.write_parts(copy / "parts.obj", groups)
    code, out, err = physim(capfd, "model", "show", str(copy))
    assert code == 0, err
    assert "warning: " in out
    assert says in out


def test_show_tells_of_a_part_whose_hull_stands_for_it(
    copy: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    groups = groups_of(copy / "parts.obj")
    (index,) = [k for k, (name, _, _) in enumerate(groups) if name == "trunk"]
    solid = m3.Manifold.hull_points(groups[index][1])
    dented = solid - m3.Manifold.cube((10.0, 10.0, 8.0), True).translate(
        (0.0, 0.0, solid.bounding_box()[5])
    )
    groups[index] = ("trunk", *made.mesh_of(dented))
    meshes.write_parts(copy / "parts.obj", groups)
    code, out, err = physim(capfd, "model", "show", str(copy))
    assert code == 0, err
    assert "the part `trunk` is not convex or not closed" in out


@pytest.mark.parametrize("name", model_names())
def test_nothing_is_said_of_the_shipped_models(name: str) -> None:
    loaded = load_all(name)
    assert loaded.hulls == {}
    assert loaded.parts_union[0] == pytest.approx(loaded.mass.volume_m3, rel=0.02)


def rewrite_mesh(folder: Path, edit: str) -> None:
    obj = meshes.read_obj(folder / "pig.obj")
    vertices, faces = obj.vertices, obj.faces
    if edit == "flat":
        vertices = vertices * [1.0, 1.0, 0.0]
    elif edit == "open":
        faces = faces[3:]
    elif edit == "mixed":
        faces = np.where(np.arange(len(faces))[:, None] % 2, faces, faces[:, ::-1])
    elif edit == "inside out":
        faces = faces[:, ::-1]
    meshes.write_visual(folder / "pig.obj", vertices, [("skin", faces)], "pig.mtl")


@pytest.mark.parametrize(
    ("edit", "says"),
    [("flat", "give it thickness"), ("open", "close it"), ("mixed", "recalculate the normals")],
)
def test_build_refuses_a_mesh_that_is_no_solid(copy: Path, edit: str, says: str) -> None:
    before = (copy / "parts.obj").read_bytes()
    rewrite_mesh(copy, edit)
    with pytest.raises(ModelError, match=rf"pig\.obj: .*{says}"):
        rebuild_parts(copy)
    assert (copy / "parts.obj").read_bytes() == before


def test_build_takes_a_mesh_that_is_inside_out_and_tells_of_boxes(
    copy: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rewrite_mesh(copy, "inside out")
    text = (copy / "model.yaml").read_text()
    (ear,) = [line for line in text.splitlines() if line.startswith("  left_ear:")]
    away = "  left_ear: [700, 701, 0, 1, 0, 1]"
    (copy / "model.yaml").write_text(text.replace(ear, away))
    code, out, err = physim(capfd, "model", "build", str(copy))
    assert code == 0, err
    assert "trunk: " in out
    assert "% of the volume, " in out
    assert "left_ear: nothing is taken of the mesh" in out
    assert out.rstrip().endswith("parts.obj")


def test_what_is_wrong_with_a_new_model_names_the_mesh_s_file(added: Path, tmp_path: Path) -> None:
    file = added.parent / "blocks.stl"
    imported = import_mesh(file, Options(unit="mm"))
    imported.parts.corners[0] = ("trunk", imported.parts.corners[0][1] * [1.0, 1.0, 0.0])
    with pytest.raises(ModelError, match=r"blocks\.stl: no model can be made of it: trunk: .*flat"):
        write_folder(imported, tmp_path / "new", "new")
    assert not list(tmp_path.iterdir())

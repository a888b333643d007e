"""`physim model check` and `physim model add`, from a file to rolls."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import manifold3d as m3
import numpy as np
import pytest
import yaml

from physim.cli.main import main
from physim.pigs.model import load_all
from physim.pigs.model_file import fingerprint_of, read_model_file
from physim.simulator import RestTable
from tests.importer import made

SHAPES = {
    "pig": made.low_poly_pig,
    "stand": made.pig_with_stand,
    "cow": made.cow,
    "knight": made.knight,
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def physim(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, err = capfd.readouterr()
    return int(ended.value.code or 0), out, err


def test_a_pig_of_one_s_own_from_file_to_rolls(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = made.write(tmp_path / "my pig.stl", made.mesh_of(made.low_poly_pig()))
    folder = tmp_path / "my model"
    code, out, err = physim(capfd, "model", "add", str(path), "--out", str(folder), "--json")
    assert code == 0, err
    report = json.loads(out)
    assert report["ok"]
    assert report["size_mm"][0] == pytest.approx(37.5, abs=0.2)
    assert report["mass_g"] == pytest.approx(0.96e-3 * report["volume_mm3"], rel=1e-3)
    assert report["symmetric"]
    assert sum(rest["probability"] for rest in report["stable"]) == pytest.approx(1.0)
    assert {"trotter", "razorback", "side_dot_up", "side_dot_down"} <= {
        rest["pose"] for rest in report["stable"]
    }
    assert not [p for p in report["problems"] if p["kind"] in ("decomposition", "bodies")]

    code, out, err = physim(capfd, "roll", "-n", "2", "--model", str(folder), "--json")
    assert code == 0, err
    assert len(out.splitlines()) == 2

    # A folder that is there is never written over.
    code, _, err = physim(capfd, "model", "add", str(path), "--out", str(folder))
    assert code == 2
    assert "something already" in err

    # Landmarks are corrected in the YAML.
    text = (folder / "model.yaml").read_text()
    marks = yaml.safe_load(text)["landmarks"]
    del marks["left_ear"]
    kept = [line for line in text.splitlines() if not line.startswith("  left_ear")]
    (folder / "model.yaml").write_text("\n".join(kept) + "\n")
    code, _, err = physim(capfd, "model", "show", str(folder))
    assert code == 2
    assert "model build" in err
    code, _, err = physim(capfd, "model", "build", str(folder))
    assert code == 0, err
    labels = {part.label for part in load_all(folder).model.parts}
    assert labels == {*marks, "trunk"}


def test_what_cannot_be_used_is_told_in_json_too(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    vertices, faces = made.mesh_of(made.low_poly_pig())
    path = made.write(tmp_path / "open.stl", (vertices, faces[np.arange(len(faces)) % 2 == 0]))
    code, out, err = physim(capfd, "model", "check", str(path), "--json")
    report = json.loads(out)
    assert code == 2
    assert not report["ok"]
    assert report["problems"][-1]["kind"] == "holes"
    assert err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", SHAPES)
def test_four_shapes_from_file_to_frequencies_with_two_commands(
    kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = made.write(tmp_path / f"{kind}.stl", made.mesh_of(SHAPES[kind]()))
    model, rolls = tmp_path / "model", tmp_path / "rolls"
    picture = tmp_path / "rests.png"
    code, _, err = physim(
        capfd, "model", "add", str(path), "--out", str(model), "--picture", str(picture)
    )
    assert code == 0, err
    assert picture.stat().st_size > 10_000
    code, _, err = physim(capfd, "batch", "60", "--model", str(model), "--out", str(rolls))
    assert code == 0, err
    code, out, err = physim(capfd, "stats", str(rolls), "--json")
    shown = json.loads(out)
    assert code == 0, err
    assert shown["rolls"] == 60
    assert shown["statuses"]["ok"] > 50
    poses = {named.pose.value for named in RestTable.of(load_all(model).model).rests}
    if kind == "knight":
        assert poses == {"other"}
    else:
        assert "trotter" in poses


def test_a_model_of_a_name_is_known_by_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = made.write(tmp_path / "a cube!.stl", made.mesh_of(m3.Manifold.cube((20.0,) * 3)))
    code, _, err = physim(capfd, "model", "add", str(path))
    assert code == 0, err
    folder = tmp_path / "data" / "physim" / "models" / "a-cube"
    assert (folder / "model.yaml").is_file()
    code, out, err = physim(capfd, "model", "list")
    assert code == 0, err
    assert "a-cube" in out.split()
    code, out, err = physim(capfd, "roll", "--model", "a-cube", "--json")
    assert code == 0, err
    # A name once taken, one that comes with physim and one that leaves the folder are refused.
    for name in ("a-cube", "standard", "../b", "", "." * 3, "x" * 99):
        code, _, err = physim(capfd, "model", "add", str(path), "--name", name)
        assert (code, len(err.splitlines())) == (2, 1), name


@pytest.mark.parametrize(
    "options",
    [
        ("--mass-g", "nan"),
        ("--length-mm", "nan"),
        ("--density-g-cm3", "nan"),
        ("--center-of-mass-offset-mm", "nan", "0", "0"),
        ("--forward", "x", "--up", "-x"),
        ("--picture", "no-folder/rests.png"),
    ],
)
def test_an_option_without_sense_is_refused_before_the_file_is_read(
    options: tuple[str, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = physim(capfd, "model", "check", str(tmp_path / "pig.stl"), *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert options[0] in err


def test_a_missing_library_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "manifold3d", None)
    code, _, err = physim(capfd, "model", "export", "standard", str(tmp_path / "pig.stl"))
    assert code == 2
    assert "-m pip install coacd manifold3d" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("out", ["empty", "link", "dangling", "."])
def test_a_model_goes_into_an_empty_folder_and_through_links(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    path = made.write(tmp_path / "block.stl", made.mesh_of(m3.Manifold.cube([30, 20, 15])))
    (tmp_path / "empty").mkdir(0o700)
    (tmp_path / "link").symlink_to("empty")
    (tmp_path / "dangling").symlink_to("new")
    monkeypatch.chdir(tmp_path / "empty" if out == "." else tmp_path)
    real = tmp_path / ("new" if out == "dangling" else "empty")
    files = {"model.yaml", "parts.obj", "pig.obj", "pig.mtl", "computed.json"}
    code, _, err = physim(capfd, "model", "add", str(path), "--unit", "mm", "--out", out)
    assert code == 0, err
    assert {one.name for one in real.iterdir()} == files
    assert Path(out).samefile(real) and (out in (".", "empty") or Path(out).is_symlink())
    assert stat.S_IMODE(real.stat().st_mode) == (0o755 if out == "dangling" else 0o700)


def test_a_user_may_delete_all_landmarks(tmp_path: Path) -> None:
    for name in ("pig.obj", "parts.obj"):
        (tmp_path / name).write_text("v 0 0 0\n")
    text = "mesh: pig.obj\nparts: parts.obj\nmesh_unit: mm\nmass_g: 5\n"
    text += 'lateral_friction: 0.3\nrestitution: 0.2\nlandmarks_fingerprint: "old"\n'
    for marks in ("", "landmarks:\n", "landmarks: {}\n"):
        (tmp_path / "model.yaml").write_text(text + marks)
        found = read_model_file(tmp_path)
        assert found.landmarks == {}  # so that its parts are stale
        assert found.landmarks_fingerprint != fingerprint_of(found.landmarks)


def test_an_export_writes_over_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    there = tmp_path / "mine.stl"
    there.write_bytes(b"mine")
    code, out, err = physim(capfd, "model", "export", "standard", str(there))
    assert (code, out) == (2, "") and "is there already" in err
    assert there.read_bytes() == b"mine"
    code, _, err = physim(capfd, "model", "export", "standard", str(there), "--force")
    assert code == 0 and there.stat().st_size > 1000, err

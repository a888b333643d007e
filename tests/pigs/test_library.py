"""Model folders: what loads, what is refused, and with which message."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from physim import pigs
from physim.errors import ConfigError, ModelError
from physim.simulator import RestTable, Setup, Simulator, lying
from physim.types import Toss
from tests.pigs.conftest import STANDARD
from tests.pigs.shapes import box, write_model, write_obj

BOX = box((30.0, 20.0, 10.0))


def test_the_standard_model_has_a_name() -> None:
    assert "standard" in pigs.model_names()


def test_a_folder_loads_in_si_units_about_its_centre(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "block", BOX[0] + np.array([100.0, 0.0, 5.0]), BOX[1])
    model = pigs.load_model(folder)
    assert model.mass_kg == pytest.approx(0.005)
    assert (model.length_m, model.height_m) == pytest.approx((0.03, 0.01))
    np.testing.assert_allclose(
        np.sort(model.parts[0].vertices_m, axis=0)[0], [-0.015, -0.01, -0.005]
    )
    expected = 0.005 / 12 * np.diag([5e-4, 1e-3, 1.3e-3])
    np.testing.assert_allclose(model.inertia_kg_m2, expected, rtol=1e-6, atol=1e-13)


def test_the_unit_of_the_mesh_file_does_not_matter(tmp_path: Path) -> None:
    in_mm = pigs.load_model(write_model(tmp_path / "mm", *BOX))
    in_m = pigs.load_model(write_model(tmp_path / "m", BOX[0] * 1e-3, BOX[1], mesh_unit="m"))
    np.testing.assert_allclose(in_mm.vertices_m, in_m.vertices_m, atol=1e-12)
    np.testing.assert_allclose(in_mm.inertia_kg_m2, in_m.inertia_kg_m2, rtol=1e-9, atol=1e-15)


def test_moving_the_mesh_in_its_file_changes_nothing(tmp_path: Path, standard_arrays) -> None:
    vertices, faces = standard_arrays
    vertices = vertices * 1e3
    here = pigs.load_model(write_model(tmp_path / "a", vertices, faces))
    there = pigs.load_model(write_model(tmp_path / "b", vertices + [70.0, -40.0, 9.0], faces))
    np.testing.assert_allclose(here.vertices_m, there.vertices_m, atol=1e-9)
    np.testing.assert_allclose(here.inertia_kg_m2, there.inertia_kg_m2, rtol=1e-6, atol=1e-14)


def test_turning_the_mesh_turns_its_inertia(tmp_path: Path, standard_arrays) -> None:
    vertices, faces = standard_arrays
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    here = pigs.load_model(write_model(tmp_path / "a", vertices * 1e3, faces))
    turned = pigs.load_model(write_model(tmp_path / "b", vertices @ turn.T * 1e3, faces))
    np.testing.assert_allclose(
        turned.inertia_kg_m2, turn @ here.inertia_kg_m2 @ turn.T, rtol=1e-5, atol=1e-13
    )


def test_an_edited_file_is_read_again(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "block", *BOX)
    assert pigs.load_model(folder).mass_kg == pytest.approx(0.005)
    write_model(folder, *BOX, mass_g=6.5)
    assert pigs.load_model(folder).mass_kg == pytest.approx(0.0065)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="did you mean `standard`"):
        pigs.load_model("standart")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mass_g": 0}, "`mass_g` must lie in"),
        ({"mass_g": ".nan"}, "`mass_g` must be a finite number"),
        ({"mass_g": None}, "`mass_g` is missing"),
        ({"restitution": 1.5}, "`restitution` must lie in"),
        ({"lateral_friction": -0.1}, "`lateral_friction` must lie in"),
        ({"mesh_unit": "inch"}, "`mesh_unit` must be one of"),
        ({"dot_side": "top"}, "`dot_side` must be one of"),
        ({"mass_kg": 5}, "did you mean `mass_g`"),
        ({"mesh": "[1, 2]"}, "`mesh` must be a text"),
        ({"center_of_mass_offset_mm": "[1, 2]"}, "list of three numbers"),
        ({"shape": "round"}, "`shape` must hold"),
        ({"shape": "{snout_radius: 3}"}, "did you mean `snout_radius_mm`"),
    ],
)
def test_unusable_settings_name_file_and_key(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    folder = write_model(tmp_path / "block", *BOX, **changes)
    with pytest.raises(ConfigError, match=message) as caught:
        pigs.load_model(folder)
    assert "model.yaml" in str(caught.value)


@pytest.mark.parametrize("name", ["../other.obj", "/etc/hostname", "link.obj"])
def test_files_outside_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    folder = write_model(tmp_path / "block", *BOX, mesh=name)
    shutil.copy(folder / "pig.obj", tmp_path / "other.obj")
    (folder / "link.obj").symlink_to(tmp_path / "other.obj")
    with pytest.raises(ModelError, match="leads out of the model's folder"):
        pigs.load_model(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no faces"),
        ("v 0 0 0\nv 1 0 0\n", "holds no faces"),
        ("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not numbers"),
        ("v 0 0 0\nv 1 0\n", "line 2 is not valid OBJ"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "line 4 is not valid OBJ"),
        ("v 0 0 0\nv 9 0 0\nv 0 9 0\nf 1 2 3\n", "flat"),
    ],
)
def test_broken_meshes_are_refused(tmp_path: Path, text: str, message: str) -> None:
    folder = write_model(tmp_path / "block", *BOX)
    (folder / "pig.obj").write_text(text)
    with pytest.raises(ModelError, match=message):
        pigs.load_model(folder)


def test_a_mesh_with_a_hole_is_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "block", BOX[0], BOX[1][1:])
    with pytest.raises(ModelError, match="holes"):
        pigs.load_model(folder)


def test_a_missing_mesh_is_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "block", *BOX)
    (folder / "parts.obj").unlink()
    with pytest.raises(ModelError, match="cannot be read"):
        pigs.load_model(folder)


def test_more_parts_than_the_engine_takes_are_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "block", *BOX)
    write_obj(folder / "parts.obj", [(f"p{i}", *BOX) for i in range(17)])
    with pytest.raises(ModelError, match="17 parts"):
        pigs.load_model(folder)


def test_parts_in_another_unit_are_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "block", *BOX)
    write_obj(folder / "parts.obj", [("trunk", BOX[0] * 1e-3, BOX[1])])
    with pytest.raises(ModelError, match="same unit"):
        pigs.load_model(folder)


def test_changed_parameters_make_the_files_stale_until_they_are_built(tmp_path: Path) -> None:
    folder = tmp_path / "pig"
    shutil.copytree(STANDARD, folder)
    text = (folder / "model.yaml").read_text()
    assert "scale: 1.02" in text
    (folder / "model.yaml").write_text(text.replace("scale: 1.02", "scale: 2.04"))
    with pytest.raises(ModelError, match="physim model build"):
        pigs.load_model(folder)
    built = pigs.build_model(folder).model
    assert built.length_m == pytest.approx(2 * pigs.load_model("standard").length_m, rel=1e-6)
    assert "assumption:" in (folder / "model.yaml").read_text()


def test_a_model_without_parameters_cannot_be_built(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no `shape`"):
        pigs.build_model(write_model(tmp_path / "block", *BOX))


@pytest.mark.parametrize(
    ("turn_deg", "shift_mm"),
    [((0, 0, 0), (70, -40, 9)), ((0, 0, 90), (0, 0, 0)), ((37, 110, -65), (5, 3, 200))],
)
def test_a_mesh_turned_and_moved_in_its_file_is_the_same_pig(
    tmp_path: Path, turn_deg: tuple[float, ...], shift_mm: tuple[float, ...]
) -> None:
    """Same parts and mass properties in the pig frame, so the same rolls; `roll` shows three."""
    turn = Rotation.from_euler("xyz", turn_deg, degrees=True)
    folder = tmp_path / "turned"
    folder.mkdir()
    for name in ("pig.obj", "parts.obj"):
        lines = []
        for line in (STANDARD / name).read_text().splitlines():
            if line.startswith("v "):
                point = turn.apply([float(c) for c in line.split()[1:4]]) + shift_mm
                lines.append("v {:.9f} {:.9f} {:.9f}".format(*point))
            else:
                lines.append(line)
        (folder / name).write_text("\n".join(lines) + "\n")
    given = yaml.safe_load((STANDARD / "model.yaml").read_text())
    del given["shape"], given["shape_fingerprint"]
    given["forward"] = turn.apply([1.0, 0.0, 0.0]).tolist()
    given["up"] = turn.apply([0.0, 0.0, 1.0]).tolist()
    offset = turn.apply(given["center_of_mass_offset_mm"])  # along the axes of the file
    given["center_of_mass_offset_mm"] = offset.tolist()
    (folder / "model.yaml").write_text(yaml.safe_dump(given))
    here, there = pigs.load_model("standard"), pigs.load_model(folder)
    np.testing.assert_allclose(there.inertia_kg_m2, here.inertia_kg_m2, rtol=1e-5, atol=1e-13)
    for one, other in zip(here.parts, there.parts, strict=True):
        assert one.label == other.label
        apart = np.linalg.norm(one.vertices_m[:, None] - other.vertices_m[None], axis=2)
        assert apart.min(axis=1).max() < 1e-7
    # A calm drop is not chaotic: it ends in the same pose, and nearly in the same place.
    for number, named in enumerate(RestTable.of(here).rests[:3]):
        state = lying(named.rest)
        state = replace(state, position_m=state.position_m + [0.0, 0.0, 2e-4])
        far = replace(state, position_m=state.position_m + [0.3, 0.0, 0.0])
        ends = []
        for model in (here, there):
            with Simulator(replace(Setup.named(), black=model, pink=model)) as simulator:
                rest = simulator.settle(Toss(state, far))
                ends.append(
                    (simulator.classify_and_score(1, number, rest).pigs[0].pose, rest.pigs[0])
                )
        assert ends[0][0] is ends[1][0] is named.pose
        np.testing.assert_allclose(ends[0][1].position_m, ends[1][1].position_m, atol=1e-4)


def test_forward_and_up_must_be_at_an_angle(tmp_path: Path) -> None:
    folder = tmp_path / "pig"
    shutil.copytree(STANDARD, folder)
    with (folder / "model.yaml").open("a") as out:
        out.write("forward: [0, 0, 2]\n")
    with pytest.raises(ConfigError, match="at an angle"):
        pigs.load_model(folder)


@pytest.mark.parametrize(("counted", "good"), [(16, True), (17, False)])
def test_parts_that_were_cut_off_are_told(tmp_path: Path, counted: int, good: bool) -> None:
    """A file that says how many it holds, as `model add` writes it."""
    folder = tmp_path / "pig"
    shutil.copytree(STANDARD, folder)
    parts = folder / "parts.obj"
    parts.write_text(f"# parts: {counted}\n" + parts.read_text())
    if good:
        assert len(pigs.load_model(folder).parts) == 16
        return
    with pytest.raises(ModelError, match="holds 16 parts of 17"):
        pigs.load_model(folder)

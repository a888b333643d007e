"""Model folders that could hang, be overwritten or end in a traceback."""

from __future__ import annotations

import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

from physim import config, pigs
from physim.errors import ConfigError, ModelError, PhysimError
from physim.pigs.shape import SHAPE_KEYS, shape_from_mapping
from tests.pigs.conftest import STANDARD
from tests.pigs.shapes import box, write_model

BOX = box((30.0, 20.0, 10.0))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STANDARD, tmp_path / "pig"))


def rewrite(folder: Path, key: str, value: object) -> None:
    lines = (folder / "model.yaml").read_text().splitlines()
    (place,) = [i for i, line in enumerate(lines) if line.strip().startswith(f"{key}:")]
    lines[place] = f"{lines[place].partition(key)[0]}{key}: {value}"
    (folder / "model.yaml").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mesh", "model.yaml"),
        ("parts", "model.yaml"),
        ("mesh", "pig.mtl"),
        ("mesh", "parts.obj"),
        ("mesh", "./sub/../parts.obj"),
        ("parts", "pig.stl"),
        ("mesh", "link.obj"),
    ],
)
def test_files_that_would_be_overwritten_are_refused(copy: Path, key: str, value: str) -> None:
    (copy / "link.obj").symlink_to(copy / "model.yaml")
    rewrite(copy, key, value)
    before = contents(copy)
    with pytest.raises(ModelError, match=r"model\.yaml: `(mesh|parts)`"):
        pigs.build_model(copy)
    assert contents(copy) == before


@pytest.mark.parametrize("key", SHAPE_KEYS)
def test_every_measure_has_a_range(key: str) -> None:
    for value in (1e9, -1e9, float("inf"), "wide", True, None):
        with pytest.raises(ConfigError, match=f"`{key}` must"):
            shape_from_mapping({key: value}, "here")


@pytest.mark.parametrize("key", ["hip_z_mm", "scale", "rump_width_mm", "foot_radius_mm"])
def test_a_measure_of_nothing_is_refused_by_name(copy: Path, key: str) -> None:
    rewrite(copy, key, 0)
    before = contents(copy)
    with pytest.raises(ConfigError, match=f"shape: `{key}` must lie in"):
        pigs.build_model(copy)
    assert contents(copy) == before


@pytest.mark.parametrize(("key", "value"), [("rump_z_mm", -60), ("head_x_mm", -60), ("scale", 0.1)])
def test_measures_that_make_no_pig_leave_the_files(copy: Path, key: str, value: float) -> None:
    rewrite(copy, key, value)
    before = contents(copy)
    with warnings.catch_warnings(), pytest.raises(ModelError, match=r"model\.yaml: the"):
        warnings.simplefilter("error")
        pigs.build_model(copy)
    assert contents(copy) == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"mass_g: {'9' * 400}", "`mass_g` must be a finite number"),
        ('mass_g: !!int ""', "broken YAML"),
        ("mass_g: !!timestamp foo", "broken YAML"),
        ("mass_g: !!python/object:os.system x", "broken YAML"),
        ("mass_g: 1\nmass_g: 2", "`mass_g` is there twice"),
        ("shape: {scale: 1, scale: 2}", "`scale` is there twice"),
        ("[" * 5000, "broken YAML"),
    ],
)
def test_broken_yaml_is_one_message(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "model.yaml").write_text(text)
    with pytest.raises(ConfigError, match=says) as refusal:
        config.number_at(config.load(tmp_path / "model.yaml"), "mass_g", "model.yaml")
    assert len(str(refusal.value)) < 400


@pytest.mark.parametrize(
    ("factor", "unit", "says"),
    [
        (1.0, "m", "check `mesh_unit`"),
        (0.1, "mm", "check `mesh_unit`"),
        (1e300, "mm", "coordinates beyond"),
    ],
)
def test_absurd_sizes_are_refused(tmp_path: Path, factor: float, unit: str, says: str) -> None:
    folder = write_model(tmp_path / "block", BOX[0] * factor, BOX[1], mesh_unit=unit)
    with np.errstate(all="raise"), pytest.raises(ModelError, match=says):
        pigs.load_model(folder)


@pytest.mark.parametrize("kind", ["pipe", "folder", "missing", "long"])
def test_what_is_no_file_is_refused_with_a_remedy(tmp_path: Path, kind: str) -> None:
    name = "a" * 300 + ".obj" if kind == "long" else "other.obj"
    folder = write_model(tmp_path / "block", *BOX, mesh=name)
    if kind == "pipe":
        os.mkfifo(folder / name)
    elif kind == "folder":
        (folder / name).mkdir()
    with pytest.raises(PhysimError, match="must name OBJ files"):
        pigs.load_model(folder)


def test_a_stale_model_names_the_command(copy: Path) -> None:
    rewrite(copy, "scale", 1.1)
    with pytest.raises(ModelError, match=f"`physim model build {copy}`"):
        pigs.load_model(copy)

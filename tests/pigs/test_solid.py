"""What is kept beside a mesh: used as it was written for what it was written of, else not."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from physim import pigs
from physim.errors import ModelError
from physim.pigs import mesh as meshes
from physim.pigs.modelfile import read_model_file
from physim.pigs.solid import FILE_NAME, Solid, keep_solid, solid_of
from physim.roll import Setup, Simulator
from tests.pigs.conftest import STANDARD
from tests.pigs.shapes import box, write_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cuboid whose solid is kept."""
    made = write_model(tmp_path / "block", *box((30.0, 20.0, 10.0)))
    keep_solid(read_model_file(made))
    return made


def same(one: Solid, other: Solid) -> bool:
    pairs = [
        (one.size_m, other.size_m),
        (one.integrals.volume, other.integrals.volume),
        (one.integrals.center, other.integrals.center),
        (one.integrals.inertia, other.integrals.inertia),
    ]
    return all(np.array_equal(a, b) for a, b in pairs)


def test_what_is_kept_of_the_standard_pig_is_what_its_mesh_comes_to(tmp_path: Path) -> None:
    copy = tmp_path / "pig"
    shutil.copytree(STANDARD, copy)
    (copy / FILE_NAME).unlink()
    kept, computed = pigs.load_all("standard"), pigs.load_all(copy)
    np.testing.assert_allclose(kept.mass.inertia_kg_m2, computed.mass.inertia_kg_m2, rtol=1e-12)
    np.testing.assert_allclose(
        kept.mass.center_of_mass_m, computed.mass.center_of_mass_m, rtol=0, atol=1e-15
    )
    assert kept.mass.volume_m3 == pytest.approx(computed.mass.volume_m3, rel=1e-12)


def test_opening_a_simulator_reads_no_picture_mesh(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(content: bytes, path: Path) -> meshes.ObjMesh:
        assert path.name != "pig.obj", "read"
        return parse(content, path)

    parse = meshes.parse_obj
    monkeypatch.setattr(meshes, "parse_obj", refuse)
    pigs.library._load.cache_clear()
    with Simulator(Setup.named()) as simulator:
        assert simulator.roll(1, 0)
    with pytest.raises(AssertionError, match="read"):
        assert pigs.visual_mesh("standard")
    pigs.library._load.cache_clear()


def test_what_was_kept_comes_back_bit_for_bit(folder: Path) -> None:
    settings = read_model_file(folder)
    kept = solid_of(settings)
    (folder / FILE_NAME).unlink()
    assert same(kept, solid_of(settings))


def test_another_mesh_or_frame_is_computed_anew(folder: Path) -> None:
    settings = read_model_file(folder)
    in_cm = solid_of(replace(settings, unit_m=1e-2))
    assert in_cm.integrals.volume == pytest.approx(6e-3)
    turned = solid_of(replace(settings, axes=np.roll(np.eye(3), 1, axis=0)))
    np.testing.assert_allclose(turned.size_m, [0.01, 0.03, 0.02])
    write_model(folder, *box((30.0, 20.0, 20.0)))
    assert solid_of(settings).integrals.volume == pytest.approx(12e-6)


@pytest.mark.parametrize("name", ["size_m", "volume", "center", "inertia", "computed_from", "seal"])
def test_an_edited_file_is_not_used(folder: Path, name: str) -> None:
    settings, path = read_model_file(folder), folder / FILE_NAME
    data = json.loads(path.read_text())
    data[name] = "0" if isinstance(data[name], str) else (2.0 * np.array(data[name])).tolist()
    path.write_text(json.dumps(data))
    assert solid_of(settings).integrals.volume == pytest.approx(6e-6)


@pytest.mark.parametrize("text", ["", "{", "[]", "1", "[" * 100_000, '{"seal": null}', "\x00"])
def test_a_broken_file_is_not_used(folder: Path, text: str) -> None:
    (folder / FILE_NAME).write_text(text)
    assert solid_of(read_model_file(folder)).integrals.volume == pytest.approx(6e-6)


def test_a_broken_mesh_is_refused_although_its_solid_was_kept(folder: Path) -> None:
    (folder / "pig.obj").write_text("v 0 0 0\nv 1 0\n")
    with pytest.raises(ModelError, match="line 2 is not valid OBJ"):
        pigs.load_model(folder)

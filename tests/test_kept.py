"""What is kept beside a model: taken for just what it was computed from, as it was written."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from physim import pigs, precomputed, simulator
from physim.errors import ModelError
from physim.physics.body import Body
from physim.pigs import mesh as meshes
from physim.pigs.model import _load, load_folder
from physim.simulator import RestTable, Setup, Simulator
from physim.types import PigModel
from tests.pigs.conftest import STANDARD
from tests.pigs.shapes import box, write_model


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    """Results and models of other tests are forgotten, and those of this one after it."""
    before = dict(precomputed._known)
    precomputed._known.clear()
    _load.cache_clear()
    yield
    _load.cache_clear()
    precomputed._known.clear()
    precomputed._known.update(before)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the mesh files that were parsed."""
    names: list[str] = []
    parse = meshes.parse_obj

    def noted(content: bytes, path: Path) -> meshes.ObjMesh:
        names.append(path.name)
        return parse(content, path)

    monkeypatch.setattr(meshes, "parse_obj", noted)
    return names


def refuse() -> None:
    raise AssertionError("computed")


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The methods of the results that were not known."""
    methods: list[str] = []
    result = precomputed.result

    def noted(method: str, inputs: bytes, compute: Callable[[], Any]) -> Any:
        def counted() -> Any:
            methods.append(method)
            return compute()

        return result(method, inputs, counted)

    monkeypatch.setattr(precomputed, "result", noted)
    return methods


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cuboid whose results are kept."""
    made = write_model(tmp_path / "block", *box((30.0, 20.0, 10.0)))
    simulator.write_precomputed(made)
    return made


def everything(model: PigModel) -> list[object]:
    """All that is computed of a model, as plain values with every bit."""
    body, rests = Body.of(model), RestTable.of(model)
    values: list[object] = [model.inertia_kg_m2.tolist(), body.lowest_m, body.moments]
    values.append(body.principal_xyzw.tolist())
    values += [part.vertices_m.tolist() for part in model.parts]
    values += [group.tolist() for group in (body.hull_m, *body.contact_hulls_m)]
    for named in rests.rests:
        rest = named.rest
        values += [rest.index, rest.down.tolist(), rest.height_m, rest.barrier_m, rest.supports]
        values += [rest.probability, rest.support_points_m.tolist(), named.reading]
    return values


def test_opening_a_simulator_parses_no_picture_mesh(parsed: list[str]) -> None:
    with Simulator(Setup.named()) as simulator:
        assert simulator.roll(1, 0)
    assert parsed == ["parts.obj"]
    assert len(pigs.load_all("standard").visual.faces) > 1000
    assert parsed == ["parts.obj", "pig.obj"]


def test_what_is_kept_of_the_standard_pig_is_what_it_comes_to(tmp_path: Path) -> None:
    """On another processor the last bits may differ."""
    copy = tmp_path / "pig"
    shutil.copytree(STANDARD, copy)
    (copy / precomputed.FILE_NAME).unlink()
    computed = pigs.load_model(copy)
    body, rests = Body.of(computed), RestTable.of(computed)
    assert not precomputed._known
    model = pigs.load_model("standard")
    assert precomputed._known
    np.testing.assert_allclose(model.vertices_m, computed.vertices_m, rtol=0, atol=1e-15)
    np.testing.assert_allclose(model.inertia_kg_m2, computed.inertia_kg_m2, rtol=1e-12)
    same = Body.of(model)
    for one, other in zip(
        (same.hull_m, *same.contact_hulls_m), (body.hull_m, *body.contact_hulls_m), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-15)
    assert same.lowest_m == pytest.approx(body.lowest_m, rel=1e-12)
    for here, there in zip(RestTable.of(model).rests, rests.rests, strict=True):
        assert (here.pose, here.rest.supports) == (there.pose, there.rest.supports)
        np.testing.assert_allclose(here.rest.down, there.rest.down, rtol=0, atol=1e-12)
        assert here.rest.barrier_m == pytest.approx(there.rest.barrier_m, rel=1e-12)
        assert here.rest.probability == pytest.approx(there.rest.probability, abs=1e-4)


def test_what_was_kept_comes_back_bit_for_bit(folder: Path, parsed: list[str]) -> None:
    back = everything(pigs.load_model(folder))
    assert parsed == ["parts.obj"]
    (folder / precomputed.FILE_NAME).unlink()
    precomputed._known.clear()
    assert everything(pigs.load_model(folder)) == back
    assert parsed == ["parts.obj", "pig.obj", "parts.obj"]


def test_nothing_is_computed_twice_for_a_kept_model(folder: Path, computed: list[str]) -> None:
    precomputed._known.clear()
    everything(pigs.load_model(folder))
    assert computed == []
    with pytest.raises(AssertionError, match="computed"):
        precomputed.result("solid", b"of another mesh", refuse)


def test_all_of_the_standard_pig_is_kept_and_nothing_else(computed: list[str]) -> None:
    """Otherwise `physim model build standard` was left out after a change."""
    everything(pigs.load_model("standard"))
    assert computed == []
    with precomputed.recorded() as results:
        everything(load_folder(STANDARD, "standard").model)
    entries = json.loads((STANDARD / precomputed.FILE_NAME).read_text())
    (principal,) = [key for key in entries if key.startswith("principal")]
    if results[principal] == entries[principal][0]:
        assert list(entries) == sorted(results)
        return
    # On another kind of processor the axes' last bits differ, and so does what is kept of a body
    # that was turned by them.
    turned = ("groups", "hull", "lowest", "near")
    assert [key for key in entries if not key.startswith(turned)] == sorted(
        key for key in results if not key.startswith(turned)
    )
    assert len(entries) == len(results)


def test_a_model_takes_what_was_kept_of_it_with_it() -> None:
    """To another process, and whatever other files hold for the same inputs."""
    model = pigs.load_model("standard")
    expected = Body.of(model).hull_m
    (principal,) = [key for key in model.kept if key.startswith("principal")]
    moments, axes = model.kept[principal]
    other = {principal: [moments, (np.array(axes) * (1.0 + 1e-9)).tolist()]}
    precomputed._known.clear()
    precomputed._known.update(
        other
    )  # as if a model of the same inertia, built elsewhere, was read later
    assert np.array_equal(Body.of(model).hull_m, expected)
    assert np.array_equal(Body.of(pickle.loads(pickle.dumps(model))).hull_m, expected)
    turned = Body.of(replace(model, kept=other)).hull_m
    assert not np.array_equal(turned, expected)


def test_results_of_other_files_are_not_taken(folder: Path) -> None:
    write_model(folder, *box((30.0, 20.0, 20.0)), mass_g=6.0)
    expected = everything(
        pigs.load_model(write_model(folder.parent / "b", *box((30, 20, 20)), mass_g=6.0))
    )
    precomputed._known.clear()
    assert everything(pigs.load_model(folder)) == expected


@pytest.mark.parametrize(
    "method", ["solid", "corners", "principal", "hull", "groups", "lowest", "rests"]
)
def test_an_edited_result_is_not_taken(folder: Path, method: str) -> None:
    path = folder / precomputed.FILE_NAME
    expected = everything(pigs.load_model(folder))
    entries = json.loads(path.read_text())
    keys = [key for key in entries if key.startswith(method)]
    assert keys
    for key in keys:
        text = json.dumps(entries[key][0])
        digit = next(c for c in "123456789" if c in text)
        entries[key][0] = json.loads(text.replace(digit, "7" if digit != "7" else "8", 1))
    path.write_text(json.dumps(entries))
    precomputed._known.clear()
    assert everything(pigs.load_model(folder)) == expected
    assert not any(key in precomputed._known for key in keys)


@pytest.mark.parametrize("text", ["", "{", "[]", "1", "[" * 100_000, '{"hull 1": null}', "\x00"])
def test_a_broken_file_holds_nothing(folder: Path, text: str) -> None:
    (folder / precomputed.FILE_NAME).write_text(text)
    assert pigs.load_model(folder).mass_kg == pytest.approx(5e-3)
    assert not precomputed._known


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "huge"])
def test_what_is_no_plain_file_of_a_sane_size_holds_nothing(folder: Path, kind: str) -> None:
    path = folder / precomputed.FILE_NAME
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(10**11)
    assert pigs.load_model(folder).mass_kg == pytest.approx(5e-3)
    assert not precomputed._known


def test_a_broken_mesh_is_refused_although_results_are_kept(folder: Path) -> None:
    (folder / "pig.obj").write_text("v 0 0 0\nv 1 0\n")
    with pytest.raises(ModelError, match="line 2 is not valid OBJ"):
        pigs.load_model(folder)


# Of the files that compute what is kept, for this number of METHODS. After a change to one of them,
# raise `kept.METHODS` and run `physim model build` for every model of ours if anything may come
# out otherwise; then put the hash in that the test tells.
SOURCES = (2, "22e3eee2ed549b59")
COMPUTING = (
    "geometry",
    "physics/body",
    "pigs/mesh",
    "pigs/rolling",
    "pigs/stable_poses",
)


def test_no_change_of_what_computes_goes_unnoticed() -> None:
    top = Path(precomputed.__file__).parent
    files = [top / f"{name}.py" for name in COMPUTING]
    contents = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    now = precomputed.METHODS, hashlib.sha256("".join(contents).encode()).hexdigest()[:16]
    assert now == SOURCES


def test_all_that_compute_are_known() -> None:
    top = Path(precomputed.__file__).parent
    using = {path for path in top.rglob("*.py") if "precomputed.result(" in path.read_text()}
    assert using <= {top / f"{name}.py" for name in COMPUTING}

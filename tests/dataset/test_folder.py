"""What a dataset folder refuses, and that nothing is lost by it."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fake_rolls import FakePlan

from physim.dataset import manifest as manifests
from physim.dataset.manifest import only_writer
from physim.dataset.parquet import read_columns, read_counts
from physim.dataset.run import run_batch
from physim.errors import DatasetError

PLAN = FakePlan(n=60, chunk_size=20)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    run_batch(PLAN, tmp_path / "d", workers=1)
    return tmp_path / "d"


def test_another_configuration_is_refused_key_by_key(folder: Path) -> None:
    before = (folder / "manifest.json").read_bytes()
    with pytest.raises(DatasetError) as refusal:
        run_batch(FakePlan(n=80, seed=7, heads=0.25), folder, workers=1)
    assert "coin.heads: 0.5 there, 0.25 here; seed: 0 there, 7 here" in str(refusal.value)
    assert (folder / "manifest.json").read_bytes() == before


def test_fewer_rolls_than_there_are_is_refused(folder: Path) -> None:
    with pytest.raises(DatasetError, match="60 or more"):
        run_batch(FakePlan(n=59), folder, workers=1)


def test_counts_and_rolls_do_not_mix(folder: Path) -> None:
    with pytest.raises(DatasetError, match="counts only: False there, True here"):
        run_batch(PLAN, folder, workers=1, counts_only=True)


@pytest.mark.parametrize("left", [0, 10, 3000])
def test_a_part_cut_off_is_named_with_the_remedy(folder: Path, left: int) -> None:
    part = folder / "rolls" / "part-000000000020.parquet"
    whole = part.read_bytes()
    part.write_bytes(whole[:left])
    for use in (read_counts, read_columns, lambda d: run_batch(PLAN, d, workers=1)):
        with pytest.raises(DatasetError, match=r"part-000000000020\.parquet.*delete that file"):
            use(folder)
    part.unlink()
    assert run_batch(PLAN, folder, workers=1).new_rolls == 20
    assert part.read_bytes() == whole


def test_a_changed_byte_inside_a_part_is_found(folder: Path) -> None:
    part = folder / "rolls" / "part-000000000020.parquet"
    content = bytearray(part.read_bytes())
    content[len(content) // 4] ^= 1
    part.write_bytes(content)
    for use in (read_columns, lambda d: run_batch(PLAN, d, workers=1)):
        with pytest.raises(DatasetError, match=r"part-000000000020\.parquet.*delete that file"):
            use(folder)


def test_a_part_of_another_dataset_is_found(folder: Path, tmp_path: Path) -> None:
    run_batch(FakePlan(n=60, chunk_size=20, seed=1), tmp_path / "other", workers=1)
    shutil.copy(tmp_path / "other" / "rolls" / "part-000000000020.parquet", folder / "rolls")
    for use in (read_counts, lambda d: run_batch(PLAN, d, workers=1)):
        with pytest.raises(DatasetError, match="not a part of this dataset"):
            use(folder)


def test_a_part_under_a_wrong_name_is_found(folder: Path) -> None:
    shutil.copy(
        folder / "rolls" / "part-000000000020.parquet",
        folder / "rolls" / "part-000000000040.parquet",
    )
    with pytest.raises(DatasetError, match="part-000000000040"):
        read_counts(folder)


@pytest.mark.parametrize(
    "name",
    [
        "part-0.parquet",
        "part-000000000000 (1).parquet",
        "part-000000000000.PARQUET",
        "part-000000000000.parquet.bak",
        "copy-of-part-000000000000.parquet",
        "part-\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0660.parquet",
        "part--00000000020.parquet",
        ".part-000000000000.parquet",
        "_metadata",
        "notes.txt",
        "part-000000000030.parquet",  # between two of them
        "part-000000000080.parquet",  # after the last one
    ],
)
def test_a_stray_part_is_found_whatever_its_name(folder: Path, name: str) -> None:
    shutil.copy(folder / "rolls" / "part-000000000000.parquet", folder / "rolls" / name)
    _refused(folder, name)


@pytest.mark.parametrize("name", ["more", ".ipynb_checkpoints", "part-000000000060.parquet"])
def test_a_folder_among_the_parts_is_found(folder: Path, name: str) -> None:
    shutil.copytree(folder / "rolls", folder / "rolls" / name)
    _refused(folder, name)


@pytest.mark.parametrize("name", ["part-1.parquet", "part-000000000060.parquet"])
@pytest.mark.parametrize("there", [True, False])
def test_a_link_among_the_parts_is_found(folder: Path, name: str, there: bool) -> None:
    target = "part-000000000000.parquet" if there else "nowhere"
    (folder / "rolls" / name).symlink_to(target)
    _refused(folder, name)


def _refused(folder: Path, name: str) -> None:
    before = {path for path in folder.rglob("*") if path.name != ".lock"}
    for use in (read_counts, read_columns, lambda d: run_batch(PLAN, d, workers=1)):
        with pytest.raises(DatasetError) as refusal:
            use(folder)
        assert f"rolls/{name}: " in str(refusal.value)
        assert "not a part of this dataset; move that file away" in str(refusal.value)
    assert before == {path for path in folder.rglob("*") if path.name != ".lock"}


def test_a_part_that_lies_elsewhere_is_still_a_part(folder: Path, tmp_path: Path) -> None:
    """Such as on another disk."""
    part = folder / "rolls" / "part-000000000020.parquet"
    part.rename(tmp_path / "elsewhere")
    part.symlink_to(tmp_path / "elsewhere")
    assert read_counts(folder).rolls == 60


def test_what_systems_leave_in_folders_may_stay(folder: Path) -> None:
    for name in (".DS_Store", ".nfs0001", ".directory"):
        (folder / "rolls" / name).write_bytes(b"theirs")
    assert read_counts(folder).rolls == 60
    assert run_batch(FakePlan(n=80), folder, workers=1).counts.rolls == 80
    assert (folder / "rolls" / ".DS_Store").exists()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["manifest.json", "rolls/part-000000000020.parquet"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_plain_file_is_not_waited_for(
    folder: Path, name: str, make: Callable[[Path], None]
) -> None:
    (folder / name).unlink()
    make(folder / name)
    for use in (read_counts, lambda d: run_batch(PLAN, d, workers=1)):
        with pytest.raises(DatasetError, match=f"{Path(name).name}: .*(no plain file|not a part)"):
            use(folder)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file" / "d", tmp_path / ("a" * 300)):
        with pytest.raises(DatasetError, match="cannot be used as a dataset folder"):
            run_batch(PLAN, place, workers=1)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_is_made_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("deep/there")
    assert run_batch(FakePlan(n=4), workers=1, out=tmp_path / "link").n == 4
    assert read_counts(tmp_path / "deep" / "there").rolls == 4


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(DatasetError, match="not empty"):
        run_batch(PLAN, tmp_path, workers=1)
    assert not (tmp_path / "manifest.json").exists()


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, real, calls = tmp_path / "d", os.fsync, 0

    def full(handle: int) -> None:
        nonlocal calls
        calls += 1
        if calls > 5:  # the manifest and the first part, each with its folder, are through
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DatasetError, match=r"No space left on device.*run the same command"):
        run_batch(PLAN, folder, workers=1)
    monkeypatch.undo()
    assert not list(folder.rglob(".*.unfinished"))
    assert 0 < read_counts(folder).rolls < 60
    assert run_batch(PLAN, folder, workers=1).counts.rolls == 60


def test_two_runs_in_one_folder_are_refused(folder: Path) -> None:
    with only_writer(folder), pytest.raises(DatasetError, match="another run is writing"):
        run_batch(PLAN, folder, workers=1)


def test_a_machine_with_other_bits_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "manifest.json"
    data = json.loads(path.read_text())
    data["check_roll"]["black_x_m"] *= 1 + 2**-52
    data["platform"]["machine"] = "pdp11"
    path.write_text(json.dumps(data))
    with pytest.raises(DatasetError, match=r"other bits.*black_x_m.*machine: pdp11 there"):
        run_batch(FakePlan(n=80), folder, workers=1)
    assert manifests.read_manifest(folder).n == 60


def test_the_manifest_tells_how_the_rolls_came_about(folder: Path) -> None:
    data = json.loads((folder / "manifest.json").read_text())
    assert (data["n"], data["seed"], data["chunk_size"]) == (60, 0, 20)
    assert set(data["versions"]) == {"physim", "pybullet", "numpy", "scipy", "trimesh"}
    assert set(data["platform"]) == {"machine", "system", "python", "libc", "processor", "bits"}
    assert data["mixed_with"] == []
    columns = read_columns(folder)
    assert list(data["columns"]) == list(columns)
    for name, value in data["check_roll"].items():
        first = columns[name][0]
        assert first == value or (value is None and np.isnan(first))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 9}', '{"format": 1}'])
def test_a_damaged_manifest_is_refused(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text)
    with pytest.raises(DatasetError, match="manifest"):
        read_counts(folder)


def test_no_dataset_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no dataset there"):
        read_counts(tmp_path / "nothing")


def test_an_unknown_column_is_refused(folder: Path) -> None:
    with pytest.raises(DatasetError, match="no column `weight`"):
        read_columns(folder, ["index", "weight"])

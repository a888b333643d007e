"""A manifest that was changed by hand is refused with one message; nothing is touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fake_rolls import FakePlan
from pyarrow import parquet

from physim.dataset.manifest import only_writer
from physim.dataset.parquet import read_counts
from physim.dataset.run import run_batch
from physim.errors import DatasetError

PLAN = FakePlan(n=60, chunk_size=20)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    run_batch(PLAN, tmp_path / "d", workers=1)
    return tmp_path / "d"


def changed(folder: Path, **values: Any) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("n", "x"),
        ("n", 0),
        ("n", True),
        ("n", 10**30),
        ("seed", "x"),
        ("seed", 1),
        ("chunk_size", 0),
        ("chunk_size", -10),
        ("chunk_size", "a"),
        ("kind", "x"),
        ("kind", []),
        ("kind", "counts"),
        ("names", None),
        ("configuration", []),
        ("configuration", {"seed": 0}),
        ("configuration_sha256", 5),
        ("columns", {}),
        ("columns", 5),
        ("platform", 5),
        ("versions", None),
        ("check_roll", []),
        ("surplus", 1),
    ],
)
def test_a_wrong_value_is_named_with_a_remedy(folder: Path, key: str, value: Any) -> None:
    changed(folder, **{key: value})
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for use in (read_counts, lambda d: run_batch(PLAN, d, workers=1)):
        with pytest.raises(DatasetError, match=r"manifest\.json.*restore it") as refusal:
            use(folder)
        assert "delete" not in str(refusal.value) and len(str(refusal.value)) < 500
        assert f"`{key}" in str(refusal.value) or key in ("configuration", "kind", "surplus")
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("values", [{"n": 20}, {"n": 50}, {"chunk_size": 30}, {"chunk_size": 10}])
def test_sizes_that_do_not_fit_never_cost_good_parts(folder: Path, values: dict[str, int]) -> None:
    changed(folder, **values)
    with pytest.raises(DatasetError, match="restore the manifest") as refusal:
        read_counts(folder)
    assert "delete" not in str(refusal.value)


@pytest.mark.parametrize("text", ["[" * 100_000, "\xff", "{", "5", '"x"', '{"format": []}'])
def test_what_is_no_manifest_is_refused(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(DatasetError, match=r"manifest\.json"):
        read_counts(folder)


@pytest.mark.parametrize(
    "counts", [{"poses": []}, {"rolls": "20"}, {"rolls": -20}, {"statuses": {"ok": 1.5}}]
)
def test_counts_of_wrong_types_are_refused(tmp_path: Path, counts: dict[str, Any]) -> None:
    run_batch(FakePlan(n=20), tmp_path, workers=1, counts_only=True)
    data = json.loads((tmp_path / "counts.json").read_text())
    data["counts"] |= counts
    (tmp_path / "counts.json").write_text(json.dumps(data))
    with pytest.raises(DatasetError, match=r"counts\.json"):
        read_counts(tmp_path)


def test_a_refused_folder_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(DatasetError, match="not empty"):
        run_batch(PLAN, tmp_path, workers=1)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_the_rolls_open_as_one_table(folder: Path) -> None:
    table = parquet.read_table(folder / "rolls")
    assert table.num_rows == 60
    assert sorted(table["index"].to_pylist()) == list(range(60))


def test_unfinished_files_are_cleared_away(folder: Path) -> None:
    left = folder / "rolls" / ".part-000000000000.parquet.unfinished"
    left.touch()
    with only_writer(folder):
        assert not left.exists()

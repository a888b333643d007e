from __future__ import annotations

from pathlib import Path

import pytest
from fake_rolls import FakePlan

from physim.batch.read import read_columns, read_counts
from physim.batch.run import run_batch
from physim.batch.tally import counts_from_json, counts_to_json
from physim.errors import DatasetError


def test_counts_alone_are_the_counts_of_the_rolls(tmp_path: Path) -> None:
    plan = FakePlan(n=100, chunk_size=30)
    run_batch(plan, tmp_path / "rolls", workers=1)
    result = run_batch(plan, tmp_path / "counts", workers=2, counts_only=True)
    assert result.counts == read_counts(tmp_path / "counts") == read_counts(tmp_path / "rolls")
    assert not list((tmp_path / "counts").glob("*.parquet"))
    with pytest.raises(DatasetError, match="counts only"):
        read_columns(tmp_path / "counts")


def test_counts_grow_and_resume(tmp_path: Path) -> None:
    run_batch(FakePlan(n=35, chunk_size=10), tmp_path, workers=1, counts_only=True)
    more = run_batch(FakePlan(n=100), tmp_path, workers=1, counts_only=True)
    assert more.new_rolls == 65
    assert more.counts == run_batch(FakePlan(n=100), workers=1).counts
    assert run_batch(FakePlan(n=100), tmp_path, workers=1, counts_only=True).new_rolls == 0


def test_counts_survive_json() -> None:
    counts = run_batch(FakePlan(n=200), workers=1).counts
    assert counts_from_json(counts_to_json(counts)) == counts


@pytest.mark.parametrize("text", ["", "{}", '{"configuration_sha256": "", "done": [[0, 9]]}'])
def test_damaged_counts_are_refused(tmp_path: Path, text: str) -> None:
    run_batch(FakePlan(n=20), tmp_path, workers=1, counts_only=True)
    (tmp_path / "counts.json").write_text(text)
    with pytest.raises(DatasetError, match=r"counts\.json.*delete that file"):
        read_counts(tmp_path)

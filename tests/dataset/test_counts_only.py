from __future__ import annotations

import json
import random
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from fake_rolls import FakePlan

from physim import files
from physim.dataset import manifest
from physim.dataset.manifest import counts_from_json, counts_to_json
from physim.dataset.parquet import read_columns, read_counts
from physim.dataset.rows import Done
from physim.dataset.run import run_batch
from physim.dataset.workers import Workers
from physim.errors import DatasetError
from physim.statistics.counts import Counts


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


def test_a_file_of_earlier_versions_has_pairs_without_order() -> None:
    counts = run_batch(FakePlan(n=200), workers=1).counts
    pairs = [[a.value, b.value, count] for (a, b), count in counts.pairs.items()]
    again = counts_from_json({**counts_to_json(counts), "pairs": pairs})
    assert (again.poses, again.pairs) == (counts.poses, counts.pairs)


@pytest.mark.parametrize("text", ["", "{}", '{"configuration_sha256": "", "done": [[0, 9]]}'])
def test_damaged_counts_are_refused(tmp_path: Path, text: str) -> None:
    run_batch(FakePlan(n=20), tmp_path, workers=1, counts_only=True)
    (tmp_path / "counts.json").write_text(text)
    with pytest.raises(DatasetError, match=r"counts\.json.*delete that file"):
        read_counts(tmp_path)


def test_a_thousand_million_rolls_take_no_more_room_than_a_thousand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, "_WRITE_S", 0.0)  # after every task
    monkeypatch.setattr(files, "_sync", lambda *_: None)
    workers, sizes = Swarm(16), []

    def look(done: int, total: int) -> None:
        if (tmp_path / "counts.json").exists():
            sizes.append((tmp_path / "counts.json").stat().st_size)

    plan = FakePlan(n=10**9)
    run_batch(plan, tmp_path, workers=workers, counts_only=True, progress=look)
    assert json.loads((tmp_path / "counts.json").read_text())["done"] == [[0, 10**9]]
    assert read_counts(tmp_path).rolls == 10**9
    assert len(sizes) > 1000 and max(sizes) < sizes[0] + 16 * 2 * 60  # a span for each at work
    assert workers.most_at_work == 2 * 16


class Swarm(Workers):
    """Workers that hand in what they were given in any order, without rolling."""

    prefetch = 2

    def __init__(self, workers: int) -> None:
        self._workers, self._rng = workers, random.Random(3)
        self._at_work: list[tuple[Future[Any], Any]] = []
        self.most_at_work = 0

    def count(self) -> int:
        return self._workers

    def task_s(self) -> float:
        return 1.0  # and a roll takes a microsecond

    def submit(self, fn: Any, *args: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if len(args) == 1:
            future.set_result(fn(*args))
            return future
        rolls = len(args[1])
        self._at_work.append((future, Done(Counts(rolls=rolls), rolls * 1e-6)))
        self.most_at_work = max(self.most_at_work, len(self._at_work))
        if len(self._at_work) == self.prefetch * self._workers:
            done, made = self._at_work.pop(self._rng.randrange(len(self._at_work)))
            done.set_result(made)
        return future

    def check(self) -> None:
        for future, made in self._at_work:
            future.set_result(made)
        self._at_work.clear()

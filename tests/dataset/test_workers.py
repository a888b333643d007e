"""Tasks, kits and benches, apart from any worker process."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest
from fake_rolls import FakePlan

from physim.dataset.plan import BatchPlan, Job, Roller, default_chunk_size, sample_roll
from physim.dataset.rows import (
    SCHEMA,
    counts_of,
    decode,
    encode,
    make_counts,
    make_rows,
    row_of,
)
from physim.dataset.run import TaskCutter
from physim.dataset.workers import Workers
from physim.errors import WorkerError
from physim.types import Roll


class Crew(Workers):
    """So many workers, whose tasks are to take a second."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def count(self) -> int:
        return self._workers

    def task_s(self) -> float:
        return 1.0


def handed_out(n: int, chunk: int, seconds: float, workers: int = 2) -> list[range]:
    """All tasks where a roll takes so long and tasks are to take a second."""
    chunks = (range(first, min(first + chunk, n)) for first in range(0, n, chunk))
    cutter, found = TaskCutter(Crew(workers)), []
    for task, whole in cutter.tasks(chunks, n):
        assert whole.start <= task.start < task.stop <= whole.stop
        found.append(task)
        if len(found) >= 2 * workers:  # results come back later than tasks are handed out
            cutter.took(len(found[-2 * workers]), seconds * len(found[-2 * workers]))
    return found


@pytest.mark.parametrize("n", [1, 7, 400, 5000])
@pytest.mark.parametrize("chunk", [1, 13, 200, 10**6])
@pytest.mark.parametrize("seconds", [0.0, 1e-9, 0.05, 100.0])
def test_tasks_cover_every_roll_once(n: int, chunk: int, seconds: float) -> None:
    tasks = handed_out(n, chunk, seconds)
    assert [index for task in tasks for index in task] == list(range(n))
    assert max(map(len, tasks[:4])) == 1  # something is seen at once


def test_tasks_take_as_long_as_they_should_and_end_together() -> None:
    sizes = [len(task) for task in handed_out(100_000, 10**6, 0.01)]
    assert set(sizes[4:500]) == {100}
    assert sizes[-1] == 1 and sizes == sorted(sizes[:4]) + sorted(sizes[4:], reverse=True)


@pytest.mark.parametrize("n", [1, 10**6, 10**6 + 1, 10**7, 10**9, 10**12])
def test_chunks_make_neither_too_many_files_nor_too_large_ones(n: int) -> None:
    size = default_chunk_size(n)
    assert 200 <= size <= 50_000
    assert n / size <= 1_000 or size == 50_000


def test_a_kit_holds_the_model_itself() -> None:
    kit = Job.of(BatchPlan(n=1))
    assert b"standard/" not in kit.content and b".obj" not in kit.content
    assert len(pickle.dumps(kit)) < 60_000
    assert kit != Job.of(BatchPlan(n=1, toss="drop")) != Job.of(BatchPlan(n=1))
    assert kit == Job.of(BatchPlan(n=9, chunk_size=3))


def test_other_versions_are_refused_before_the_content_is_read() -> None:
    kit = replace(Job.of(FakePlan(n=1)), content=b"of another release", versions={"numpy": "0"})
    with pytest.raises(WorkerError, match=r"numpy: 0 wanted, \S+ here"):
        make_rows(kit, range(1))


def test_other_bits_are_refused() -> None:
    plan = FakePlan(n=1)
    with plan.open() as roller:
        sample = sample_roll(roller, 0)
    kit = replace(Job.of(plan), sample=sample)
    assert make_rows(kit, range(1)).content
    roll = sample["check_roll"]
    other = {**roll, "pink_time_s": roll["pink_time_s"] * (1 + 2**-52)}
    with pytest.raises(WorkerError, match=r"other bits \(pink_time_s: "):
        make_rows(replace(kit, sample={**sample, "check_roll": other}), range(1))


@dataclass(frozen=True)
class Crowd:
    """Notices threads that roll at the same time."""

    @contextmanager
    def open(self) -> Iterator[Roller]:
        with FakePlan(n=1, wait_s=0.001).open() as roller:
            yield _Alone(roller)


class _Alone:
    def __init__(self, roller: Roller) -> None:
        self._roller, self._busy = roller, threading.Lock()

    def roll(self, seed: int, index: int) -> Roll:
        assert self._busy.acquire(blocking=False), "two threads at once"
        try:
            return self._roller.roll(seed, index)
        finally:
            self._busy.release()


def test_a_worker_with_threads_makes_one_roll_at_a_time() -> None:
    kit = Job(0, pickle.dumps(Crowd()))
    with ThreadPoolExecutor(4) as threads:
        counts = list(threads.map(lambda i: make_counts(kit, range(i, i + 5)), range(0, 40, 5)))
    with FakePlan(n=1).open() as roller:
        rows = [row_of(roller.roll(0, index)) for index in range(40)]
    assert sum((made.content for made in counts[1:]), counts[0].content) == counts_of(rows)


def test_the_check_for_threads_can_fail() -> None:
    with FakePlan(n=1, wait_s=0.05).open() as roller, ThreadPoolExecutor(4) as threads:
        alone = _Alone(roller)
        with pytest.raises(AssertionError, match="two threads"):
            list(threads.map(lambda index: alone.roll(0, index), range(4)))


def test_rows_come_back_from_arrow_as_they_were() -> None:
    with FakePlan(n=1).open() as roller:
        rows = [row_of(roller.roll(0, index)) for index in range(50)]
    table = decode(encode(rows))
    assert table.schema == SCHEMA
    assert [tuple(row.values()) for row in table.to_pylist()] == rows


def test_the_message_of_counts_does_not_grow_with_the_rolls() -> None:
    kit = Job.of(FakePlan(n=1))
    few, many = (len(pickle.dumps(make_counts(kit, range(n)))) for n in (300, 6000))
    assert many < few * 1.05 < 3000
    rows = [len(pickle.dumps(make_rows(kit, range(n)))) for n in (300, 6000)]
    assert rows[1] > 10 * rows[0] > 10 * many  # unlike that of rows

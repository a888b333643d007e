from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fake_rolls import FakePlan
from runs import files_in, rows_in, wait_until

from physim.dataset.parquet import read_columns, read_counts
from physim.dataset.rows import row_of
from physim.dataset.run import run_batch
from physim.errors import ConfigError, WorkerError
from physim.statistics.counts import Counts

HERE = Path(__file__).parent
RUN = (
    f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
    "from fake_rolls import FakePlan\n"
    "from physim.dataset.run import run_batch\n"
    "run_batch(FakePlan(n=400, chunk_size=20, wait_s=0.005), sys.argv[1], workers=2)\n"
)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An uninterrupted run of 400 rolls by one worker."""
    folder = tmp_path_factory.mktemp("plain") / "rolls"
    run_batch(FakePlan(n=400, chunk_size=20), folder, workers=1)
    return folder


def test_the_rows_are_those_of_single_rolls(plain: Path) -> None:
    with FakePlan(n=1).open() as roller:
        rolls = [roller.roll(0, index) for index in reversed(range(400))]
    columns = read_columns(plain)
    for roll in rolls:
        values = [column[roll.index] for column in columns.values()]
        for value, wanted in zip(values, row_of(roll), strict=True):
            assert value == wanted or (wanted is None and np.isnan(value))
    assert read_counts(plain) == Counts.from_rows(rolls)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_any_number_of_workers_writes_the_same_bytes(
    plain: Path, tmp_path: Path, workers: int
) -> None:
    run_batch(FakePlan(n=400, chunk_size=20), tmp_path / "d", workers=workers)
    assert files_in(tmp_path / "d") == files_in(plain)


@pytest.mark.parametrize("chunk_size", [1, 7, 399, 1000])
def test_any_chunk_size_gives_the_same_rows(plain: Path, tmp_path: Path, chunk_size: int) -> None:
    n = 60 if chunk_size == 1 else 400
    run_batch(FakePlan(n=n, chunk_size=chunk_size), tmp_path / "d", workers=1)
    assert rows_in(tmp_path / "d") == rows_in(plain)[:n]


@pytest.mark.parametrize("first", [1, 35, 40, 399])
def test_a_smaller_batch_is_the_beginning_of_a_larger_one(
    plain: Path, tmp_path: Path, first: int
) -> None:
    folder = tmp_path / "d"
    run_batch(FakePlan(n=first, chunk_size=20), folder, workers=1)
    assert rows_in(folder) == rows_in(plain)[:first]
    result = run_batch(FakePlan(n=400, chunk_size=33), folder, workers=2)
    assert result.new_rolls == 400 - first
    assert files_in(folder) == files_in(plain)


def test_running_again_makes_only_what_is_missing(plain: Path, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    plan = FakePlan(n=400, chunk_size=20)
    run_batch(plan, folder, workers=1)
    (folder / "rolls" / "part-000000000060.parquet").unlink()
    (folder / "rolls" / "part-000000000380.parquet").unlink()
    seen: list[tuple[int, int]] = []
    result = run_batch(plan, folder, workers=1, progress=lambda *at: seen.append(at))
    assert (result.new_rolls, seen[0], seen[-1]) == (40, (360, 400), (400, 400))
    assert files_in(folder) == files_in(plain)
    assert run_batch(plan, folder, workers=1).new_rolls == 0


def test_another_seed_gives_other_rows(plain: Path, tmp_path: Path) -> None:
    run_batch(FakePlan(n=20, seed=1), tmp_path / "d", workers=1)
    assert not set(rows_in(tmp_path / "d")) & set(rows_in(plain))


def test_without_a_folder_only_counts_are_kept(plain: Path) -> None:
    assert run_batch(FakePlan(n=400), workers=2).counts == read_counts(plain)


@pytest.mark.parametrize("workers", [0, -1, 10_000])
def test_impossible_numbers_of_workers_are_refused(workers: int) -> None:
    with pytest.raises(ConfigError, match="workers must be a whole number from 1 to"):
        run_batch(FakePlan(n=1), workers=workers)


@pytest.mark.parametrize("plan", [{"n": 0}, {"n": 5, "seed": -1}, {"n": 5, "seed": 2**63}])
def test_impossible_plans_are_refused(plan: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="must be a whole number from"):
        FakePlan(**plan)


def test_a_worker_that_dies_is_replaced(plain: Path, tmp_path: Path) -> None:
    graves = tmp_path / "graves"
    graves.mkdir()
    plan = FakePlan(n=400, chunk_size=20, deadly_index=130, deaths=2, graves=str(graves))
    run_batch(plan, tmp_path / "d", workers=2)
    assert len(list(graves.iterdir())) == 2
    assert files_in(tmp_path / "d") == files_in(plain)


def test_workers_that_always_die_end_the_run_and_lose_nothing(plain: Path, tmp_path: Path) -> None:
    graves, folder = tmp_path / "graves", tmp_path / "d"
    graves.mkdir()
    plan = FakePlan(n=400, chunk_size=20, deadly_index=200, deaths=99, graves=str(graves))
    with pytest.raises(WorkerError, match="died 4 times"):
        run_batch(plan, folder, workers=2)
    kept = files_in(folder)
    assert kept and kept.items() <= files_in(plain).items()
    run_batch(FakePlan(n=400, chunk_size=20), folder, workers=2)
    assert files_in(folder) == files_in(plain)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_goes_on_where_it_was(
    plain: Path, tmp_path: Path, how: signal.Signals
) -> None:
    folder = tmp_path / "d"
    run = subprocess.Popen(
        [sys.executable, "-c", RUN, str(folder)],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_until(lambda: len(files_in(folder)) >= 3)
    # Ctrl-C reaches the workers too; a kill does not.
    (os.killpg if how == signal.SIGINT else os.kill)(run.pid, how)
    assert run.wait(timeout=60) != 0
    kept = files_in(folder)
    assert len(kept) < 20 and kept.items() <= files_in(plain).items()
    wait_until(lambda: not _group_alive(run.pid))  # the workers leave with their parent
    (folder / "rolls" / ".part-000000000999.parquet.unfinished").touch()
    run_batch(FakePlan(n=400, chunk_size=20), folder, workers=1)
    assert files_in(folder) == files_in(plain)
    assert not list(folder.rglob(".*.unfinished"))


def _group_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True

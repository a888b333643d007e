"""The same bits in any order, for any number of workers, in a fresh process: with physics."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from physim.dataset.parquet import read_columns
from physim.dataset.plan import BatchPlan
from physim.dataset.rows import Row, row_of
from physim.dataset.run import run_batch
from physim.errors import ConfigError
from physim.physics.surfaces import EngineSettings

N = 16
FRESH = (
    "import json\n"
    "from physim.dataset.plan import BatchPlan\n"
    "from physim.dataset.rows import row_of\n"
    "with BatchPlan(n=1, seed=3).open() as simulator:\n"
    "    print(json.dumps([row_of(simulator.roll(3, i)) for i in (7, 2)]))\n"
)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """The rolls in order, on one simulator."""
    with BatchPlan(n=N, seed=3).open() as simulator:
        return [row_of(simulator.roll(3, index)) for index in range(N)]


def test_backwards_gives_the_same_bits(rows: list[Row]) -> None:
    with BatchPlan(n=N, seed=3).open() as simulator:
        assert [row_of(simulator.roll(3, i)) for i in reversed(range(N))] == rows[::-1]


def test_one_by_one_gives_the_same_bits(rows: list[Row]) -> None:
    for index in (0, 5):
        with BatchPlan(n=N, seed=3).open() as simulator:
            assert row_of(simulator.roll(3, index)) == rows[index]


def test_a_fresh_process_gives_the_same_bits(rows: list[Row]) -> None:
    run = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, check=True, text=True)
    assert [tuple(row) for row in json.loads(run.stdout)] == [rows[7], rows[2]]


@pytest.mark.parametrize(("workers", "chunk_size"), [(1, 5), (2, 3)])
def test_a_batch_gives_the_same_bits(
    rows: list[Row], tmp_path: Path, workers: int, chunk_size: int
) -> None:
    plan = BatchPlan(n=N, seed=3, chunk_size=chunk_size)
    run_batch(plan, tmp_path, workers=workers)
    columns = read_columns(tmp_path)
    there = zip(*(column.tolist() for column in columns.values()), strict=True)
    for row, wanted in zip(there, rows, strict=True):
        for value, other in zip(row, wanted, strict=True):
            assert value == other or (other is None and str(value) == "nan")


def test_the_configuration_holds_what_the_rolls_depend_on() -> None:
    base = BatchPlan(n=1).configuration()
    assert base == BatchPlan(n=99, chunk_size=3).configuration()
    assert base == json.loads(json.dumps(base))
    for other in (
        BatchPlan(n=1, seed=1),
        BatchPlan(n=1, toss="drop"),
        BatchPlan(n=1, height_mm=100),
        BatchPlan(n=1, time_step_s=1 / 1024),
    ):
        assert other.configuration() != base


@pytest.mark.parametrize(("step", "calls"), [(1 / 256, 2), (1 / 512, 4), (1 / 65536, 512)])
def test_a_time_step_keeps_the_looks_at_the_pigs(step: float, calls: int) -> None:
    settings = EngineSettings.with_step(step)
    assert (settings.time_step_s, settings.steps_per_check) == (step, calls)


@pytest.mark.parametrize("step", [0.0, -1 / 512, 1 / 240, 1 / 1000, 1 / 768, 1e-9, float("nan")])
def test_other_time_steps_are_refused(step: float) -> None:
    with pytest.raises(ConfigError, match="time step"):
        EngineSettings.with_step(step)


def test_the_tables_size_goes_from_the_command_line_to_the_manifest(tmp_path: Path) -> None:
    out = tmp_path / "rolls"
    words = ["batch", "40", "--out", str(out), "--seed", "3", "--toss", "hand", "--workers", "1"]
    command = [sys.executable, "-m", "physim", *words, "--table-size-mm", "150", "100"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["names"]["table_size_mm"] == [150.0, 100.0]
    assert manifest["configuration"]["table"]["length_m"] == 0.15
    assert manifest["configuration"]["engine"]["steps_a_call"] == 32  # a name on the wire
    statuses = read_columns(out, ["status"])["status"]
    assert "off_table" in list(statuses)  # so small a table that pigs fall over its edge
    assert BatchPlan(**{"n": 1, **manifest["names"]}).setup().table.width_m == 0.1

"""Killed processes and a full disk: what was finished is kept, and the end is the same."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_rolls import FakePlan
from runs import files_in, rows_in, wait_until

from physim.dataset.parquet import read_counts
from physim.dataset.run import run_batch
from physim.errors import DatasetError

HERE = Path(__file__).parent
RUN = (
    "import sys\n"
    "from fake_rolls import FakePlan\n"
    "from physim.dataset.run import run_batch\n"
    "run_batch(FakePlan(n=600, chunk_size=20, wait_s=0.02), sys.argv[1], workers=2,\n"
    "          counts_only=len(sys.argv) > 2)\n"
)
PLAN = FakePlan(n=600, chunk_size=20)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An uninterrupted run by one worker."""
    folder = tmp_path_factory.mktemp("plain") / "d"
    run_batch(PLAN, folder, workers=1)
    return folder


def killed(arguments: list[str], folder: Path, moments: random.Random, longest_s: float) -> None:
    """Kills (-9) Python with these arguments ten times, at moments that are drawn.

    Every other time within so long from its start, every other time from its first progress.
    """
    for number in range(10):
        before = kept(folder)
        run = subprocess.Popen(
            [sys.executable, *arguments],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), str(HERE)])},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if number % 2:
            wait_until(lambda before=before: kept(folder) > before)
        time.sleep(moments.uniform(0, longest_s / (10 if number % 2 else 1)))
        run.kill()
        run.wait()
        assert kept(folder) >= before  # nothing that was finished is lost


def kept(folder: Path) -> int:
    """Rolls in a folder in which a run may have been killed before its manifest was there."""
    return read_counts(folder).rolls if (folder / "manifest.json").exists() else 0


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["counts"]])
def test_killed_at_ten_moments_the_end_is_the_same(
    plain: Path, tmp_path: Path, options: list[str]
) -> None:
    folder = tmp_path / "d"
    killed(["-c", RUN, str(folder), *options], folder, random.Random(20060), 2.0)
    there = kept(folder)
    assert 0 < there < 600
    result = run_batch(PLAN, folder, workers=1, counts_only=bool(options))
    assert result.new_rolls == 600 - there
    assert result.counts == read_counts(folder) == read_counts(plain)
    if not options:
        assert files_in(folder) == files_in(plain)


@pytest.mark.slow
def test_physics_killed_at_ten_moments_gives_the_same_rows(tmp_path: Path) -> None:
    command = ["-m", "physim", "batch", "800", "--seed", "5", "--chunk-size", "4", "--out"]
    killed([*command, str(tmp_path / "d")], tmp_path / "d", random.Random(11954), 2.0)
    assert 0 < kept(tmp_path / "d") < 800
    for folder, workers in (("d", "2"), ("plain", "1")):
        subprocess.run(
            [sys.executable, *command, str(tmp_path / folder), "--workers", workers],
            cwd=HERE.parents[1],
            check=True,
        )
    assert rows_in(tmp_path / "d") == rows_in(tmp_path / "plain")


@pytest.mark.parametrize("kills", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_killed_workers_cost_nothing(plain: Path, tmp_path: Path, kills: int) -> None:
    moments = sorted(random.Random(6000).sample(range(20, 580), kills))
    victims = []

    def kill(done: int, total: int) -> None:
        workers = multiprocessing.active_children()
        if moments and done >= moments[0] and workers:
            moments.pop(0)
            victims.append(workers[len(victims) % len(workers)])
            victims[-1].kill()

    plan = FakePlan(n=600, chunk_size=20, wait_s=0.002)
    assert run_batch(plan, tmp_path / "d", workers=2, progress=kill).new_rolls == 600
    assert len(victims) == kills
    assert files_in(tmp_path / "d") == files_in(plain)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 128 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "none", str(disk)]
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    if (made := subprocess.run(mount, capture_output=True, text=True, check=False)).returncode:
        pytest.skip(f"no small disk can be mounted: {made.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def more_space(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_disk_that_is_really_full(small_disk: Path, plain: Path, workers: int) -> None:
    folder = small_disk / "d"
    for _ in range(2):  # again and again
        with pytest.raises(DatasetError, match=r"No space left.*finished parts are kept: free"):
            run_batch(PLAN, folder, workers=workers)
        assert files_in(folder) and files_in(folder).items() < files_in(plain).items()
        assert not list(folder.rglob(".*.unfinished"))
    more_space(small_disk)
    before = len(files_in(folder))
    assert run_batch(PLAN, folder, workers=workers).new_rolls == 600 - 20 * before
    assert files_in(folder) == files_in(plain)


def test_counts_on_a_full_disk(small_disk: Path, plain: Path) -> None:
    folder = small_disk / "d"
    run_batch(FakePlan(n=100), folder, workers=1, counts_only=True)
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space"), filler.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    with pytest.raises(DatasetError, match=r"No space left.*run the same command"):
        run_batch(FakePlan(n=600), folder, workers=1, counts_only=True)
    assert read_counts(folder).rolls == 100
    filler.unlink()
    assert run_batch(FakePlan(n=600), folder, workers=1, counts_only=True).new_rolls == 500
    assert read_counts(folder) == read_counts(plain)


@pytest.mark.slow
def test_the_command_on_a_full_disk(small_disk: Path) -> None:
    command = [sys.executable, "-m", "physim", "batch", "120", "--chunk-size", "5"]
    command += ["--settle", "fast", "--out", str(small_disk / "d")]
    run = subprocess.run(command, cwd=HERE.parents[1], capture_output=True, text=True, check=False)
    assert run.returncode == 2 and "Traceback" not in run.stderr
    assert "No space left on device); finished parts are kept" in run.stderr.splitlines()[-1]
    there = read_counts(small_disk / "d").rolls
    assert 0 < there < 120
    more_space(small_disk)
    run = subprocess.run(command, cwd=HERE.parents[1], capture_output=True, text=True, check=False)
    assert run.stdout.endswith(f"120 rolls, {120 - there} of them new\n")

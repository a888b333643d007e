"""Closed, full and broken streams, signals, and options that do not go together."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from physim.cli.main import main
from physim.dataset.plan import BatchPlan
from physim.dataset.run import run_batch
from tests.cli.test_commands import MAIN, complaint, physim

COMMAND = f'"{sys.executable}" -c "{MAIN}"'


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"{COMMAND} {line}"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("score trotter trotter >&-", 0),
        ("score trotter trotter >&- 2>&-", 0),
        ("score trotter trotter <&- >&- 2>&-", 0),
        ("score trotter fly >&- 2>&-", 2),
        ("roll --json >&-", 0),
        ("fly 2>/dev/full", 2),
        ("score trotter fly 2>/dev/full", 2),
        ("batch 4 --out d --workers 1 2>&-", 0),
        ("batch 4 --out d --workers 2 2>/dev/full", 0),
        ("score trotter trotter >/dev/full", 2),
        ("score trotter trotter >/dev/full 2>&1", 2),
    ],
)
def test_closed_and_full_streams(tmp_path: Path, line: str, code: int) -> None:
    run = shell(line, tmp_path)
    assert (run.returncode, "Traceback" in run.stderr) == (code, False), run.stderr
    assert len(run.stderr.splitlines()) <= 1
    if line.startswith("batch"):
        assert physim("stats", tmp_path / "d").stderr == ""


def test_sigterm_ends_a_batch_as_ctrl_c_does(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    command = [sys.executable, "-c", MAIN, "batch", "5000", "--out", str(folder), "--workers", "2"]
    with subprocess.Popen(
        [*command, "--chunk-size", "2"], stderr=subprocess.PIPE, text=True
    ) as run:
        while not list(folder.rglob("part-*.parquet")):
            time.sleep(0.05)
            assert run.poll() is None
        run.send_signal(signal.SIGTERM)
        _, err = run.communicate(timeout=60)
    assert run.returncode == 143
    last = err.splitlines()[-1]
    assert last.startswith(f"physim: interrupted; what was finished is kept in {folder}")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("roll", "--time-step-s", "1e999999999"), "no number of seconds"),
        (("roll", "--time-step-s", "1/" + "9" * 99), "no number of seconds"),
        (("roll", "-n", "1e3"), "must be a whole number of 1 or more, found '1e3'"),
        (("roll", "--seed", "9" * 5000), "must be a whole number"),
        (("roll", "--surface", ""), "surface must not be empty"),
        (("roll", "--black", ""), "black must not be empty"),
        (("roll", "--pink", ""), "pink must not be empty"),
        (("roll", "--model", "a" * 5000), "no usable name"),
        (("roll", "--toss", "xyz"), "unknown toss `xyz` (valid"),
        (("batch", 5, "--out", ""), "the path must not be empty"),
        (("stats", ""), "the path must not be empty"),
        (("render", "--out", ""), "the path must not be empty"),
        (("render", "--out", "x.png", "--sheet", ""), "the path must not be empty"),
        (("render", "--out", "/nowhere/x.png"), "/nowhere/x.png: cannot be written"),
        (("render", "--out", "/dev/null/x.png"), "/dev/null/x.png: cannot be written"),
        (("render", "--out", "x" * 300 + ".png"), "cannot be written"),
        *(
            (("render", "--out", "x.png", "--sheet", "d", option, value), f"{option} does not go")
            for option, value in (
                ("--seed", 0),
                ("--index", 0),
                ("--model", "standard"),
                ("--width", 960),
                ("--height", 540),
            )
        ),
    ],
)
def test_bad_input_gets_one_short_line(
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[object, ...],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    line = complaint(capfd, *arguments)
    assert says in line and len(line) < 500
    assert not list(tmp_path.iterdir())


def test_a_dataset_to_compare_with_must_hold_pigs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made, empty = tmp_path / "made", tmp_path / "empty"
    run_batch(BatchPlan(n=3), made, workers=1)
    shutil.copytree(made, empty)
    for part in (empty / "rolls").iterdir():
        part.unlink()
    with pytest.raises(SystemExit) as stop:
        main(["stats", str(made), "--against", str(empty)])
    out, err = capfd.readouterr()
    assert (stop.value.code, out) == (2, "") and f"{empty}: holds no pig" in err
    assert "--against must not be empty" in complaint(capfd, "stats", made, "--against", "")


@pytest.mark.parametrize(
    ("address", "says"),
    [("tcp://127.0.0.1:1", "no Dask scheduler answers there"), ("", "dask must not be empty")],
)
def test_a_cluster_that_is_not_there(tmp_path: Path, address: str, says: str) -> None:
    run = physim("batch", 4, "--out", tmp_path / "d", "--dask", address)
    assert run.returncode == 2 and says in run.stderr and len(run.stderr.splitlines()) == 1

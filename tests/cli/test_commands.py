from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from physim.cli.main import main
from physim.cli.roll import roll_text, roll_to_json
from physim.config import HAS_PYBULLET
from physim.simulator import Setup, Simulator
from physim.statistics.counts import Counts
from physim.statistics.tables import table_folder
from physim.types import TABLE, Contact

MAIN = "from physim.cli.main import main; main()"
ROLL_KEYS = [
    "seed",
    "index",
    "status",
    "outcome",
    "score",
    "touching",
    "ended",
    "pigs",
    "time_s",
]
PIG_KEYS = ["name", "pose", "rest", "margin", "contacts", "position_m", "quat_xyzw", "time_s"]
CONTACT_KEYS = ["part", "other", "other_part", "gap_m", "position_m"]


def physim(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", MAIN, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def complaint(capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line on stderr of a command that must fail, run in this process."""
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    out, err = capfd.readouterr()
    assert (stop.value.code, out) == (2, ""), err
    (line,) = err.splitlines()
    assert line.startswith("physim: ")
    return line


def json_of(capfd: pytest.CaptureFixture[str], *arguments: object) -> object:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    assert stop.value.code == 0
    return json.loads(capfd.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("fly",), "No such command 'fly'"),
        (("roll", "--fly"), "No such option"),
        (("roll", "-n", 0), "must be a whole number of 1 or more, found '0'"),
        (("roll", "--seed", -1), "from 0 to 9223372036854775807"),
        (("roll", "--seed", 2**63), "from 0 to 9223372036854775807"),
        (("roll", "--seed", 1.5), "must be a whole number from 0 to"),
        (("roll", "--index", -1), "from 0 to 9223372036854775807"),
        (("roll", "-n", 2, "--index", 2**63 - 1), "the last index"),
        (("roll", "--height-mm", "nan"), "1 to 3000"),
        (("roll", "--height-mm", "inf"), "1 to 3000"),
        (("roll", "--height-mm", -5), "1 to 3000"),
        (("roll", "--height-mm", "high"), "1 to 3000"),
        (("roll", "--time-step-s", "1/0"), "1/2048"),
        (("roll", "--time-step-s", "1/1000"), "1/256"),
        (("roll", "--toss", "trapdor"), "did you mean `trapdoor`"),
        (("roll", "--surface", "mud"), "unknown surface `mud`"),
        (("roll", "--model", "pigeon"), "pigeon"),
        (("roll", "--settle", "slow"), "full"),
        (("batch", 5), "--out DIR"),
        (("batch", 0, "--out", "d"), "must be a whole number from 1 to"),
        (("batch", -5, "--out", "d"), "1 or more"),
        (("batch", 5, "--out", "d", "--workers", 0), "must be a whole number from 1 to"),
        (("batch", 5, "--out", "d", "--chunk-size", 0), "must be a whole number from 1 to"),
        (("batch", 5, "--out", "/dev/null/d"), "cannot be used as a dataset folder"),
        (("stats", "/nothing/there"), "no dataset there"),
        (("score", "trotter", "snoutr"), "did you mean `snouter`"),
        (("score",), "Missing argument"),
        (("model", "show", "pigeon"), "pigeon"),
    ],
)
def test_bad_input_gets_one_line_and_code_2(
    capfd: pytest.CaptureFixture[str], arguments: tuple[object, ...], says: str
) -> None:
    assert says in complaint(capfd, *arguments)


def test_help_and_version() -> None:
    for arguments in ((), ("--help",), ("roll", "--help"), ("batch", "--help"), ("model", "-h")):
        run = physim(*arguments)
        assert (run.returncode, run.stderr) == (0, "") and "Usage: physim" in run.stdout
    assert physim("--version").stdout == "physim, version 0.1.0\n"


def test_score(capfd: pytest.CaptureFixture[str]) -> None:
    assert json_of(capfd, "score", "trotter", "snouter", "--json") == {
        "outcome": "mixed_combo",
        "score": 15,
    }
    touching = json_of(capfd, "score", "other", "trotter", "--touching", "--json")
    assert touching == {"outcome": "oinker", "score": 0}
    assert physim("score", "other", "trotter").stdout == "ambiguous: no points; throw again\n"
    told = physim("score", "t", "up", "--touching").stdout
    assert told == "oinker: 0 points; lose all points of the game\n"
    told = physim("score", "Makin", "Bacon", "--rules", "table").stdout
    assert told == "oinker: 0 points; lose the turn's points\n"


def test_rolls_as_json_lines_have_the_public_names() -> None:
    run = physim("roll", "-n", 3, "--seed", 4, "--index", 7, "--json")
    assert (run.returncode, run.stderr) == (0, "")
    rolls = [json.loads(line) for line in run.stdout.splitlines()]
    assert [roll["index"] for roll in rolls] == [7, 8, 9]
    for roll in rolls:
        assert list(roll) == [*ROLL_KEYS, "engine"] and roll["seed"] == 4
        assert [pig["name"] for pig in roll["pigs"]] == ["black", "pink"]
        for pig in roll["pigs"]:
            assert list(pig) == PIG_KEYS
            assert pig["contacts"] or roll["ended"] == "certain"
            assert all(list(contact) == CONTACT_KEYS for contact in pig["contacts"])
    assert Counts.from_rows(rolls).rolls == 3
    alone = physim("roll", "--seed", 4, "--index", 9, "--json")
    assert alone.stdout == run.stdout.splitlines(keepends=True)[2]


def test_a_roll_as_text_is_three_lines() -> None:
    run = physim("roll", "-n", 2)
    assert run.stderr == "" and len(run.stdout.splitlines()) == 6
    assert run.stdout.startswith("roll 0: ") and "margin" in run.stdout


def test_head_is_quiet() -> None:
    rolls = f'"{sys.executable}" -c "{MAIN}" roll -n 300 --toss drop'
    command = rolls + " | head -n 1; echo ${PIPESTATUS[0]}"
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert run.stderr == "" and run.stdout.splitlines()[1] == "0"


def test_a_full_stdout_is_one_message() -> None:
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [sys.executable, "-c", MAIN, "roll"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert run.returncode == 2
    assert run.stderr.startswith(b"physim: stdout: cannot be written (No space left on device)")
    assert b"; free some space" in run.stderr


def test_a_batch_and_its_statistics(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "d"
    made = physim("batch", 12, "--out", folder, "--workers", 2, "--chunk-size", 5, "--json")
    assert json.loads(made.stdout) == {"out": str(folder), "rolls": 12, "new_rolls": 12}
    again = physim("batch", 12, "--out", folder)
    assert again.stdout == f"{folder}: 12 rolls, 0 of them new\n"
    other = complaint(capfd, "batch", 12, "--out", folder, "--height-mm", 60)
    assert "toss.heights_m: [0.127, 0.203] there, [0.06] here" in other
    stats = json_of(capfd, "stats", folder, "--against", "kern2006", "--json")
    assert isinstance(stats, dict)
    assert stats["rolls"] == 12 and stats["against"]["name"] == "kern2006"
    by_name, by_file = (
        json_of(capfd, "stats", folder, "--against", table, "--json")
        for table in ("kern2006_pairs", table_folder() / "kern2006_pairs.csv")
    )
    assert isinstance(by_name, dict) and isinstance(by_file, dict)
    assert by_file["against"].pop("name") == str(table_folder() / "kern2006_pairs.csv")
    assert by_name["against"].pop("name") == "kern2006_pairs"
    assert by_file == by_name
    with Simulator(Setup.named()) as simulator:
        rolls = [roll_to_json(roll) for roll in simulator.rolls(0, range(12))]
    outcomes = Counts.from_rows(rolls).outcomes
    assert {name: cell["count"] for name, cell in stats["outcomes"].items()} == {
        outcome.value: count for outcome, count in outcomes.items()
    }
    unnamed = tmp_path / "unnamed.csv"
    unnamed.write_text("height_in,black,pink,rolls\n5,other,trotter,3\n")
    refused = complaint(capfd, "stats", folder, "--against", unnamed)
    assert "nothing to compare with" in refused
    (folder / "rolls" / "part-000000000005.parquet").unlink()
    partial = physim("stats", folder)
    assert "holds 7 of 12 rolls" in partial.stderr and partial.returncode == 0
    (folder / "rolls" / "part-000000000000.parquet").unlink()
    assert (
        "unknown table `kern`; did you mean `kern2006`"
        in physim("stats", folder, "--against", "kern").stderr
    )


def test_models(capfd: pytest.CaptureFixture[str]) -> None:
    names = json_of(capfd, "model", "list", "--json")
    assert isinstance(names, list) and "standard" in names
    shown = json_of(capfd, "model", "show", "standard", "--json")
    assert isinstance(shown, dict)
    assert 0.99 < sum(rest["probability"] for rest in shown["stable"]) < 1.01
    assert shown["mass_g"] > 0 and len(shown["size_mm"]) == 3
    assert "stable rests" in physim("model", "show", "standard").stdout


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    command = [sys.executable, "-c", MAIN, "batch", "5000", "--out", str(folder), "--workers", "2"]
    with subprocess.Popen(
        [*command, "--chunk-size", "2"], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as run:
        while not list(folder.rglob("part-*.parquet")):
            time.sleep(0.05)
            assert run.poll() is None
        os.killpg(run.pid, signal.SIGINT)
        _, err = run.communicate(timeout=60)
    assert run.returncode == 130
    assert err.splitlines()[-1] == (
        f"physim: interrupted; what was finished is kept in {folder}: run the same command to go on"
    )


def test_a_label_of_several_parts_is_told_once() -> None:
    """An added model has several parts of one name; each has its own contact in the JSON."""
    place = np.zeros(3)
    parts = ("trunk", "trunk", "head", "head", "left_ear")
    contacts = tuple(Contact(part, TABLE, "", 0.0, place) for part in parts)
    both = tuple(Contact("trunk", "pink", "snout", 0.0, place) for _ in range(2))
    with Simulator(Setup.named()) as simulator:
        roll = simulator.roll(1, 0)
    pigs = (replace(roll.pigs[0], contacts=contacts + both), roll.pigs[1])
    line = roll_text(replace(roll, pigs=pigs)).splitlines()[1]
    assert line.endswith("on trunk, head, left_ear, trunk at pink's snout")


@pytest.mark.skipif(not HAS_PYBULLET, reason="needs PyBullet")
@pytest.mark.parametrize(("engine", "told"), [("pybullet", True), ("compiled", False)])
def test_a_large_batch_is_told_of_the_faster_engine(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    engine: str,
    told: bool,
) -> None:
    monkeypatch.setattr("physim.cli.batch._MANY", 3)
    with pytest.raises(SystemExit) as stop:
        main(["batch", "3", "--engine", engine, "--out", str(tmp_path / "out"), "--workers", "1"])
    assert stop.value.code == 0
    assert ("--engine compiled" in capfd.readouterr().err) == told
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    written = manifest["configuration"]["engine"].get("engine", "pybullet")
    assert manifest["names"]["engine"] == written == engine

"""`physim bench`, as a user runs it."""

import json

import pytest

from physim.bench import benchmark
from physim.cli import bench as command
from physim.cli.bench import NAMES
from physim.cli.main import main
from physim.config import HAS_PYBULLET
from physim.errors import how_to_install
from physim.types import Pose

from .conftest import needs_mujoco

pytestmark = pytest.mark.skipif(not HAS_PYBULLET, reason="needs PyBullet")
ROW_KEYS = {"name", "rolls_per_second", "time_step_s", "poses"}


def run(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["bench", *(str(argument) for argument in arguments)])
    assert isinstance(stop.value.code, int)
    return stop.value.code, *capfd.readouterr()


def test_names_are_those_of_the_engines() -> None:
    assert NAMES == benchmark.NAMES


@needs_mujoco
def test_json_has_the_promised_fields(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capfd, "-n", 2, "--rounds", 1, "--seed", 3, "--json")
    result = json.loads(out)
    assert code == 0
    assert [row["name"] for row in result["rows"]] == list(NAMES)
    assert (result["seed"], result["rounds"], result["toss"]) == (3, 1, "trapdoor")
    for row in result["rows"]:
        assert row.keys() >= ROW_KEYS
        assert 0 < row["rolls_per_second"] < 1e5
        assert row["time_step_s"] == 1 / (8192 if row["name"] == "mujoco_fine" else 2048)
        assert list(row["poses"]) == [pose.value for pose in Pose]
        assert sum(cell["count"] for cell in row["poses"].values()) <= 4
        assert row["rolls"] == 2
        assert row["ratio_low"] == row["ratio"] == row["ratio_high"] > 0
    distances = {row["name"]: row["to_physim_full"] for row in result["rows"]}
    assert distances["physim_full"] is None
    assert distances["physim"]["tv"] == 0


def test_table_of_one_contestant(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capfd, "-n", 2, "--rounds", 2, "--only", "physim")
    assert code == 0
    assert out.splitlines()[0].split()[0] == "rolls/s"
    assert [line for line in out.splitlines() if line.startswith("plain")] == []
    assert "2 of 2 rolls" in err


def test_a_missing_mujoco_is_left_out_with_a_line_that_says_how_to_get_it(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "mujoco" else True)
    missing = f"`mujoco` is not installed; get it with: {how_to_install('mujoco')}"
    code, out, err = run(capfd, "-n", 1, "--rounds", 1, "--json")
    assert code == 0
    assert [row["name"] for row in json.loads(out)["rows"]] == [
        name for name in NAMES if not name.startswith("mujoco")
    ]
    assert [line for line in err.splitlines() if "pip install" in line] == [
        f"physim: no rows mujoco, mujoco_fine: {missing}"
    ]
    code, out, err = run(capfd, "--only", "mujoco", "-n", 1, "--rounds", 1)
    assert (code, out) == (2, "")
    assert err == f"physim: {missing}\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("-n", 0), "from 1 to"),
        (("-n", 10**9), "from 1 to"),
        (("--rounds", 0), "from 1 to 1000"),
        (("-n", 3, "--rounds", 4), "must not exceed -n (3)"),
        (("--only", "bullet"), "plain_pybullet"),
        (("--seed", -1), "from 0 to"),
        (("--model", "pigeon"), "pigeon"),
        (("--toss", "trapdor"), "did you mean `trapdoor`"),
        (("--surface", "mud"), "unknown surface"),
        (("--time-step-s", "1/1000"), "1/256"),
        (("--height-mm", 0), "1 to 3000"),
        (("extra",), "unexpected extra argument"),
    ],
)
def test_bad_input(
    capfd: pytest.CaptureFixture[str], arguments: tuple[object, ...], says: str
) -> None:
    code, out, err = run(capfd, *arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1

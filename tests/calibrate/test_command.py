"""`physim calibrate`, end to end, with rolls."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from physim.calibrate import posterior
from physim.calibrate.checkpoint import read_checkpoint
from physim.calibrate.export import write_model
from physim.calibrate.priors import read_fit, read_origin, setup, values_of
from physim.cli.main import main
from physim.errors import ConfigError
from physim.pigs.model import load_model
from physim.pigs.model_file import model_folder
from physim.simulator import Setup
from physim.tosses.release import from_mapping

NAMES = "com_forward_mm,restitution,toss.pitch_rate_rad_s"
TINY = ["--parameters", NAMES, "--rolls", "4", "--population", "4", "--final-rolls", "6"]


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "physim", "calibrate", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def refused(capfd: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[str, str]:
    """Stdout and stderr of a command, run here, that ends with code 2."""
    with pytest.raises(SystemExit) as ended:
        main(["calibrate", *map(str, arguments)])
    assert ended.value.code == 2
    told = capfd.readouterr()
    return told.out, told.err


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A fit of two generations, made by one worker in two goes."""
    out = tmp_path_factory.mktemp("fits") / "one"
    first = command("--out", out, *TINY, "--generations", "1", "--workers", "1")
    assert first.returncode == 0, first.stderr
    run = command("--out", out, *TINY, "--generations", "2", "--workers", "1", "--json")
    assert run.returncode == 0, run.stderr
    assert "1 generations were there already" in run.stderr
    assert "generation 2 of 2" in run.stderr
    return out, json.loads(run.stdout)


def test_the_result_tells_values_and_how_they_came_about(made: tuple[Path, Any]) -> None:
    out, told = made
    written = yaml.safe_load((out / "fit.yaml").read_text())
    assert {name: entry["value"] for name, entry in told["parameters"].items()} == read_fit(out)
    assert list(written["parameters"]) == NAMES.split(",")
    assert written["budget"] == {
        "search_rolls": 4 * (4 + 6),
        "earlier_rolls": 0,
        "final_rolls": 6,
        "refinements": 0,
        "waves": 0,
        "wave_rolls": 0,
        "generations": 2,
        "ended_by_itself": False,
        "candidates": 8,
        "refused": 0,
    }
    assert written["target"]["rolls"] == 6000 and written["schedule"]["seed"] == 0
    assert written["goodness_of_fit"] == told["goodness_of_fit"]
    assert written["made_with"][0]["versions"]["physim"]


def test_the_fit_does_not_depend_on_the_workers(made: tuple[Path, Any], tmp_path: Path) -> None:
    out, told = made
    run = command(
        "--out", tmp_path / "two", *TINY, "--generations", "2", "--workers", "2", "--json"
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) | {"out": ""} == told | {"out": ""}
    for name in ("fit.yaml", "toss.yaml", "model/model.yaml"):
        assert (tmp_path / "two" / name).read_bytes() == (out / name).read_bytes()
    kept = [
        json.loads((folder / "checkpoint.json").read_text()) for folder in (tmp_path / "two", out)
    ]
    del kept[1]["steps"]["estimate 0 after 1 generations, 6 rolls"]  # `made` stopped there
    assert kept[0] == kept[1]


def test_the_fitted_pig_and_toss_are_those_that_were_rolled(made: tuple[Path, Any]) -> None:
    out, _ = made
    values = read_fit(out)
    base = Setup.named("standard_before_fit", toss="trapdoor_before_fit")
    fitted = Setup.named(out / "model")
    expected = setup(base, values)
    assert fitted.black.vertices_m == pytest.approx(expected.black.vertices_m, abs=1e-9)
    assert fitted.black.restitution == pytest.approx(expected.black.restitution)
    entry = yaml.safe_load((out / "toss.yaml").read_text())["fitted"]
    assert from_mapping(entry, "here") == expected.toss
    names = [name for name in values if not name.startswith("toss.")]
    assert values_of(fitted, names) == pytest.approx({name: values[name] for name in names})


def test_ctrl_c_keeps_what_was_finished(tmp_path: Path) -> None:
    arguments = ["--out", str(tmp_path), *TINY, "--generations", "5000", "--workers", "2"]
    run = subprocess.Popen(
        [sys.executable, "-m", "physim", "calibrate", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stderr is not None
    for line in run.stderr:
        if line.startswith("generation 2"):
            break
    run.send_signal(signal.SIGINT)
    out, error = run.communicate(timeout=120)
    assert run.returncode == 130 and out == ""
    assert f"is kept in {tmp_path}" in error and "Traceback" not in error
    kept = read_checkpoint(tmp_path)
    assert kept is not None and len(kept.steps) >= 2


def test_another_fit_may_start_from_its_result(made: tuple[Path, Any], tmp_path: Path) -> None:
    out, _ = made
    run = command(
        *("--out", tmp_path / "next", *TINY, "--generations", "1", "--workers", "1"),
        *("--start", out, "--json"),
    )
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert {name: e["start"] for name, e in told["parameters"].items()} == read_fit(out)


def test_surfaces_end_with_a_posterior(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for steps in ("_BURN_EACH", "_STEPS_EACH", "_LEAST_BURN", "_LEAST_STEPS"):
        monkeypatch.setattr(posterior, steps, 20)
    with pytest.raises(SystemExit) as ended:
        main(
            [
                *("calibrate", "--out", str(tmp_path), *TINY, "--generations", "1"),
                *("--workers", "1", "--method", "surface", "--population", "8", "--json"),
            ]
        )
    told = capfd.readouterr()
    assert ended.value.code == 0, told.err
    assert told.err.count("drawing what the real rolls leave open") == 2  # for wave and result
    result = json.loads(told.out)
    assert result["method"] == "surface"
    for entry in result["parameters"].values():
        low, high = entry["posterior_95"]
        assert low < entry["posterior_mean"] < high and entry["posterior_sd"] > 0
        assert entry["low"] <= low and high <= entry["high"]
    budget = result["budget"]
    assert budget["refinements"] == budget["waves"] == 1  # unless told otherwise
    assert 0 < budget["wave_rolls"] <= 8 * 4
    assert budget["final_rolls"] == 2 * 6  # the first estimate and the refined one
    values = {name: entry["value"] for name, entry in result["parameters"].items()}
    assert read_fit(tmp_path) == values


def test_another_command_in_the_same_folder_is_refused(
    made: tuple[Path, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    out, _ = made
    arguments = ("--out", out, *TINY, "--generations", "2", "--seed", "5", "--workers", "1")
    told, error = refused(capfd, *arguments)
    assert told == "" and "schedule.seed: 0 there, 5 here" in error


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--out", "x", "--parameters", "comm"], "unknown parameter `comm`"),
        (["--out", "x", "--table", "kern2006"], "counts single pigs"),
        (["--out", "x", "--toss", "drop"], "is from 150 mm, the real rolls from 127 and 203 mm"),
        (["--out", "x", "--start", "nowhere"], "unknown start `nowhere` (valid: model, prior"),
        (["--out", "x", "--rolls", "1"], "must be a whole number"),
        (["--out", "x", "--method", "surface", "--population", "4"], "too few for surfaces of"),
        (["--out", "x", "--refine", "1"], "refinements and waves are of use to the method"),
        ([], "give a folder with --out DIR"),
    ],
)
def test_bad_input_is_told_in_one_line(
    arguments: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    out, error = refused(capfd, *arguments)
    assert out == "" and told in error and len(error.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_without_the_optimiser_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "cmaes", None)
    out, error = refused(capfd, "--out", tmp_path / "x")
    assert out == "" and "-m pip install cmaes emcee matplotlib" in error
    assert not (tmp_path / "x").exists()


def test_without_the_sampler_it_says_so_before_anything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "emcee", None)
    out, error = refused(capfd, "--out", tmp_path / "x", "--method", "surface")
    assert out == "" and "-m pip install cmaes emcee matplotlib" in error
    assert not (tmp_path / "x").exists()


def test_the_parameters_are_listed(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["calibrate", "--list"])
    lines = capfd.readouterr().out.splitlines()
    assert ended.value.code == 0 and max(map(len, lines)) <= 80
    names = {line.split()[0] for line in lines[1:]}
    assert {"com_up_mm", "friction", "toss.slide_m_s", "shape.snout_tilt_deg"} <= names
    with pytest.raises(SystemExit):
        main(["calibrate", "--list", "--json"])
    told = json.loads(capfd.readouterr().out)["parameters"]
    assert set(told) == names and told["friction"]["low"] == 0.2


def test_a_shape_is_written_and_built(tmp_path: Path) -> None:
    values = {"shape.snout_x_mm": 19.0, "com_left_mm": 0.1, "friction": 0.42}
    folder = write_model(tmp_path / "pig", "standard", values)
    model, expected = load_model(folder), setup(Setup.named(), values).black
    assert model.length_m == pytest.approx(expected.length_m, abs=2e-6)
    assert model.lateral_friction == pytest.approx(0.7)
    text = (folder / "model.yaml").read_text()
    assert "snout_x_mm: 19.0" in text and "left_ear_up_mm: -1.8" in text
    assert (folder / "computed.json").is_file()


def test_what_is_no_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no result of a fit"):
        read_fit(model_folder("standard") / "model.yaml")
    with pytest.raises(ConfigError, match="holds no result of a fit"):
        read_fit(tmp_path)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_fit(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ("{}", "has no `parameters`"),
        ("{friction: {value: .nan}}", "friction: `value` must be a finite number"),
        ("{friction: {value: 0}}", "friction: `value` must lie in [0.2, 0.8]"),
        ("{com_up_mm: {value: 1.0e+300}}", "com_up_mm: `value` must lie in [-1, 1]"),
        ("{shape.head_z_mm: {value: 9, low: 10, high: 11}}", "must lie in [10, 11]"),
        ("{shape.wing_mm: {value: 9}}", "unknown key `shape.wing_mm`"),
        ("{frictoin: {value: 0.3}}", "did you mean `friction`?"),
    ],
)
def test_values_that_no_fit_can_have_are_refused(entries: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "fit.yaml").write_text(f"parameters: {entries}\n")
    with pytest.raises(ConfigError) as refusal:
        read_fit(tmp_path)
    assert told in str(refusal.value) and "fit.yaml: " in str(refusal.value)


@pytest.mark.parametrize(
    "line", ["base: x", "base: {model: 3}", "base: {toss: ''}", "schedule: {seed: true}"]
)
def test_an_origin_that_is_none_is_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "fit.yaml").write_text(f"{line}\nparameters: {{friction: {{value: 0.3}}}}\n")
    with pytest.raises(ConfigError, match=r"fit\.yaml: "):
        read_origin(tmp_path)

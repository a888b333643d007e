"""`physim validate` and `physim sensitivity` on a few rolls of real physics."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from physim.cli.main import main
from physim.simulator import Setup
from tests.cli.test_commands import complaint, json_of

FEW = ("--rolls", 8, "--fewer-rolls", 6, "--workers", 1, "--seed", 9)


def test_validate_writes_what_it_prints_and_resumes(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ("validate", *FEW, "--out", tmp_path, "--no-plot", "--json")
    arguments += ("--only", "settle", "--only", "step", "--only", "poses")
    first = json_of(capfd, *arguments)
    assert json.loads((tmp_path / "validation.json").read_text()) == first
    assert isinstance(first, dict)
    assert first["samples"]["main"]["rolls"] == 8
    assert first["samples"]["full_settle"]["rolls"] == 6
    assert first["checks"][-1]["name"] == "settle.differing_rolls"
    assert first["checks"][-1]["value"] == 0
    parts = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    assert len(parts) == 3
    assert json_of(capfd, *arguments) == first
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")} == parts


def test_sensitivity_in_text(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    arguments = ["sensitivity", "--rolls", "8", "--workers", "1", "--out", str(tmp_path)]
    with pytest.raises(SystemExit) as stop:
        main([*arguments, "--parameters", "com_up_mm, friction"])
    assert stop.value.code == 0
    out, err = capfd.readouterr()
    assert "com_up_mm (+0.3 mm)" in out and "sample 5 of 5: friction.high" in err
    plain = json.loads((tmp_path / "sensitivity.json").read_text())
    assert [one["name"] for one in plain["parameters"]] == ["com_up_mm", "friction"]
    assert (tmp_path / "sensitivity.png").stat().st_size > 1_000
    samples = {path.parent.name for path in (tmp_path / "rolls").glob("*/manifest.json")}
    sides = {f"{name}.{side}" for name in ("com_up_mm", "friction") for side in ("low", "high")}
    assert samples == {"base", *sides}


def test_a_missing_plotting_library_is_told_before_anything_is_rolled(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for command in ("validate", "sensitivity"):
        line = complaint(capfd, command, "--out", tmp_path)
        assert "needs `matplotlib`, which is not installed" in line and "--no-plot" in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("validate",), "--out"),
        (("validate", "--only", "luck"), "luck"),
        (("validate", "--toss", "hand"), "127 and 203 mm"),
        (("validate", "--table", "kern2006"), "single pigs"),
        (("validate", "--fit", "nowhere.yaml"), "nowhere.yaml"),
        (("sensitivity", "--parameters", "com_upp_mm"), "did you mean `com_up_mm`"),
        (("sensitivity", "--step", "0"), "--step"),
        (("sensitivity", "--step", "1e-20"), "--step"),
        (("sensitivity", "--parameters", ""), "name at least one parameter"),
        (("sensitivity", "--toss", "drop"), "127 and 203 mm"),
    ],
)
def test_bad_input_is_one_message(
    arguments: tuple[str, ...], told: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    more = () if told == "--out" else ("--out", tmp_path / "new")
    assert told in complaint(capfd, *arguments, *more)
    assert not (tmp_path / "new").exists()


def test_a_fit_brings_the_pig_it_set_out_from_and_refuses_its_seed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fit = tmp_path / "fit.yaml"
    fit.write_text(
        "base: {model: standard_before_fit, toss: trapdoor_before_fit}\n"
        "parameters: {friction: {value: 0.3}}\n"
        "schedule: {seed: 20}\n"
    )
    arguments = ("validate", *FEW, "--out", tmp_path / "out", "--fit", fit, "--no-plot")
    arguments += ("--only", "settled")
    line = complaint(capfd, *arguments)
    assert "the fit used the seed 20" in line and "--seed 9" in line
    text = fit.read_text()
    fit.write_text(text.replace("{friction", "{toss.slide_m_s: {value: 0.1}, friction"))
    line = complaint(capfd, *arguments, "--toss", "hand", "--seed", 21)
    assert "the toss has no `slide_m_s`" in line
    fit.write_text(text)
    found = json_of(capfd, *arguments, "--seed", 21, "--json")
    assert isinstance(found, dict)
    assert found["asked"]["model"] == "standard_before_fit"
    assert found["asked"]["toss"] == "trapdoor_before_fit"
    manifest = json.loads(next((tmp_path / "out").rglob("manifest.json")).read_text())
    resolved = json.dumps(manifest)
    before = Setup.named("standard_before_fit", toss="trapdoor_before_fit")
    assert f'"mass_kg": {before.black.mass_kg}' in resolved
    assert f'"separation_m": {before.toss.separation_m}' in resolved

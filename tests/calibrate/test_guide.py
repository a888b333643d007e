"""The example of docs/calibration.md runs, and its commands have the options that it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from physim.calibrate.problem import FitProblem
from physim.cli.calibrate import calibrate

GUIDE = (Path(__file__).parents[2] / "docs" / "calibration.md").read_text(encoding="utf-8")


def test_the_example_runs() -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```", GUIDE, re.M | re.S)
    names: dict[str, object] = {}
    exec(example.replace("count=100", "count=8"), names)
    assert names["sample"].rolls == 8  # type: ignore[attr-defined]


def test_the_example_of_own_rolls_is_one_that_a_fit_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind, name in (("csv", "counts.csv"), ("yaml", "rig.yaml")):
        (example,) = re.findall(rf"^```{kind}\n(my-rig.*?|height_in.*?)^```", GUIDE, re.M | re.S)
        (tmp_path / name).write_text(example)
    (command,) = re.findall(r"physim calibrate (--table.*?)\n    physim batch", GUIDE, re.S)
    words = command.replace("\\\n", " ").split()
    named = dict(zip(words[::2], words[1::2], strict=True))
    monkeypatch.chdir(tmp_path)
    problem = FitProblem.named(
        parameters=named["--parameters"].split(","),
        **{key: named[f"--{key}"] for key in ("table", "toss", "model", "method")},  # type: ignore[arg-type]
    )
    assert problem.objective.real.rolls == 150
    assert problem.objective.real.heights_mm == (100, 200)


def test_every_option_that_is_named_is_one() -> None:
    known = {name for option in calibrate.params for name in option.opts}
    text = re.sub(r"physim (batch|stats|validate)[^\n]*", "", GUIDE)
    named = set(re.findall(r"(?<!-)--[a-z][a-z-]*", text))
    assert named and named <= known

"""`examples/research/fit.py`: halves, castings apart, and the samples of other fits."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from physim.calibrate.checkpoint import read_checkpoint
from physim.calibrate.problem import FitProblem
from physim.calibrate.target import HeightCounts, Objective, load_target
from physim.errors import ConfigError
from physim.files import data_folder
from physim.simulator import Setup
from tests.calibrate.made_up import HEIGHTS, SPACE, TRUTH, real_rolls

SCRIPT = Path(__file__).parents[2] / "examples" / "research" / "fit.py"
FITS = data_folder("calibration") / "fits"


@pytest.fixture(scope="module")
def script() -> Iterator[dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPT.parent))  # as Python does for a script
        yield runpy.run_path(str(SCRIPT))


def test_the_shipped_fit_rests_on_the_samples_of_the_others(script: dict[str, Any]) -> None:
    shipped = read_checkpoint(FITS / "standard")
    assert shipped is not None
    problem = script["problem_of"](
        None,
        by_pig=False,
        parameters=tuple(shipped.configuration["parameters"]),
        method="surface",
        samples=[FITS / name for name in ("one", "two", "three")],
        generations=0,
    )
    found = problem.configuration()
    assert found["samples"] == shipped.configuration["samples"] and problem.generations == 0
    assert found["base"]["black"] == shipped.configuration["base"]["black"]
    assert found["base"]["toss"] == shipped.configuration["base"]["toss"]


def test_samples_of_other_pigs_are_refused(script: dict[str, Any], tmp_path: Path) -> None:
    other = FitProblem.named(model="standard", method="surface", engine="pybullet")
    with pytest.raises(ConfigError, match=r"base\.black\.parts_sha256: "):
        script["prior_runs"]([FITS / "one"], other)
    fewer = FitProblem.named(
        parameters=("com_up_mm", "friction"), method="surface", engine="pybullet"
    )
    with pytest.raises(ConfigError, match=r"parameters\.restitution"):
        script["prior_runs"]([FITS / "one"], fewer)
    with pytest.raises(ConfigError, match="holds no fit"):
        script["prior_runs"]([tmp_path], fewer)


def test_pigs_that_differ_are_seen_by_pig_alone(script: dict[str, Any]) -> None:
    real = real_rolls()
    counts = Counter(real.counts)
    for height in HEIGHTS:
        for pig, moved in (("black", 100), ("pink", -100)):
            counts[height, pig, "trotter"] += moved
            counts[height, pig, "razorback"] -= moved
    sample, by_pig = HeightCounts(counts), script["EachPig"](real, SPACE)
    assert Objective(real, SPACE)(sample, TRUTH).g == pytest.approx(0, abs=1e-9)
    assert by_pig(sample, TRUTH).p < 1e-6 and by_pig(real, TRUTH).p == 1


def test_castings_lie_to_both_sides(script: dict[str, Any]) -> None:
    base = Setup.named("standard_before_fit")
    two = script["castings"](base, {"com_left_mm": 0.1, "com_left_difference_mm": 0.4})
    lefts = [1e3 * (base.black.vertices_m - pig.vertices_m)[0, 1] for pig in (two.black, two.pink)]
    assert lefts == pytest.approx([0.3, -0.1])


@pytest.mark.slow
def test_it_fits_a_half_with_two_castings(tmp_path: Path) -> None:
    names = "com_up_mm,com_up_difference_mm"
    command = ["--parameters", names, "--rolls", "4", "--population", "4", "--final-rolls", "4"]
    run = subprocess.run(
        [
            *(sys.executable, str(SCRIPT), *command, "--generations", "1", "--half", "2"),
            *("--workers", "2", "--json", "--out", str(tmp_path)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert set(told["parameters"]) == set(names.split(",")) and told["target"]["rolls"] == 3000
    pair = Setup.named(black=tmp_path / "model_black", pink=tmp_path / "model_pink")
    lower = (pair.black.vertices_m - pair.pink.vertices_m)[0, 2]
    difference_mm = told["parameters"]["com_up_difference_mm"]["value"]
    assert 1e3 * lower == pytest.approx(-difference_mm, abs=1e-5)


def test_bad_input_is_told(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, str(SCRIPT), "--out", str(tmp_path), "--samples", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2 and "of use to the method `surface` alone" in run.stderr
    assert load_target(half=1) + load_target(half=2) == load_target()

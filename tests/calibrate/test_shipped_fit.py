"""The fit that is shipped: the standard pig and its toss are what it says they are."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml

from physim.calibrate.checkpoint import read_checkpoint
from physim.calibrate.fit import rounded
from physim.calibrate.priors import Space, known_parameters, read_fit, values_of
from physim.files import data_folder
from physim.simulator import Setup

FITS = data_folder("calibration") / "fits"
BEFORE = ("one", "two", "three")  # whose samples `standard` rests on
INDEPENDENT = ("one", "two_further", "three_further")
FIT_NAMES = (*BEFORE, *INDEPENDENT[1:], "standard")


@cache
def before() -> Setup:
    return Setup.named("standard_before_fit", toss="trapdoor_before_fit")


@pytest.fixture(scope="module")
def shipped() -> dict[str, float]:
    return read_fit(FITS / "standard")


def test_the_standard_pig_and_its_toss_have_the_fitted_values(shipped: dict[str, float]) -> None:
    assert values_of(Setup.named(), shipped) == pytest.approx(shipped, abs=1e-6)


def test_what_was_before_the_fit_is_still_there(shipped: dict[str, float]) -> None:
    parameters = known_parameters(before())
    values = values_of(before(), shipped)
    far = {
        name: (value - values[name]) / parameters[name].prior_sd for name, value in shipped.items()
    }
    assert max(map(abs, far.values())) > 0.5
    for name, value in shipped.items():
        assert parameters[name].low < value < parameters[name].high


@pytest.mark.parametrize("name", FIT_NAMES)
def test_each_fit_says_how_it_came_about(name: str) -> None:
    fit = yaml.safe_load((FITS / name / "fit.yaml").read_text(encoding="utf-8"))
    assert fit["target"] == {
        "table": "kern2006_pairs",
        "half": None,
        "rolls": 6000,
        "by_pig": False,
    }
    assert fit["base"] == {"model": "standard_before_fit", "toss": "trapdoor_before_fit"}
    if name in (*INDEPENDENT, "standard"):
        assert fit["goodness_of_fit"]["tv"] < 0.02
    assert fit["made_with"][0]["versions"]["pybullet"]


@pytest.mark.parametrize("name", FIT_NAMES)
def test_the_result_is_that_of_the_checkpoint(name: str) -> None:
    kept, values = read_checkpoint(FITS / name), read_fit(FITS / name)
    assert kept is not None
    *_, final = kept.evaluations()
    space = Space.of(values, known_parameters(before()))
    assert rounded(space, np.array(final.point)) == values
    fit = yaml.safe_load((FITS / name / "fit.yaml").read_text(encoding="utf-8"))
    assert final.sample is not None and final.sample.to_json() == fit["final_sample"]
    assert fit["samples"] == kept.configuration.get("samples", [])


def test_independent_fits_have_other_seeds_and_starts() -> None:
    kept = [read_checkpoint(FITS / name) for name in INDEPENDENT]
    seeds = {found.configuration["schedule"]["seed"] for found in kept if found}
    starts = {json.dumps(found.configuration["start"]) for found in kept if found}
    assert len(seeds) == len(starts) == len(kept)
    assert all(Path(FITS / name / "checkpoint.json.gz").is_file() for name in FIT_NAMES)

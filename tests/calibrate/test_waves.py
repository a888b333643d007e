"""Candidates drawn from the posterior, and what they tell it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from physim.calibrate.checkpoint import FILE_NAME, read_checkpoint
from physim.calibrate.fit import Fit, run
from physim.calibrate.problem import SURFACE, FitProblem
from physim.errors import DatasetError
from tests.calibrate.made_up import MadeUp, problem, real_rolls

FEW = 300  # real rolls, so that much is left open


def given(waves: int, refinements: int = 1) -> FitProblem:
    return problem(
        real_rolls(rolls=FEW),
        generations=1,
        rolls=100,
        method=SURFACE,
        refinements=refinements,
        waves=waves,
    )


@pytest.fixture(autouse=True, scope="module")
def cheap_draws() -> Iterator[None]:
    """Stands for a posterior: draws about the estimate."""

    def with_posterior(fit: Fit, *_: object) -> Fit:
        draws = np.random.default_rng(1).normal(fit.estimate.mean, 0.3, (500, 3))
        return replace(fit, draws=np.clip(draws, 0.0, 1.0))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Fit, "with_posterior", with_posterior)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The checkpoint of a fit with a wave."""
    folder = tmp_path_factory.mktemp("fits") / "whole"
    widened(folder, 1)
    return (folder / FILE_NAME).read_text()


def widened(folder: Path, waves: int, rolls: MadeUp | None = None, refinements: int = 1) -> Fit:
    folder.mkdir(exist_ok=True)
    return run(given(waves, refinements), rolls or MadeUp(), folder)


def test_its_rolls_make_the_emulator_certain(tmp_path: Path) -> None:
    """Far from the region of the search, where the posterior reaches."""
    fits = [widened(tmp_path / "fit", waves) for waves in (0, 2)]
    far = np.array([[1.9, -1.9, 1.9], [-1.9, -1.9, 1.9], [1.9, 1.9, -1.9]])
    variances = []
    for fit in fits:
        observed, *_ = fit.log_posterior(given(0)).observed
        covariance = observed.emulator.log_odds(far, observed.heights)[1]
        variances.append(covariance.trace(axis1=1, axis2=2))
    assert (variances[1] < 0.7 * variances[0]).all()
    assert fits[1].values == fits[0].values  # the estimate stays
    assert [len(wave) for wave in fits[1].waves] == [32, 32]


def test_it_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    widened(tmp_path / "whole", 2)
    with pytest.raises(KeyboardInterrupt):
        widened(tmp_path / "stopped", 2, MadeUp(stop_before=4))  # a generation, two estimates, one
    kept = read_checkpoint(tmp_path / "stopped")
    assert kept is not None and len(kept.steps) == 4
    again = MadeUp()
    widened(tmp_path / "stopped", 2, again)
    assert again.calls == 1
    files = [(tmp_path / name / FILE_NAME).read_bytes() for name in ("whole", "stopped")]
    assert files[0] == files[1]


def test_each_fit_has_the_waves_of_its_own_posterior(tmp_path: Path) -> None:
    widened(tmp_path / "fit", 1)
    rolls = MadeUp()
    more = widened(tmp_path / "fit", 1, rolls, refinements=2)
    assert rolls.calls == 2  # an estimate, and a wave from its posterior
    assert len(more.waves) == 1
    assert sum(step.startswith("wave") for step in more.checkpoint.steps) == 2
    assert not widened(tmp_path / "fit", 0).waves


def test_refused_candidates_are_told_and_left_out(tmp_path: Path) -> None:
    told: list[str] = []
    run(given(0, 0), MadeUp(), tmp_path)
    picky = MadeUp(refuses=lambda values: "no" if values["lead"] > 1.0 else "")
    fit = run(given(1, 0), picky, tmp_path, tell=told.append)
    left = sum(one.sample is not None for one in fit.waves[0])
    assert 0 < left < 32
    assert told[-1] == f"wave 1: {left} candidates of the posterior, {32 - left} refused"


@pytest.mark.parametrize(
    "damage",
    [
        lambda wave: wave.clear(),
        lambda wave: wave[0].update(sample={}),
        lambda wave: wave[0]["sample"]["127"].update(touching=1e999),
        lambda wave: wave[0]["sample"]["127"].update(touching=10**6),
        lambda wave: wave[0]["sample"]["127"].update(rolls=-5),
        lambda wave: wave[0].update(point=[1e300, 0.0, 0.0]),
        lambda wave: wave[0].pop("sample"),
    ],
)
def test_damaged_waves_are_refused(
    whole: str, tmp_path: Path, damage: Callable[[list[Any]], None]
) -> None:
    data = json.loads(whole)
    damage(data["steps"]["wave 1 about estimate 1 after 1 generations, 40000 rolls"])
    (tmp_path / FILE_NAME).write_text(json.dumps(data))
    with pytest.raises(DatasetError, match="no usable checkpoint"):
        read_checkpoint(tmp_path)

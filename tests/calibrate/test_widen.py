"""Candidates drawn from the posterior, and what they tell it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from physim.calibrate.checkpoint import FILE_NAME, read_checkpoint
from physim.calibrate.earlier import earlier_samples
from physim.calibrate.fit import SURFACE, Fit, Problem, run
from physim.calibrate.posterior import density_about
from physim.calibrate.search import Posterior
from physim.calibrate.waves import refine, widen
from physim.errors import DatasetError
from tests.calibrate.made_up import TRUTH, MadeUp, at_prior, problem, real_rolls

FEW = 300  # real rolls, so that much is left open


def given() -> Problem:
    return problem(real_rolls(rolls=FEW), generations=1, rolls=100, method=SURFACE)


def spread(fit: Fit) -> Posterior:
    """Stands for a posterior: cheap draws about the estimate."""
    rng = np.random.default_rng(1)
    return Posterior(np.clip(rng.normal(fit.estimate.mean, 0.3, (500, 3)), 0.0, 1.0))


def widened(folder: Path, waves: int, rolls: MadeUp | None = None, refinements: int = 1) -> Fit:
    folder.mkdir(exist_ok=True)
    rolls = rolls or MadeUp()
    fit = run(given(), rolls, folder, at_prior)
    fit = refine(given(), rolls, folder, fit, refinements)
    return widen(given(), rolls, folder, fit, waves, spread)


def test_its_rolls_settle_what_the_emulator_doubted(tmp_path: Path) -> None:
    """Far from the region of the search, where the posterior reaches."""
    fits = [widened(tmp_path / "fit", waves) for waves in (0, 2)]
    far = np.array([[1.9, -1.9, 1.9], [-1.9, -1.9, 1.9], [1.9, 1.9, -1.9]])
    doubts = []
    for fit in fits:
        (emulator, heights), *_ = [
            (kind.emulator, kind.heights) for kind in density_about(given(), fit).observed
        ]
        doubts.append(emulator.log_odds(far, heights)[1].trace(axis1=1, axis2=2))
    assert (doubts[1] < 0.7 * doubts[0]).all()
    assert fits[1].values == fits[0].values  # the estimate stays
    assert len(fits[1].candidates()) == 3 * 32 and fits[1].waves == 2


def test_it_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    widened(tmp_path / "whole", 2)
    with pytest.raises(KeyboardInterrupt):
        widened(tmp_path / "stopped", 2, MadeUp(stop_before=4))  # a generation, two estimates, one
    kept = read_checkpoint(tmp_path / "stopped")
    assert kept is not None and len(kept.waves) == 1
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
    assert len(more.kept_waves()) == 1 and len(more.checkpoint.waves) == 2
    fewer = widened(tmp_path / "fit", 0)
    assert len(fewer.candidates()) == 32


def test_refused_candidates_are_told_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "fit").mkdir()
    told: list[str] = []
    fit = run(given(), MadeUp(), tmp_path / "fit", at_prior)
    picky = MadeUp(refuses=lambda values: "no" if values["lead"] > 1.0 else "")
    fit = widen(given(), picky, tmp_path / "fit", fit, 1, spread, tell=told.append)
    left = len(fit.candidates()) - 32
    assert 0 < left < 32
    assert told == [f"wave 1: {left} candidates of the posterior, {32 - left} refused"]


def test_other_fits_get_these_samples_too(tmp_path: Path) -> None:
    widened(tmp_path / "fit", 1)
    earlier, _ = earlier_samples([tmp_path / "fit"], given(), TRUTH)
    assert len(earlier) == 32 + 2 + 32


@pytest.mark.parametrize(
    "damage",
    [
        lambda wave: wave.update(after=[1]),
        lambda wave: wave.update(found=[]),
        lambda wave: wave["found"][0]["record"].update(sample={}),
        lambda wave: wave["found"][0]["record"]["sample"]["127"].update(touching=1e999),
        lambda wave: wave["found"][0]["record"]["sample"]["127"].update(touching=10**6),
        lambda wave: wave["found"][0]["record"]["sample"]["127"].update(rolls=-5),
        lambda wave: wave["found"][0].update(point=[1e300, 0.0, 0.0]),
        lambda wave: wave["found"][0].update(record=["sample"]),
    ],
)
def test_damaged_waves_are_refused(
    tmp_path: Path, damage: Callable[[dict[str, Any]], None]
) -> None:
    widened(tmp_path / "fit", 1)
    path = tmp_path / "fit" / FILE_NAME
    data = json.loads(path.read_text())
    damage(data["waves"][0])
    path.write_text(json.dumps(data))
    with pytest.raises(DatasetError, match="no usable checkpoint"):
        read_checkpoint(tmp_path / "fit")

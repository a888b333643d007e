"""Fits by response surfaces, of a made-up pig whose truth is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

from physim.calibrate.checkpoint import FILE_NAME
from physim.calibrate.fit import Fit, run
from physim.calibrate.problem import SURFACE, FitProblem
from physim.calibrate.search import surface_population
from physim.calibrate.target import HeightCounts, Point
from physim.errors import ConfigError
from tests.calibrate.made_up import (
    NAMES,
    TRUTH,
    MadeUp,
    problem,
    real_rolls,
    swapped,
)


def asked(real: HeightCounts, seed: int = 1, generations: int = 3, rolls: int = 300) -> FitProblem:
    return problem(real, seed=seed, generations=generations, rolls=rolls, method=SURFACE)


def fitted(given: FitProblem, folder: Path, rolls: MadeUp | None = None) -> Fit:
    folder.mkdir(exist_ok=True)
    return run(given, rolls or MadeUp(), folder)


def samples(fit: Fit) -> list[Point]:
    """All that was rolled for a fit, for another one to learn from."""
    return [
        (np.array(one.point), one.sample)
        for one in fit.checkpoint.evaluations()
        if one.sample is not None
    ]


def test_hidden_truths_lie_inside_their_region(tmp_path: Path) -> None:
    """95 % regions, told by the posterior covariance, of five hidden truths.

    Chance alone leaves out two or more of them with a probability of 2 %.
    """
    rng, inside = np.random.default_rng(3), 0
    for number in range(5):
        truth = dict(zip(NAMES, rng.uniform(-0.8, 0.8, 3).tolist(), strict=True))
        real = real_rolls(truth, seed=number)
        result = fitted(asked(real, seed=number), tmp_path / str(number))
        off = np.array([(result.values[name] - truth[name]) / 4.0 for name in NAMES])
        far = off @ np.linalg.inv(result.estimate.covariance) @ off
        inside += bool(far < chi2.ppf(0.95, 3))
        assert result.distance.tv < 0.02
        assert not any(result.estimate.at_border)
        rolls = sum(one.sample.rolls for one in result.searched if one.sample is not None)
        assert rolls < 50_000  # a fifth of what comparing candidates takes
    assert inside >= 4


def test_a_wrong_model_is_told_by_its_fit(tmp_path: Path) -> None:
    assert fitted(asked(swapped(real_rolls())), tmp_path / "fit").distance.p < 1e-6


def test_a_fit_that_is_stopped_goes_on_to_the_same_result(tmp_path: Path) -> None:
    given = asked(real_rolls(), rolls=100, generations=2)
    whole = fitted(given, tmp_path / "whole")
    for stop_before in (0, 1, 2):
        stopped = tmp_path / f"stopped {stop_before}"
        with pytest.raises(KeyboardInterrupt):
            fitted(given, stopped, MadeUp(stop_before=stop_before))
        assert fitted(given, stopped).values == whole.values
        assert (stopped / FILE_NAME).read_bytes() == (tmp_path / "whole" / FILE_NAME).read_bytes()


def test_a_far_start_is_reached_by_moving_the_region(tmp_path: Path) -> None:
    far = dict(TRUTH, lead=-1.9)
    result = fitted(replace(asked(real_rolls(), generations=4), start=far), tmp_path)
    assert result.values["lead"] == pytest.approx(TRUTH["lead"], abs=0.4)


def test_samples_of_other_fits_tell_too(tmp_path: Path) -> None:
    """They are as good as rolls of one's own: the error left by simulated chance shrinks."""
    real = real_rolls()
    others = [samples(fitted(asked(real, seed=seed), tmp_path / str(seed))) for seed in (5, 6)]
    assert [len(one) for one in others] == [3 * 32 + 1] * 2
    given = asked(real, generations=1, rolls=100)
    alone = fitted(given, tmp_path / "alone")
    together = fitted(replace(given, prior_runs=[*others[0], *others[1]]), tmp_path / "together")
    sd = [np.sqrt(np.diag(fit.estimate.covariance)) for fit in (alone, together)]
    assert (sd[1] < 0.8 * sd[0]).all()


def test_other_real_rolls_need_no_new_samples(tmp_path: Path) -> None:
    """A fit of no generations: another table, and the samples that are there already."""
    runs = samples(fitted(asked(real_rolls(), generations=2), tmp_path / "one"))
    other = dict(TRUTH, lead=0.2)
    given = replace(asked(real_rolls(other, seed=8), generations=0), prior_runs=runs)
    rolls = MadeUp()
    result = fitted(given, tmp_path / "two", rolls)
    assert rolls.calls == 1 and not result.searched
    off = np.array([(result.values[name] - other[name]) / 4.0 for name in NAMES])
    assert off @ np.linalg.inv(result.estimate.covariance) @ off < chi2.ppf(0.999, 3)


def test_far_samples_are_of_no_use(tmp_path: Path) -> None:
    runs = samples(fitted(asked(real_rolls(), generations=1), tmp_path / "one"))
    runs = [one for one in runs if one[0].max() < 0.3]
    given = replace(asked(real_rolls()), start=dict.fromkeys(NAMES, 2.0), prior_runs=runs)
    with pytest.raises(ConfigError, match="too few samples of prior runs"):
        fitted(replace(given, generations=0), tmp_path / "far")
    fitted(replace(given, generations=1), tmp_path / "two")


def test_a_region_without_pigs_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="only 0 candidates"):
        fitted(asked(real_rolls()), tmp_path / "fit", MadeUp(refuses=lambda values: "no"))


def test_a_design_outnumbers_the_coefficients() -> None:
    assert [surface_population(n) for n in (1, 3, 8, 10)] == [32, 32, 128, 128]

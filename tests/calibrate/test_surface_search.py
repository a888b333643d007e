"""Fits by response surfaces, of a made-up pig whose truth is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

from physim.calibrate.checkpoint import FILE_NAME, Checkpoint
from physim.calibrate.earlier import earlier_samples
from physim.calibrate.fit import SURFACE, Fit, Problem, run
from physim.calibrate.priors import Space
from physim.calibrate.sample import Sample
from physim.calibrate.search import Found
from physim.calibrate.surface_search import surface_population
from physim.errors import ConfigError
from physim.types import Pose
from tests.calibrate.made_up import (
    NAMES,
    SPACE,
    TRUTH,
    MadeUp,
    at_prior,
    problem,
    real_rolls,
)


def asked(real: Sample, seed: int = 1, generations: int = 3, rolls: int = 300) -> Problem:
    return problem(real, seed=seed, generations=generations, rolls=rolls, method=SURFACE)


def fitted(given: Problem, folder: Path, rolls: MadeUp | None = None) -> Fit:
    folder.mkdir(exist_ok=True)
    return run(given, rolls or MadeUp(), folder, at_prior)


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
        assert result.search_rolls < 50_000  # a fifth of what comparing candidates takes
    assert inside >= 4


def test_a_wrong_model_is_told_by_its_fit(tmp_path: Path) -> None:
    real = real_rolls()
    swapped = {Pose.TROTTER: Pose.RAZORBACK, Pose.RAZORBACK: Pose.TROTTER}
    pigs = {(h, pig, swapped.get(pose, pose)): n for (h, pig, pose), n in real.pigs.items()}
    assert fitted(asked(Sample(pigs, real.fates)), tmp_path / "fit").distance.p < 1e-6


@pytest.mark.parametrize("stop_before", [0, 1, 3])
def test_a_fit_that_is_stopped_goes_on_to_the_same_result(tmp_path: Path, stop_before: int) -> None:
    given = asked(real_rolls(), rolls=100)
    whole = fitted(given, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        fitted(given, tmp_path / "stopped", MadeUp(stop_before=stop_before))
    assert fitted(given, tmp_path / "stopped").values == whole.values
    files = [(tmp_path / name / FILE_NAME).read_bytes() for name in ("whole", "stopped")]
    assert files[0] == files[1]


def test_a_far_start_is_reached_by_moving_the_region(tmp_path: Path) -> None:
    far = dict(TRUTH, lead=-1.9)
    result = run(asked(real_rolls(), generations=4), MadeUp(), tmp_path, lambda: far)
    assert result.values["lead"] == pytest.approx(TRUTH["lead"], abs=0.4)


def test_samples_of_other_fits_tell_too(tmp_path: Path) -> None:
    """They are as good as rolls of one's own: the error left by simulated chance shrinks."""
    real = real_rolls()
    for name, seed in (("one", 5), ("two", 6)):
        fitted(asked(real, seed=seed), tmp_path / name)
    alone = fitted(asked(real, generations=1, rolls=100), tmp_path / "alone")
    given = asked(real, generations=1, rolls=100)
    earlier, digests = earlier_samples([tmp_path / "one", tmp_path / "two"], given, TRUTH)
    assert len(earlier) == 2 * (3 * 32 + 1) and len(set(digests)) == 2
    together = fitted(replace(given, earlier=earlier), tmp_path / "together")
    sd = [np.sqrt(np.diag(fit.estimate.covariance)) for fit in (alone, together)]
    assert (sd[1] < 0.8 * sd[0]).all()


def test_other_real_rolls_need_no_new_samples(tmp_path: Path) -> None:
    """A fit of no generations: another table, and the samples that are there already."""
    fitted(asked(real_rolls(), generations=2), tmp_path / "one")
    other = dict(TRUTH, lead=0.2)
    given = asked(real_rolls(other, seed=8), generations=0)
    earlier, _ = earlier_samples([tmp_path / "one"], given, TRUTH)
    rolls = MadeUp()
    result = fitted(replace(given, earlier=earlier), tmp_path / "two", rolls)
    assert rolls.calls == 1 and result.search_rolls == 0
    off = np.array([(result.values[name] - other[name]) / 4.0 for name in NAMES])
    assert off @ np.linalg.inv(result.estimate.covariance) @ off < chi2.ppf(0.999, 3)


def test_far_samples_are_of_no_use(tmp_path: Path) -> None:
    fitted(asked(real_rolls(), generations=1), tmp_path / "one")
    (tmp_path / "far").mkdir()
    (tmp_path / "two").mkdir()
    far = dict.fromkeys(NAMES, 2.0)
    for generations in (0, 1):
        given = asked(real_rolls(), generations=generations)
        earlier, _ = earlier_samples([tmp_path / "one"], given, TRUTH)
        given = replace(given, earlier=[one for one in earlier if one[0].max() < 0.4])
        if generations:
            run(given, MadeUp(), tmp_path / "two", lambda: far)
        else:
            with pytest.raises(ConfigError, match="too few samples of earlier fits"):
                run(given, MadeUp(), tmp_path / "far", lambda: far)


def test_samples_of_other_pigs_are_refused(tmp_path: Path) -> None:
    fitted(asked(real_rolls(), generations=1), tmp_path / "fit")
    other = replace(asked(real_rolls()), about={"base": {"kind": "another"}})
    with pytest.raises(ConfigError, match=r"base\.kind: made up there, another here"):
        earlier_samples([tmp_path / "fit"], other, TRUTH)
    fewer = problem(real_rolls(), space=Space(SPACE.parameters[:2]), method=SURFACE)
    with pytest.raises(ConfigError, match=r"parameters\.lean"):
        earlier_samples([tmp_path / "fit"], fewer, TRUTH)
    with pytest.raises(ConfigError, match="holds no fit"):
        earlier_samples([tmp_path], other, TRUTH)


def test_a_parameter_that_another_fit_did_not_change_has_the_base_s_value(tmp_path: Path) -> None:
    fewer = Space((SPACE.parameters[2], SPACE.parameters[0]))
    given = problem(real_rolls(), space=fewer, method=SURFACE)
    start = {parameter.name: parameter.prior_mean for parameter in fewer.parameters}
    checkpoint = Checkpoint(given.configuration(), start=start)
    found = Found((0.25, 0.5), 1.0, {"g": 1.0, "sample": real_rolls().to_json()})
    checkpoint.history = [(found,) * given.schedule.population]
    checkpoint.write(tmp_path)
    ((point, _), *_), _ = earlier_samples([tmp_path], problem(real_rolls(), method=SURFACE), TRUTH)
    assert point.tolist() == [0.5, SPACE.to_unit(TRUTH)[1], 0.25]


def test_a_region_without_pigs_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="only 0 candidates"):
        fitted(asked(real_rolls()), tmp_path / "fit", MadeUp(refuses=lambda values: "no"))


def test_a_design_outnumbers_the_coefficients() -> None:
    assert [surface_population(n) for n in (1, 3, 8, 10)] == [32, 32, 128, 128]

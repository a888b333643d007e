"""Draws of the posterior, against integrals and truths that are known."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import norm, truncnorm

from physim.calibrate import posterior
from physim.calibrate.emulator import Emulator, softmax
from physim.calibrate.fit import Fit, run
from physim.calibrate.posterior import LogPosterior, Observed, draw, require_sampler
from physim.calibrate.priors import Space
from physim.calibrate.problem import SURFACE, FitProblem
from physim.errors import ConfigError
from tests.calibrate.made_up import NAMES, SPACE, MadeUp, problem, real_rolls

Array = NDArray[np.float64]
HEIGHTS = np.array([-0.5, 0.5])


def flat_emulator(variance: float) -> Emulator:
    """One parameter, two cells: log-odds .3 + .7 x, uncertain in its constant."""
    coefficients = np.array([[0.3], [0.7], [0.0], [0.0], [0.0], [0.0], [0.0]])
    covariance = np.zeros((7, 7))
    covariance[0, 0] = variance
    return Emulator(np.zeros((1, 1)), coefficients, covariance, np.ones((3, 1)))


def log_likelihood(log_odds: Array, counts: Array) -> float:
    return float((counts * np.log(softmax(log_odds[:, None]))).sum())


def test_certain_log_odds_give_the_multinomial_probability() -> None:
    counts = np.array([[30, 50], [20, 70]])
    found = Observed(flat_emulator(0.0), HEIGHTS, counts).log_probability(np.array([[0.0], [0.5]]))
    exact = [log_likelihood(np.full(2, 0.3 + 0.7 * x), counts) for x in (0.0, 0.5)]
    assert found == pytest.approx(exact, abs=1e-4)


@pytest.mark.parametrize(("sd", "pigs"), [(0.05, 1), (0.3, 1), (1.0, 60), (1.5, 60)])
def test_uncertain_log_odds_are_integrated_out(sd: float, pigs: int) -> None:
    """The same doubt at both heights, as of the constant; against quadrature, far off too."""
    counts, x = pigs * np.array([[30, 50], [20, 70]]), np.array([[0.0], [1.0], [-4.0], [5.0]])
    found = Observed(flat_emulator(sd**2), HEIGHTS, counts).log_probability(x)
    exact: list[float] = []
    rest, first = counts.sum(axis=0)
    e = np.linspace(-15.0 * sd, 15.0 * sd, 100_001)
    for at in 0.3 + 0.7 * x[:, 0]:
        density = first * (at + e) - (first + rest) * np.logaddexp(0.0, at + e)
        exact.append(logsumexp(density + norm.logpdf(e, scale=sd)) + np.log(e[1] - e[0]))
    assert found == pytest.approx(exact, abs=0.1)


def test_without_counts_the_prior_is_drawn() -> None:
    density = LogPosterior([], np.zeros(2), np.full(2, -2.5), np.full(2, 1.0))
    draws = draw(density, np.eye(2), 3)
    exact = truncnorm(-2.5, 1.0)
    assert draws.min() >= -2.5 and draws.max() <= 1.0
    assert draws.mean(axis=0) == pytest.approx(exact.mean(), abs=0.08)
    assert draws.std(axis=0) == pytest.approx(exact.std(), abs=0.08)


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize(
    ("low", "high", "sd"),
    [
        (-2.5, 0.0, 1.0),  # the fit lies on its bound: half of all walkers would be clipped to it
        (0.0, 2.5, 1.0),
        (-2.5, 2.5, 0.0),  # and here all would begin at one point
        (-2.5, 2.5, 1e6),
        (-2.5, 1e-3, 1e6),
    ],
)
def test_walkers_may_begin_anywhere(d: int, low: float, high: float, sd: float) -> None:
    """The prior alone, cut off; the first parameter's bounds are those, the others' are wide."""
    lows, highs = np.full(d, -2.5), np.full(d, 2.5)
    lows[0], highs[0] = low, high
    density = LogPosterior([], np.zeros(d), lows, highs)
    draws = draw(density, sd**2 * np.ones((d, d)), 3)
    exact = [truncnorm(a, b) for a, b in zip(lows, highs, strict=True)]
    assert (draws >= lows).all() and (draws <= highs).all()
    assert draws.mean(axis=0) == pytest.approx([one.mean() for one in exact], abs=0.08)
    assert draws.std(axis=0) == pytest.approx([one.std() for one in exact], abs=0.08)


@pytest.mark.slow
def test_the_draws_are_as_wide_as_the_density_in_many_dimensions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of twelve normal parameters; the library's snooker move makes them 6 % too narrow.

    This would tell it.
    """
    emcee = require_sampler()
    density = LogPosterior([], np.zeros(12), np.full(12, -2.5), np.full(12, 2.5))
    exact = pytest.approx(truncnorm(-2.5, 2.5).std(), abs=0.02)
    assert draw(density, np.eye(12), 3).std(axis=0).mean() == exact
    monkeypatch.setattr(emcee.moves, "StretchMove", emcee.moves.DESnookerMove)
    assert draw(density, np.eye(12), 3).std(axis=0).mean() != exact


def test_points_are_thrown_back_at_the_bounds_and_stay_apart() -> None:
    points = np.array([[0.25], [-0.25], [1.25], [2.75], [-7.0], [1.0], [0.0]])
    folded = posterior._folded(points, np.array([0.0]), np.array([1.0]))
    assert folded[:, 0].tolist() == [0.25, 0.25, 0.75, 0.75, 1.0, 1.0, 0.0]
    many = np.random.default_rng(0).normal(scale=50.0, size=(500, 1))
    folded = posterior._folded(many, np.array([-3.0]), np.array([1e-9]))
    assert folded.min() >= -3.0 and folded.max() <= 1e-9 and len(np.unique(folded)) == 500


@pytest.mark.parametrize("names", [NAMES[:1], NAMES[:2], NAMES])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_fit_on_its_bounds_has_a_posterior(
    names: tuple[str, ...], share: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 146: the values stand at the bounds, and what the surface tells of them is nothing."""
    for steps in ("_BURN_EACH", "_STEPS_EACH", "_LEAST_BURN", "_LEAST_STEPS"):
        monkeypatch.setattr(posterior, steps, 10)
    space = Space(SPACE.parameters[: len(names)])
    given = problem(real_rolls(), generations=1, rolls=200, method=SURFACE, space=space)
    fit = run(given, MadeUp(), tmp_path)
    point = np.full(len(names), share)
    estimate = replace(fit.estimate, mean=point, covariance=1e4 * np.eye(len(names)))
    fit = replace(fit, values=given.space.from_unit(point), estimate=estimate)
    found = fit.with_posterior(given).draws
    assert found is not None and np.isfinite(found).all()
    assert found.min() >= 0.0 and found.max() <= 1.0
    assert (found.std(axis=0) > 0.0).all()


def test_a_bent_valley_is_drawn_whole() -> None:
    """Told sharply: x + y^2 / 4. Against sums over a grid."""
    coefficients = np.zeros((11, 1))
    coefficients[[0, 1, 5], 0] = [0.3, 2.0, 0.5]  # 1, x, y, x x, x y, y y, h, h x, h y, two waves
    emulator = Emulator(np.zeros((2, 1)), coefficients, np.zeros((11, 11)), np.ones((3, 1)))
    counts = np.array([[80, 108], [79, 107]])
    observed = Observed(emulator, HEIGHTS, counts)
    density = LogPosterior([observed], np.zeros(2), np.full(2, -2.5), np.full(2, 2.5))
    draws = draw(density, 0.04 * np.eye(2), 3)
    x, y = np.meshgrid(np.linspace(-2.5, 2.5, 501), np.linspace(-2.5, 2.5, 201), indexing="ij")
    grid = np.column_stack([x.ravel(), y.ravel()])
    log = np.concatenate([density(piece) for piece in np.array_split(grid, 40)])
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    mean = weight @ grid
    sd = np.sqrt(weight @ (grid - mean) ** 2)
    assert sd[0] > 0.2  # the valley bends: at one y it is half as wide
    assert np.abs((draws.mean(axis=0) - mean) / sd).max() < 0.25
    assert draws.std(axis=0) == pytest.approx(sd, rel=0.2)


@pytest.fixture
def fewer_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three parameters forget a place in some 15 steps; so many tell what is asserted here."""
    for name, steps in (("_LEAST_BURN", 150), ("_LEAST_STEPS", 300)):
        monkeypatch.setattr(posterior, name, steps)
    for name in ("_BURN_EACH", "_STEPS_EACH"):
        monkeypatch.setattr(posterior, name, 0)


def fitted(given: FitProblem, folder: Path) -> Fit:
    folder.mkdir()
    return run(given, MadeUp(), folder).with_posterior(given)


def tail(draws: Array, point: Array) -> float:
    """Share of the draws that lie farther out than the point."""
    inverse = np.linalg.inv(np.cov(draws.T))
    off = np.concatenate([draws, point[None]]) - draws.mean(axis=0)
    far = np.einsum("na,ab,nb->n", off, inverse, off)
    return float((far[:-1] > far[-1]).mean())


@pytest.mark.slow
@pytest.mark.usefixtures("fewer_steps")
def test_hidden_truths_lie_among_the_draws(tmp_path: Path) -> None:
    """In the 95 % region of four in five; chance alone leaves out two or more with 2 %."""
    rng, inside = np.random.default_rng(5), 0
    for number in range(5):
        truth = dict(zip(NAMES, rng.uniform(-0.8, 0.8, 3).tolist(), strict=True))
        real = real_rolls(truth, seed=number)
        given = problem(real, seed=number, generations=2, rolls=300, method=SURFACE)
        fit = fitted(given, tmp_path / str(number))
        assert fit.draws is not None
        inside += tail(fit.draws, given.space.to_unit(truth)) > 0.05
        assert fit.draws.std(axis=0).max() < 0.1  # of the prior's .25
    assert inside >= 4


@pytest.mark.usefixtures("fewer_steps")
def test_a_seed_gives_the_same_draws_and_another_like_ones(tmp_path: Path) -> None:
    given = problem(real_rolls(), generations=1, rolls=200, method=SURFACE)
    fit = fitted(given, tmp_path / "fit")
    again = fit.with_posterior(given).draws
    assert fit.draws is not None and again is not None
    assert np.array_equal(again, fit.draws)
    other = fit.with_posterior(replace(given, schedule=replace(given.schedule, seed=2))).draws
    assert other is not None and not np.array_equal(other, again)
    sd = again.std(axis=0)
    assert np.abs((other.mean(axis=0) - again.mean(axis=0)) / sd).max() < 0.3
    assert other.std(axis=0) == pytest.approx(sd, rel=0.3)


def test_a_missing_sampler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "emcee", None)
    with pytest.raises(ConfigError, match="-m pip install cmaes emcee"):
        require_sampler()

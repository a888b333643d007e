"""The response surface against made-up pigs whose frequencies are known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from physim.calibrate.surface_search import Prior, Real, deviance, optimum
from physim.calibrate.surrogate import Surface, features, fit_surface

Array = NDArray[np.float64]
HEIGHTS = np.array([-0.5, 0.5])
CONSTANTS = [-0.1, -1.5, -0.4, -2.5, -4.0]  # about the real pigs' log-odds
DIMENSIONS = 4


def truth(rng: np.random.Generator) -> Array:
    q = features(np.zeros((1, DIMENSIONS)), np.zeros(1)).shape[1]
    coefficients = rng.normal(0.0, 0.3, (q, len(CONSTANTS)))
    coefficients[0] = CONSTANTS
    return coefficients


def frequencies(coefficients: Array, x: Array, height: Array) -> Array:
    logits = np.concatenate([np.zeros((len(x), 1)), features(x, height) @ coefficients], axis=1)
    odds = np.exp(logits)
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def sampled(
    coefficients: Array, rng: np.random.Generator, samples: int, pigs: int
) -> tuple[Array, Array, NDArray[np.int64]]:
    x = rng.uniform(-1.0, 1.0, (samples, DIMENSIONS))
    height = np.resize(HEIGHTS, samples)
    p = frequencies(coefficients, x, height)
    return x, height, np.array([rng.multinomial(pigs, row) for row in p])


def test_the_features_are_those_of_a_quadratic() -> None:
    row = features(np.array([[2.0, 3.0]]), np.array([0.5]))[0]
    assert row.tolist() == [1.0, 2.0, 3.0, 4.0, 6.0, 9.0, 0.5, 1.0, 1.5]


def test_coefficients_come_back_within_their_errors() -> None:
    rng = np.random.default_rng(1)
    coefficients = truth(rng)
    surface = fit_surface(*sampled(coefficients, rng, 150, 2000))
    off = (surface.coefficients - coefficients).T.ravel()
    z = off / np.sqrt(np.diag(surface.covariance))
    assert 0.7 < z.std() < 1.2
    assert np.abs(z).max() < 4.5
    assert 0.85 < surface.misfit < 1.2
    assert surface.pigs == 150 * 2000


def test_its_gradient_is_the_difference_quotient() -> None:
    rng = np.random.default_rng(2)
    surface = fit_surface(*sampled(truth(rng), rng, 60, 500))
    x, e = rng.uniform(-0.5, 0.5, DIMENSIONS), 1e-6

    def at(point: Array) -> Array:
        return surface.probabilities(point[None], np.array([0.5]))[0]

    steps = [(at(x + e * axis) - at(x - e * axis)) / (2 * e) for axis in np.eye(DIMENSIONS)]
    assert surface.gradient(x, 0.5) == pytest.approx(np.array(steps).T, abs=1e-7)


def test_what_no_quadratic_can_follow_shows_as_misfit() -> None:
    rng = np.random.default_rng(3)
    x, height, _ = sampled(truth(rng), rng, 200, 4000)
    rippled = frequencies(truth(rng), np.sin(6.0 * x), height)
    counts = np.array([rng.multinomial(4000, row) for row in rippled])
    assert fit_surface(x, height, counts).misfit > 3.0


def test_an_empty_cell_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        fit_surface(np.zeros((2, 1)), np.zeros(2), np.array([[3, 0, 1], [4, 0, 2]]))


@pytest.fixture(scope="module")
def known() -> tuple[Array, Surface]:
    rng = np.random.default_rng(4)
    coefficients = truth(rng)
    return coefficients, fit_surface(*sampled(coefficients, rng, 300, 3000))


def test_known_parameters_come_back(known: tuple[Array, Surface]) -> None:
    """Tables made from hidden parameters: most lie inside the 95 % region, all frequencies fit."""
    coefficients, surface = known
    rng = np.random.default_rng(5)
    prior = Prior(np.zeros(DIMENSIONS), np.full(DIMENSIONS, 2.0))
    inside = 0
    for _ in range(10):
        hidden = rng.uniform(-0.6, 0.6, DIMENSIONS)
        p = frequencies(coefficients, np.repeat(hidden[None], 2, axis=0), HEIGHTS)
        real = np.array([rng.multinomial(6000, row) for row in p])
        best = optimum([Real(surface, HEIGHTS, real)], prior)
        off = best.x - hidden
        inside += float(off @ np.linalg.inv(best.covariance) @ off) < chi2.ppf(0.95, DIMENSIONS)
        assert 0.5 * np.abs(best.probabilities[0] - p).sum(axis=1).max() < 0.02
    assert inside >= 8


def test_a_parameter_without_effect_keeps_its_prior() -> None:
    rng = np.random.default_rng(6)
    coefficients = truth(rng)
    others = np.ones((1, DIMENSIONS))
    others[0, 0] = 0.0
    height = np.ones(1)
    with_it = (features(np.ones((1, DIMENSIONS)), height) != features(others, height))[0]
    coefficients[with_it] = 0.0
    surface = fit_surface(*sampled(coefficients, rng, 200, 3000))
    p = frequencies(coefficients, np.zeros((2, DIMENSIONS)), HEIGHTS)
    real = np.array([rng.multinomial(6000, row) for row in p])
    prior = Prior(np.zeros(DIMENSIONS), np.full(DIMENSIONS, 0.5))
    best = optimum([Real(surface, HEIGHTS, real)], prior)
    assert best.data_share[0] < 0.2
    assert best.data_share[1:].min() > 0.5


def test_deviance_is_that_of_the_books() -> None:
    counts, p = np.array([30, 70, 0]), np.array([0.5, 0.5, 0.0])
    expected = 2 * (30 * np.log(30 / 50) + 70 * np.log(70 / 50))
    assert deviance(counts, p) == pytest.approx(expected)
    assert deviance(np.array([50, 50, 0]), p) == 0.0

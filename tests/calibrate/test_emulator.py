"""The emulator: what it says between its samples, and how surely."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from physim.calibrate.emulator import Emulator, features, fit_emulator, softmax

Array = NDArray[np.float64]
HEIGHTS = np.array([-0.5, 0.5])
CONSTANTS = np.array([-0.1, -1.5])
PIGS = 500


def bent(x: Array, height: Array) -> Array:
    """(n, 2) log-odds that no quadratic follows."""
    bend = np.stack([0.6 * np.sin(1.6 * x[:, 0]), 0.4 * np.cos(1.4 * x[:, 0] + x[:, 1])], axis=1)
    return np.asarray(CONSTANTS + bend + 0.2 * height[:, None])


def straight(x: Array, height: Array) -> Array:
    return np.asarray(CONSTANTS + np.stack([0.4 * x[:, 0], -0.3 * x[:, 1]], axis=1))


def samples(log_odds: object, seed: int, count: int = 200) -> tuple[Array, Array, Array]:
    assert callable(log_odds)
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2.0, 2.0, (count, 2))
    height = np.resize(HEIGHTS, count)
    p = softmax(log_odds(x, height))
    return x, height, np.array([rng.multinomial(PIGS, row) for row in p], dtype=float)


@pytest.fixture(scope="module")
def emulator() -> Emulator:
    return fit_emulator(*samples(bent, 1))


def best_quadratic() -> Array:
    """(q, 2) coefficients of the quadratic nearest to the truth, with equal weights."""
    x = np.random.default_rng(6).uniform(-2.0, 2.0, (2000, 2))
    height = np.resize(HEIGHTS, len(x))
    return np.asarray(np.linalg.lstsq(features(x, height), bent(x, height), rcond=None)[0])


def test_the_features_are_those_of_a_quadratic() -> None:
    row = features(np.array([[2.0, 3.0]]), np.array([0.5]))[0]
    assert row.tolist() == [1.0, 2.0, 3.0, 4.0, 6.0, 9.0, 0.5, 1.0, 1.5]


def test_it_follows_what_no_quadratic_does_within_its_errors(emulator: Emulator) -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(-2.0, 2.0, (400, 2))
    mean, covariance = emulator.log_odds(x, HEIGHTS[:1])
    truth = bent(x, np.repeat(HEIGHTS[0], len(x)))
    off = mean[:, 0] - truth
    z = off / np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    assert 0.6 < np.sqrt((z**2).mean()) < 1.4
    quadratic = features(x, np.repeat(HEIGHTS[0], len(x))) @ best_quadratic() - truth
    assert (off**2).mean() < 0.5 * (quadratic**2).mean()


def test_where_nothing_bends_it_says_so(emulator: Emulator) -> None:
    """The waves' spread is the counts' own: next to none without a bend."""
    plain = fit_emulator(*samples(straight, 3))
    assert (plain.ridges[2] ** -0.5).max() < 0.1
    assert (emulator.ridges[2] ** -0.5).max() > 0.2


def test_many_rolls_at_a_point_settle_its_neighbourhood() -> None:
    x, height, counts = samples(bent, 4, count=60)
    there = np.array([[1.9, -1.9]])
    before = fit_emulator(x, height, counts).log_odds(there, HEIGHTS)[1][0]
    rolls = 30_000 * softmax(bent(np.repeat(there, 2, axis=0), HEIGHTS))
    after = fit_emulator(
        np.concatenate([x, there, there]),
        np.concatenate([height, HEIGHTS]),
        np.concatenate([counts, rolls]),
    )
    near = there + 0.1
    assert after.log_odds(there, HEIGHTS)[1][0].trace() < 0.1 * before.trace()
    assert after.log_odds(near, HEIGHTS)[1][0].trace() < 0.3 * before.trace()


def test_the_covariance_is_that_of_drawn_coefficients(emulator: Emulator) -> None:
    point = np.array([[0.4, -1.2]])
    mean, covariance = emulator.log_odds(point, HEIGHTS)
    rng = np.random.default_rng(5)
    q, c = emulator.coefficients.shape
    center = emulator.coefficients.T.ravel()
    drawn = rng.multivariate_normal(center, emulator.covariance, 4000)
    odds = []
    for b in drawn.reshape(-1, c, q).transpose(0, 2, 1):
        one = Emulator(emulator.waves, b, emulator.covariance, emulator.ridges)
        p = np.stack([one.probabilities(point, h)[0] for h in HEIGHTS])
        odds.append(np.log(p[:, 1:] / p[:, :1]).ravel())
    assert np.mean(odds, axis=0) == pytest.approx(mean.ravel(), abs=0.01)
    error = 5.0 * covariance[0].diagonal().max() * np.sqrt(2.0 / len(drawn))
    assert np.cov(np.transpose(odds)) == pytest.approx(covariance[0], abs=error)

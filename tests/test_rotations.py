"""Quaternions against SciPy's rotations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from scipy.stats import kstest

from physim.geometry import (
    conjugate,
    from_axis_angle,
    from_matrix,
    from_uniform,
    matrix,
    multiply,
    normalized,
    rotate,
)

Array = NDArray[np.float64]
SEEDS = st.integers(0, 2**32 - 1)


def some(seed: int, count: int) -> Rotation:
    return Rotation.random(count, random_state=np.random.default_rng(seed))


@given(SEEDS)
def test_product_turns_by_the_second_first(seed: int) -> None:
    a, b = some(seed, 2)
    assert matrix(multiply(a.as_quat(), b.as_quat())) == pytest.approx(
        (a * b).as_matrix(), abs=1e-14
    )
    assert matrix(conjugate(a.as_quat())) == pytest.approx(a.inv().as_matrix(), abs=1e-14)


@given(SEEDS)
def test_rotate_turns_one_vector_or_many(seed: int) -> None:
    turn = some(seed, 1)[0]
    vectors = np.random.default_rng(seed).normal(size=(7, 3))
    assert rotate(turn.as_quat(), vectors) == pytest.approx(turn.apply(vectors), abs=1e-14)
    assert rotate(turn.as_quat(), vectors[0]) == pytest.approx(turn.apply(vectors[0]), abs=1e-14)


@given(SEEDS, st.sampled_from([0.0, 1e-9, 1.0, np.pi - 1e-9, np.pi]))
def test_matrix_and_back(seed: int, angle: float) -> None:
    axis = np.random.default_rng(seed).normal(size=3)
    axis /= np.linalg.norm(axis)
    expected = Rotation.from_rotvec(angle * axis).as_matrix()
    assert matrix(from_axis_angle(axis, angle)) == pytest.approx(expected, abs=1e-14)
    quat = from_matrix(expected)
    assert matrix(quat) == pytest.approx(expected, abs=1e-12)
    assert np.linalg.norm(quat) == pytest.approx(1.0, abs=1e-15)
    assert quat[3] >= 0


def test_half_turns_about_each_axis_survive() -> None:
    for diagonal in ([1, -1, -1], [-1, 1, -1], [-1, -1, 1]):
        turn = np.diag(np.array(diagonal, dtype=float))
        assert matrix(from_matrix(turn)) == pytest.approx(turn, abs=1e-15)


def test_normalized_has_length_one() -> None:
    assert normalized(np.array([0.0, 3.0, 0.0, 4.0])) == pytest.approx([0, 0.6, 0, 0.8])


def angles(quats: Array) -> Array:
    return np.asarray(Rotation.from_quat(quats).magnitude())


def test_uniform_rotations_have_the_haar_measures_angles() -> None:
    """The angle of a uniform rotation has the distribution (a - sin a) / pi.

    Error rate 1e-6. The wrong sample turns about a random axis by a uniform angle.
    """

    def cdf(angle: Array) -> Array:
        return (angle - np.sin(angle)) / np.pi

    rng = np.random.default_rng(8)
    quats = np.array([from_uniform(u) for u in rng.random((4000, 3))])
    assert np.linalg.norm(quats, axis=1) == pytest.approx(np.ones(4000), abs=1e-15)
    assert kstest(angles(quats), cdf).pvalue > 1e-6
    # Uniform also after a fixed turn, which moves the identity elsewhere.
    turned = Rotation.from_euler("xyz", [70, -20, 130], degrees=True) * Rotation.from_quat(quats)
    assert kstest(turned.magnitude(), cdf).pvalue > 1e-6
    assert kstest(np.pi * rng.random(4000), cdf).pvalue < 1e-6

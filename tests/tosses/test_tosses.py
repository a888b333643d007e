"""Tosses: what they draw, and how it is distributed.

Each statistical check has an error rate of 1e-6 (4.9 standard errors) and is shown to
reject a sample whose parameter is a little off.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from scipy.stats import chi2, chisquare, kstest

from physim.errors import ConfigError
from physim.seeding import stream
from physim.tosses.release import DRAWS, Draws, Hand, Trapdoor, from_mapping, toss
from physim.types import PigModel, RigidState, Toss

Array = NDArray[np.float64]
Gap = Callable[[Array, Array], float]
Placed = Callable[[Array, RigidState], Array]
SIGMAS = 4.9
COUNT = 1500


def released(model: Any, pig: PigModel, count: int = COUNT, seed: int = 2) -> list[Toss]:
    return [model.release(Draws(stream(seed, i)), i, (pig, pig)) for i in range(count)]


def has_mean(sample: Array, mean: float, spread: float) -> bool:
    return abs(float(sample.mean()) - mean) < SIGMAS * spread / math.sqrt(len(sample))


def is_normal(sample: Array, mean: float, spread: float) -> bool:
    """Kolmogorov's test for the shape, a z-test and a chi-square for mean and spread."""
    shape = kstest(sample, "norm", args=(mean, spread)).pvalue
    squares = chi2(len(sample)).cdf(float(((sample - mean) ** 2).sum()) / spread**2)
    centred = has_mean(sample, mean, spread)
    return bool(centred and shape > 1e-6 and 5e-7 < squares < 1 - 5e-7)


class Counting(np.random.Generator):
    """Counts the numbers drawn."""

    drawn = 0

    def random(self, size: Any = None, *args: Any, **kwargs: Any) -> Any:
        self.drawn += int(np.prod(size)) if size is not None else 1
        return super().random(size, *args, **kwargs)


# --- random numbers ---


@pytest.mark.parametrize("name", ["trapdoor", "hand", "drop"])
def test_every_toss_draws_the_same_count(standard: PigModel, name: str) -> None:
    for seed in range(5):
        rng = Counting(np.random.PCG64(seed))
        toss(name).release(Draws(rng), 0, (standard, standard))
        assert rng.drawn == DRAWS


@pytest.mark.parametrize("name", ["trapdoor", "hand", "drop"])
def test_one_seed_one_toss(standard: PigModel, name: str) -> None:
    def numbers(seed: int, index: int) -> list[float]:
        thrown = toss(name).release(Draws(stream(seed, index)), index, (standard, standard))
        return [
            float(number)
            for pig in thrown.pigs
            for part in (pig.position_m, pig.quat_xyzw, pig.velocity_m_s)
            for number in (*part, *pig.angular_velocity_rad_s)
        ]

    assert numbers(1, 2) == numbers(1, 2)
    assert numbers(1, 2) != numbers(1, 4)
    assert numbers(1, 2) != numbers(2, 2)


def test_normal_draws_are_normal() -> None:
    sample = np.array([Draws(stream(3, i)).normal(2.0, 0.5) for i in range(4000)])
    assert is_normal(sample, 2.0, 0.5)
    assert not is_normal(sample, 2.06, 0.5)
    assert not is_normal(sample, 2.0, 0.57)


# --- trapdoor ---


# Numbers of the tests' own: those of tosses.yaml are assumptions that may be fitted.
TRAPDOOR = {
    "kind": "trapdoor",
    "heights_mm": [127, 203],
    "separation_mm": 150,
    "separation_spread_mm": 5,
    "facing": ["forward", "backward"],
    "yaw_spread_deg": 12,
    "door_angle_deg": 20,
    "door_angle_spread_deg": 10,
    "pitch_rate_rad_s": 8,
    "pitch_rate_spread_rad_s": 4,
    "spin_spread_rad_s": 3,
    "slide_m_s": 0.15,
    "slide_spread_m_s": 0.08,
    "drift_spread_m_s": 0.03,
}
HAND = {
    "kind": "hand",
    "height_mm": 200,
    "height_spread_mm": 40,
    "start_x_mm": -250,
    "speed_m_s": 0.9,
    "speed_spread_m_s": 0.25,
    "rise_m_s": 0.3,
    "rise_spread_m_s": 0.3,
    "apart_spread_m_s": 0.15,
    "spin_spread_rad_s": 12,
    "clearance_mm": 3,
}


@pytest.fixture(scope="module")
def trapdoor() -> Trapdoor:
    model = from_mapping(TRAPDOOR, "test")
    assert isinstance(model, Trapdoor)
    return model


def test_heights_alternate_and_the_lowest_point_is_on_the_door(
    standard: PigModel, placed: Placed
) -> None:
    for index, thrown in enumerate(released(toss("trapdoor"), standard, 20)):
        for pig in thrown.pigs:
            low = placed(standard.vertices_m, pig)[:, 2].min()
            assert low == pytest.approx(0.203 if index % 2 else 0.127, abs=1e-12)


@pytest.mark.parametrize("name", ["trapdoor", "drop"])
def test_a_height_overrides(standard: PigModel, placed: Placed, name: str) -> None:
    for thrown in released(toss(name, height_mm=99.0), standard, 6):
        for pig in thrown.pigs:
            assert placed(standard.vertices_m, pig)[:, 2].min() == pytest.approx(0.099, abs=1e-12)


@pytest.mark.parametrize("height", [0.5, 3001.0, -10.0, math.nan, math.inf])
def test_a_height_out_of_range_is_refused(height: float) -> None:
    with pytest.raises(ConfigError, match="height must lie between 1 and 3000 mm"):
        toss("drop", height_mm=height)


def test_trapdoor_parameters_are_distributed_as_written(
    standard: PigModel, trapdoor: Trapdoor
) -> None:
    model = replace(trapdoor, facing=("forward",))
    pigs = [pig for thrown in released(model, standard) for pig in thrown.pigs]
    # Of the pig's own axes: turned by the yaw, then tilted about y.
    axes = Rotation.from_quat([pig.quat_xyzw for pig in pigs]).as_matrix()
    up = axes[:, :, 2]
    tilt = np.arctan2(up[:, 0], up[:, 2])
    yaw = np.arctan2(axes[:, 1, 0], axes[:, 1, 1])
    velocity = np.array([pig.velocity_m_s for pig in pigs])
    spin = np.array([pig.angular_velocity_rad_s for pig in pigs])
    slide = velocity[:, 0] * np.cos(tilt) - velocity[:, 2] * np.sin(tilt)
    degree = math.pi / 180
    expected = [
        (tilt, 20 * degree, 10 * degree),
        (yaw, 0.0, 12 * degree),
        (slide, 0.15, 0.08),
        (velocity[:, 1], 0.0, 0.03),
        (spin[:, 0], 0.0, 3.0),
        (spin[:, 1], 8.0, 5.0),  # 4 of the pitch and 3 of any axis
        (spin[:, 2], 0.0, 3.0),
    ]
    for sample, mean, spread in expected:
        assert is_normal(sample, mean, spread), (mean, spread)
        assert not is_normal(sample, mean + 0.15 * spread, spread)
        assert not is_normal(sample, mean, 1.2 * spread)
    # It slides along the door, not off its plane.
    assert velocity[:, 0] * np.sin(tilt) + velocity[:, 2] * np.cos(tilt) == pytest.approx(
        np.zeros(len(pigs)), abs=1e-12
    )
    # Spins are unrelated to each other and between the pigs.
    bound = SIGMAS / math.sqrt(COUNT)
    assert abs(np.corrcoef(spin[::2, 0], spin[1::2, 0])[0, 1]) < bound
    assert abs(np.corrcoef(spin[:, 0], spin[:, 2])[0, 1]) < bound


def test_trapdoor_separation(standard: PigModel, trapdoor: Trapdoor) -> None:
    thrown = released(trapdoor, standard)
    apart = np.array([t.black.position_m[1] - t.pink.position_m[1] for t in thrown])
    assert is_normal(apart, 0.15, 0.005)
    assert not is_normal(apart, 0.151, 0.005)
    middle = np.array([t.black.position_m[1] + t.pink.position_m[1] for t in thrown])
    assert np.abs(middle).max() < 1e-15
    assert apart.min() > 0.075


def test_half_of_the_trapdoor_pigs_face_backward(standard: PigModel) -> None:
    thrown = released(toss("trapdoor"), standard)

    def backward(pig: RigidState) -> bool:
        return bool(Rotation.from_quat(pig.quat_xyzw).apply([1.0, 0.0, 0.0])[0] < 0)

    ways = np.array([[backward(t.black), backward(t.pink)] for t in thrown], dtype=float)
    assert has_mean(ways[:, 0], 0.5, 0.5)
    assert has_mean(ways[:, 1], 0.5, 0.5)
    assert not has_mean(ways[:, 0], 0.6, 0.5)
    assert abs(np.corrcoef(ways.T)[0, 1]) < SIGMAS / math.sqrt(COUNT)


# --- hand ---


def test_hand_never_overlaps_pigs(standard: PigModel, placed: Placed, hull_gap: Gap) -> None:
    for thrown in released(from_mapping(HAND, "test"), standard, 40):
        first, second = (placed(standard.vertices_m, pig) for pig in thrown.pigs)
        assert hull_gap(first, second) > 0.0029  # clearance_mm: 3
        assert min(first[:, 2].min(), second[:, 2].min()) > 0.01


def test_hand_parameters_are_distributed_as_written(standard: PigModel) -> None:
    model = from_mapping(HAND, "test")
    assert isinstance(model, Hand)
    thrown = released(model, standard)
    black = np.array([t.black.velocity_m_s for t in thrown])
    pink = np.array([t.pink.velocity_m_s for t in thrown])
    spin = np.array([t.black.angular_velocity_rad_s for t in thrown])
    own = black - pink
    middle = np.array([t.black.position_m + t.pink.position_m for t in thrown]) / 2
    for sample, mean, spread in [
        (black[:, 0], 0.9, math.hypot(0.25, 0.15)),
        (black[:, 1], 0.0, 0.15),
        (black[:, 2], 0.3, math.hypot(0.3, 0.15)),
        *((own[:, axis], 0.0, 0.15 * math.sqrt(2)) for axis in range(3)),
        *((spin[:, axis], 0.0, 12.0) for axis in range(3)),
    ]:
        assert is_normal(sample, mean, spread), (mean, spread)
        assert not is_normal(sample, mean + 0.2 * spread, spread)
        assert not is_normal(sample, mean, 1.25 * spread)
    radius = float(np.linalg.norm(standard.vertices_m, axis=1).max())
    assert is_normal(middle[:, 2] - radius, 0.2, 0.04)
    assert middle[:, 0] == pytest.approx(np.full(COUNT, -0.25))
    # The line between the pigs is level and points anywhere.
    across = np.array([t.black.position_m - t.pink.position_m for t in thrown])
    assert np.abs(across[:, 2]).max() < 1e-15
    angle = np.arctan2(across[:, 1], across[:, 0]) / (2 * math.pi) + 0.5
    assert kstest(angle, "uniform").pvalue > 1e-6


def test_hand_height_overrides(standard: PigModel) -> None:
    thrown = released(toss("hand", height_mm=120.0), standard, 20)
    heights = [t.black.position_m[2] for t in thrown]
    radius = float(np.linalg.norm(standard.vertices_m, axis=1).max())
    assert heights == pytest.approx([0.12 + radius] * 20)


# --- drop ---


def octants(quats: Array) -> list[int]:
    """How often the pig's down direction falls into each octant."""
    down = Rotation.from_quat(quats).inv().apply([0.0, 0.0, -1.0])
    index = (down > 0) @ np.array([1, 2, 4])
    return np.bincount(index, minlength=8).tolist()


@pytest.mark.parametrize("name", ["drop", "hand"])
def test_orientations_are_uniform(standard: PigModel, name: str) -> None:
    """Mean rotation matrix 0 (each entry has variance 1/3), octants of equal chance."""
    for of_pig in (0, 1):
        quats = np.array([t.pigs[of_pig].quat_xyzw for t in released(toss(name), standard)])
        matrices = Rotation.from_quat(quats).as_matrix()
        assert np.abs(matrices.mean(axis=0)).max() < SIGMAS * math.sqrt(1 / 3 / COUNT)
        assert chisquare(octants(quats)).pvalue > 1e-6
    # The wrong sample: uniform Euler angles crowd at the poles.
    angles = np.random.default_rng(1).uniform(-math.pi, math.pi, (COUNT, 3))
    wrong = Rotation.from_euler("xyz", angles).apply([0.0, 0.0, 1.0])
    right = Rotation.from_quat(quats).apply([0.0, 0.0, 1.0])
    assert kstest(right[:, 2], "uniform", args=(-1, 2)).pvalue > 1e-6
    assert kstest(wrong[:, 2], "uniform", args=(-1, 2)).pvalue < 1e-6


def test_drop_is_calm_and_apart(standard: PigModel, placed: Placed) -> None:
    for thrown in released(toss("drop"), standard, 10):
        for pig, side in zip(thrown.pigs, (1, -1), strict=True):
            assert not pig.velocity_m_s.any()
            assert not pig.angular_velocity_rad_s.any()
            assert pig.position_m[0] == 0.0
            assert pig.position_m[1] * side > 0.05
            assert placed(standard.vertices_m, pig)[:, 2].min() == pytest.approx(0.15, abs=1e-12)

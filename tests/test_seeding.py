"""Streams: fixed, independent, made without the ones before them."""

import numpy as np
import pytest
from scipy.stats import kstest

from physim.errors import ConfigError
from physim.seeding import stream
from physim.simulator import MAX_SEED, check_seed


def test_a_stream_is_numpys_spawned_child() -> None:
    # By NumPy's documentation child i of a SeedSequence has the spawn key (i,).
    child = np.random.SeedSequence(5).spawn(4)[3]
    expected = np.random.Generator(np.random.PCG64(child)).random(6)
    assert stream(5, 3).random(6).tolist() == expected.tolist()


def test_streams_differ_by_seed_and_by_index() -> None:
    firsts = {float(stream(seed, index).random()) for seed in range(30) for index in range(30)}
    assert len(firsts) == 900


def test_first_numbers_of_neighbouring_streams_are_uniform_and_unrelated() -> None:
    """Error rate 1e-6 each; neighbours that repeat each other are rejected."""
    firsts = np.array([stream(0, index).random() for index in range(3000)])
    assert kstest(firsts, "uniform").pvalue > 1e-6
    bound = 4.9 / np.sqrt(len(firsts))  # of a correlation coefficient, at 1e-6
    assert abs(np.corrcoef(firsts[:-1], firsts[1:])[0, 1]) < bound
    repeated = np.repeat(firsts[:1500], 2)
    assert abs(np.corrcoef(repeated[:-1], repeated[1:])[0, 1]) > bound


@pytest.mark.parametrize(("seed", "index"), [(0, 0), (MAX_SEED, 3), (7, MAX_SEED)])
def test_the_largest_seeds_have_streams(seed: int, index: int) -> None:
    check_seed(seed, index)
    assert 0 <= stream(seed, index).random() < 1


@pytest.mark.parametrize(
    ("seed", "index", "word"), [(-1, 0, "seed"), (0, -1, "index"), (MAX_SEED + 1, 0, "seed")]
)
def test_other_seeds_are_refused(seed: int, index: int, word: str) -> None:
    with pytest.raises(ConfigError, match=f"the {word} must be a whole number from 0 to"):
        check_seed(seed, index)

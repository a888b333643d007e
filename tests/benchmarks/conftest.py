"""The two loops from outside physim; MuJoCo's only where it is installed."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from physim.bench.benchmark import MUJOCO, PLAIN, two_pigs
from physim.seeding import stream
from physim.simulator import Setup
from physim.tosses.release import Draws
from physim.types import Toss

needs_mujoco = pytest.mark.skipif(find_spec("mujoco") is None, reason="needs MuJoCo")


@pytest.fixture(scope="session")
def setup() -> Setup:
    return Setup.named()


@pytest.fixture(scope="session")
def toss_of(setup: Setup) -> Callable[[int], Toss]:
    """The toss of an index of seed 1."""
    return lambda index: setup.toss.release(Draws(stream(1, index)), index, setup.pigs)


@pytest.fixture(params=["pybullet", pytest.param("mujoco", marks=needs_mujoco)])
def loop(request: pytest.FixtureRequest) -> Any:
    """What makes an engine for the loop; called with a setup and opened by `with`."""
    if request.param == "pybullet":
        return partial(two_pigs, PLAIN)
    return partial(two_pigs, MUJOCO)


@pytest.fixture(scope="session")
def ball() -> np.ndarray:
    """(300, 3) corners of a ball of 10 mm radius, evenly spread [m]; one points down."""
    k = np.arange(300)
    z = np.linspace(-1.0, 1.0, 300)
    angle = np.pi * (1.0 + 5.0**0.5) * k
    ring = np.sqrt(1.0 - z * z)
    return 0.01 * np.stack([ring * np.cos(angle), ring * np.sin(angle), z], axis=1)

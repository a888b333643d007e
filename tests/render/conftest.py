"""One roll that several tests look at, and a small dataset."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import physim
from physim.dataset.plan import BatchPlan
from physim.render.replay import Replay, ReplaySource


@pytest.fixture(scope="session")
def source() -> Iterator[ReplaySource]:
    with ReplaySource(BatchPlan(n=1, seed=3)) as source:
        yield source


@pytest.fixture(scope="session")
def replay(source: ReplaySource) -> Replay:
    return source.replay(0)


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "d"
    physim.batch(20, folder, seed=5, workers=1)
    return folder

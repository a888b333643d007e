from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from physim.calibrate.search import Found, Generation, Schedule, Search
from physim.errors import ConfigError
from physim.types import FloatArray

BEST = np.array([0.7, 0.2, 0.55])
START = np.full(3, 0.5)


def bowl(number: int, points: Sequence[FloatArray]) -> list[tuple[float, Any]]:
    """A stretched bowl, tilted against the axes, the same in each generation."""
    del number
    turned = [np.array([[1, 1, 0], [0, 1, 0], [0, 0, 5.0]]) @ (point - BEST) for point in points]
    return [(float(x @ x), None) for x in turned]


def made(generations: int, history: Sequence[Generation] = ()) -> Search:
    search = Search(START, Schedule(seed=3, rolls=100, population=12), history)
    for _ in search.generations(generations, bowl):
        pass
    return search


def test_it_finds_the_bottom_of_a_bowl() -> None:
    assert np.abs(made(60).estimate.mean - BEST).max() < 1e-3


def test_a_best_point_on_the_border_is_approached_and_never_passed() -> None:
    search = Search(START, Schedule(seed=3, rolls=100, population=12))
    for _ in search.generations(60, lambda _, points: [(float(p.sum()), None) for p in points]):
        pass
    assert search.estimate.mean.max() < 0.05  # from 0.5
    assert min(min(found.point) for generation in search.history for found in generation) >= 0


@pytest.mark.parametrize("kept", [0, 1, 7, 19])
def test_a_search_that_goes_on_is_the_one_that_was_never_stopped(kept: int) -> None:
    whole = made(20)
    # As through a file.
    text = json.dumps([[list(f.point) for f in g] for g in whole.history[:kept]])
    history = [
        tuple(Found(tuple(point), found.loss) for point, found in zip(points, g, strict=True))
        for points, g in zip(json.loads(text), whole.history, strict=False)
    ]
    again = made(20, history)
    assert again.history == whole.history
    assert again.estimate.mean.tolist() == whole.estimate.mean.tolist()


def test_another_seed_is_another_search() -> None:
    other = Search(START, Schedule(seed=4, rolls=100, population=12))
    for _ in other.generations(1, bowl):
        pass
    assert other.history[0] != made(1).history[0]


def test_a_history_of_another_population_is_refused() -> None:
    history = made(2).history
    with pytest.raises(ConfigError, match="no part of a search with 14"):
        Search(START, Schedule(seed=3, rolls=100, population=14), history)


def test_each_generation_sees_rolls_that_none_saw_before() -> None:
    schedule = Schedule(seed=0, rolls=33, population=8, growth=1.3, most_rolls=200)
    blocks = [
        range(schedule.first_in(g), schedule.first_in(g) + schedule.rolls_in(g)) for g in range(12)
    ]
    seen = [index for block in blocks for index in block]
    assert seen == list(range(len(seen)))
    sizes = [len(block) for block in blocks]
    assert sizes[0] == 34 and sizes[-1] == 200 and sizes == sorted(sizes)
    assert all(
        size % 2 == 0 and block[0] % 2 == 0 for size, block in zip(sizes, blocks, strict=True)
    )

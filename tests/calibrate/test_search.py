from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from physim.calibrate.search import CmaSearch, Evaluation, Generation, Schedule
from physim.types import FloatArray

BEST = np.array([0.7, 0.2, 0.55])
START = np.full(3, 0.5)


def bowl(point: FloatArray) -> float:
    """A stretched bowl, tilted against the axes, the same in each generation."""
    x = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 5.0]]) @ (point - BEST)
    return float(x @ x)


def made(
    generations: int,
    loss: Callable[[FloatArray], float] = bowl,
    history: Sequence[Generation] = (),
    seed: int = 3,
) -> tuple[CmaSearch, list[Generation]]:
    """The search after so many generations, the first of which are known already."""
    search, told = CmaSearch(START, Schedule(seed=seed, rolls=100, population=12)), []
    for number in range(generations):
        points = search.ask()
        if number < len(history):
            told.append(history[number])
        else:
            told.append([Evaluation(tuple(point.tolist()), loss(point)) for point in points])
        search.tell(told[-1])
    return search, told


def test_it_finds_the_bottom_of_a_bowl() -> None:
    assert np.abs(made(60)[0].estimate().mean - BEST).max() < 1e-3


def test_a_best_point_on_the_border_is_approached_and_never_passed() -> None:
    search, told = made(60, lambda point: float(point.sum()))
    assert search.estimate().mean.max() < 0.05  # from 0.5
    assert min(min(found.point) for generation in told for found in generation) >= 0


@pytest.mark.parametrize("kept", [0, 1, 7, 19])
def test_a_search_that_goes_on_is_the_one_that_was_never_stopped(kept: int) -> None:
    search, whole = made(20)
    # As through a file.
    text = json.dumps([[list(f.point) for f in g] for g in whole[:kept]])
    history = [
        [Evaluation(tuple(point), found.loss) for point, found in zip(points, g, strict=True)]
        for points, g in zip(json.loads(text), whole, strict=False)
    ]
    again, told = made(20, history=history)
    assert told == whole
    assert again.estimate().mean.tolist() == search.estimate().mean.tolist()


def test_another_seed_is_another_search() -> None:
    assert made(1, seed=4)[1] != made(1)[1]


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

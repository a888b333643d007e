"""A made-up pig whose pose probabilities are known: a fit of it takes no physics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from physim.calibrate.evaluate import Block, Evaluator, RestScreening, Trial
from physim.calibrate.priors import Parameter, Space, Values
from physim.calibrate.problem import CMA, FitProblem
from physim.calibrate.search import Schedule
from physim.calibrate.target import HeightCounts, Objective, Progress
from physim.seeding import stream
from physim.simulator import Setup
from physim.statistics.counts import NAMED_POSES
from physim.types import PIG_NAMES

HEIGHTS = (127, 203)
NAMES = ("lead", "bounce", "lean")
SPACE = Space(tuple(Parameter(name, "mm", -2.0, 2.0, 0.0, 1.0, "made up") for name in NAMES))
START = dict.fromkeys(NAMES, 0.0)
TRUTH = {"lead": 0.5, "bounce": -0.7, "lean": 0.3}
# Logits of the six poses: a base, and what each parameter and the height add.
BASE = np.array([1.2, 1.3, 0.0, 0.9, -1.0, -2.6])
SLOPES = np.array(
    [
        [0.3, -0.3, 0.0, 0.0, 0.2, 0.1],
        [0.0, 0.0, 0.4, -0.3, 0.1, 0.0],
        [0.1, 0.1, 0.0, 0.0, -0.4, 0.5],
    ]
)
HIGHER = np.array([0.0, 0.1, -0.2, 0.1, 0.0, 0.0])


@cache
def base() -> Setup:
    """What candidates would change if they were rolled."""
    return Setup.named()


def swapped(real: HeightCounts) -> HeightCounts:
    """Two poses with their names exchanged: no values agree with them."""
    names = {"trotter": "razorback", "razorback": "trotter"}
    return HeightCounts(
        Counter({(h, what, names.get(name, name)): n for (h, what, name), n in real.counts.items()})
    )


def probabilities(values: Values, height: int) -> NDArray[np.float64]:
    logits = BASE + np.array([values.get(name, 0.0) for name in NAMES]) @ SLOPES
    odds = np.exp(logits + (HIGHER if height == HEIGHTS[1] else 0.0))
    return np.asarray(odds / odds.sum())


def drawn(rng: np.random.Generator, values: Values, rolls: int) -> HeightCounts:
    """So many rolls, half from each height, of which one in 250 touches."""
    counts: Counter[tuple[int, str, str]] = Counter()
    for height in HEIGHTS:
        touching = int(rng.binomial(rolls // 2, 0.004))
        counts[height, "rolls", "rolls"] = rolls // 2
        counts[height, "rolls", "touching"] = touching
        for pig in PIG_NAMES:
            drawn = rng.multinomial(rolls // 2 - touching, probabilities(values, height))
            for pose, count in zip(NAMED_POSES, drawn.tolist(), strict=True):
                counts[height, pig, pose.value] = count
    return HeightCounts(counts)


@dataclass
class MadeUp(Evaluator):
    """Rolls the made-up pig.

    Attributes:
        refuses: says why a candidate is no pig; "" if it is one.
        stop_before: raises KeyboardInterrupt at this call.
        calls: so far.
        blocks: that were asked for.
    """

    refuses: Callable[[Values], str] = lambda values: ""
    stop_before: int = -1
    calls: int = 0
    blocks: list[Block] = field(default_factory=list)

    def screen(self, candidates: Sequence[Values]) -> list[RestScreening]:
        raise AssertionError("nothing is to be screened")

    def roll(
        self, candidates: Sequence[Values], block: Block, progress: Progress | None = None
    ) -> list[Trial]:
        del progress
        if self.calls == self.stop_before:
            raise KeyboardInterrupt
        self.calls += 1
        self.blocks.append(block)
        return [
            Trial(HeightCounts(), problem, 1.0)
            if (problem := self.refuses(values))
            else Trial(drawn(stream(block.seed, block.of(number).start), values, block.rolls))
            for number, values in enumerate(candidates)
        ]


def problem(
    real: HeightCounts,
    *,
    seed: int = 1,
    generations: int = 12,
    rolls: int = 400,
    space: Space = SPACE,
    method: str = CMA,
    start: Values = START,
    refinements: int = 0,
    waves: int = 0,
) -> FitProblem:
    return FitProblem(
        objective=Objective(real, space, "made up"),
        schedule=Schedule(seed, rolls, population=12 if method == CMA else 32),
        generations=generations,
        final_rolls=40_000,
        base=base(),
        start=start,
        method=method,
        refinements=refinements,
        waves=waves,
    )


def real_rolls(values: Values = TRUTH, seed: int = 77, rolls: int = 6000) -> HeightCounts:
    return drawn(np.random.default_rng(seed), values, rolls)

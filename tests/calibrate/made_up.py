"""A made-up pig whose pose probabilities are known: a fit of it takes no physics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from physim.calibrate.evaluate import Block, Progress, Trial
from physim.calibrate.fit import CMA, Problem
from physim.calibrate.priors import Parameter, Space, Values
from physim.calibrate.sample import Sample
from physim.calibrate.search import Schedule
from physim.calibrate.target import Objective, Target
from physim.seeding import stream
from physim.statistics.counts import NAMED_POSES
from physim.types import PIG_NAMES, Pose

HEIGHTS = (127, 203)
NAMES = ("lead", "bounce", "lean")
SPACE = Space(tuple(Parameter(name, "mm", -2.0, 2.0, 0.0, 1.0, "made up") for name in NAMES))
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


def probabilities(values: Values, height: int) -> NDArray[np.float64]:
    logits = BASE + np.array([values.get(name, 0.0) for name in NAMES]) @ SLOPES
    odds = np.exp(logits + (HIGHER if height == HEIGHTS[1] else 0.0))
    return np.asarray(odds / odds.sum())


def drawn(rng: np.random.Generator, values: Values, rolls: int) -> Sample:
    """So many rolls, half from each height, of which one in 250 touches."""
    pigs: dict[tuple[int, str, Pose], int] = {}
    fates: dict[tuple[int, str], int] = {}
    for height in HEIGHTS:
        touching = int(rng.binomial(rolls // 2, 0.004))
        fates[height, "rolls"], fates[height, "touching"] = rolls // 2, touching
        for pig in PIG_NAMES:
            counts = rng.multinomial(rolls // 2 - touching, probabilities(values, height))
            for pose, count in zip(NAMED_POSES, counts.tolist(), strict=True):
                pigs[height, pig, pose] = count
    return Sample(pigs, fates)


@dataclass
class MadeUp:
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

    def roll(
        self, candidates: Sequence[Values], block: Block, progress: Progress | None = None
    ) -> list[Trial]:
        del progress
        if self.calls == self.stop_before:
            raise KeyboardInterrupt
        self.calls += 1
        self.blocks.append(block)
        return [
            Trial(Sample(), problem, 1.0)
            if (problem := self.refuses(values))
            else Trial(drawn(stream(block.seed, block.of(number).start), values, block.rolls))
            for number, values in enumerate(candidates)
        ]


def problem(
    real: Sample,
    *,
    seed: int = 1,
    generations: int = 12,
    rolls: int = 400,
    space: Space = SPACE,
    method: str = CMA,
) -> Problem:
    return Problem(
        objective=Objective(Target("made up", None, real), space),
        schedule=Schedule(seed, rolls, population=12 if method == CMA else 32),
        generations=generations,
        final_rolls=40_000,
        about={"base": {"kind": "made up"}},
        method=method,
    )


def real_rolls(values: Values = TRUTH, seed: int = 77, rolls: int = 6000) -> Sample:
    return drawn(np.random.default_rng(seed), values, rolls)


def at_prior() -> dict[str, float]:
    return dict.fromkeys(NAMES, 0.0)

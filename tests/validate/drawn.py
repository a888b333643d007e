"""Rolls that are drawn from given frequencies, in the columns of a dataset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from physim.statistics.counts import Counts
from physim.types import Outcome, Pose, Status
from physim.validate.datasets import Rolls, SetupPlan

HEIGHTS_M = (0.127, 0.203)
POSES = [pose for pose in Pose if pose is not Pose.OTHER]
NAMES = [pose.value for pose in POSES]
# Counts of the real rolls, from the published table, in the order of `Pose`.
REAL_BY_HEIGHT = ([1903, 2023, 573, 1251, 192, 36], [1704, 2157, 484, 1423, 171, 37])
REAL = np.sum(REAL_BY_HEIGHT, axis=0) / 11_954
TOUCHING = 23 / 6000

Frequencies = Sequence[float] | NDArray[np.float64]


def rolls(
    n: int,
    seed: int,
    frequencies: Sequence[Frequencies] = (REAL, REAL),
    *,
    touching: float = TOUCHING,
    unsettled: float = 0.0,
    heights_m: tuple[float, ...] = HEIGHTS_M,
) -> Rolls:
    """Rolls with independent pigs, one set of frequencies a height.

    The same seed gives the same random numbers whatever the frequencies are.
    """
    rng = np.random.default_rng(seed)
    numbers = rng.random((n, 3))  # a row a roll: the first rolls are the same for every n
    fate, pigs = numbers[:, 0], numbers[:, 1:]
    turn = np.arange(n) % len(frequencies)
    codes = np.zeros((n, 2), dtype=int)
    for which, shares in enumerate(frequencies):
        bounds = np.cumsum(np.asarray(shares) / np.sum(shares))
        rows = turn == which
        codes[rows] = np.minimum(np.searchsorted(bounds, pigs[rows], side="right"), len(POSES) - 1)
    touches = fate < touching
    lost = (fate >= touching) & (fate < touching + unsettled)
    outcome = np.where(touches, Outcome.OINKER.value, Outcome.SIDER.value).astype(object)
    outcome[lost] = Outcome.UNSETTLED.value
    status = np.where(lost, Status.UNSETTLED.value, Status.OK.value).astype(object)
    names = np.array(NAMES, dtype=object)
    score = np.ones(n)
    score[lost] = np.nan
    return Rolls(
        {
            "index": np.arange(n),
            "status": status,
            "outcome": outcome,
            "score": score,
            "touching": touches,
            "black_pose": names[codes[:, 0]],
            "pink_pose": names[codes[:, 1]],
            "black_rest": codes[:, 0].astype(float),
            "pink_rest": codes[:, 1].astype(float),
        },
        heights_m,
    )


def moved(share: float, one: str, two: str) -> NDArray[np.float64]:
    """The real frequencies with some of one pose's share given to another."""
    changed = REAL.copy()
    changed[NAMES.index(one)] -= share
    changed[NAMES.index(two)] += share
    return changed


def swapped(one: str, two: str) -> NDArray[np.float64]:
    """The real frequencies with two poses taken for each other."""
    changed = REAL.copy()
    i, j = NAMES.index(one), NAMES.index(two)
    changed[[i, j]] = changed[[j, i]]
    return changed


class Drawn:
    """A source of rolls: by the label of a sample its frequencies, the real ones by default."""

    def __init__(self, **samples: Frequencies | Callable[[SetupPlan], Rolls]) -> None:
        self._samples: Mapping[str, Frequencies | Callable[[SetupPlan], Rolls]] = samples
        self.asked: dict[str, SetupPlan] = {}

    def __call__(self, plan: SetupPlan) -> Rolls:
        assert plan.label not in self.asked
        self.asked[plan.label] = plan
        chosen = self._samples.get(plan.label, REAL)
        if callable(chosen):
            return chosen(plan)
        return rolls(plan.n, plan.seed, (chosen, chosen))


def counts(frequencies: Frequencies, n: int = 100_000, seed: int = 1, **more: float) -> Counts:
    """A sample of rolls as counts."""
    return rolls(n, seed, (frequencies, frequencies), **more).counts  # type: ignore[arg-type]

"""All contestants on the same tosses, in rounds: what each costs, and what it rolled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from physim.batch.plan import BatchPlan
from physim.bench.contestants import PHYSIM_FULL, PLAIN
from physim.bench.lane import Lane, Timed
from physim.statistics.compare import g_test, total_variation
from physim.statistics.counts import Counts
from physim.statistics.pairs import NAMED_POSES


@dataclass(frozen=True)
class Distance:
    """How far the poses of two samples are apart.

    Attributes:
        tv: total variation distance of the frequencies.
        expected_tv: what chance alone gives on average, if the two roll alike.
        g, df, p: G-test of one distribution. The samples share their tosses; that makes them,
            if anything, more alike than the independent ones that both numbers assume.
    """

    tv: float
    expected_tv: float
    g: float
    df: int
    p: float


@dataclass(frozen=True)
class Row:
    """One contestant.

    Attributes:
        name: one of `contestants.NAMES`.
        rolls_per_second: of one core, median over the rounds.
        time_step_s: the (longest) step [s].
        simulated_s: simulated time of a roll, mean [s].
        ratio: (median, lowest, highest) over the rounds of its rolls per second over those of
            the plain loop in the same round; None if that did not run.
        counts: what it rolled.
        to_full: its distance to `physim_full`; None if one of them has no pigs to count.
    """

    name: str
    rolls_per_second: float
    time_step_s: float
    simulated_s: float
    ratio: tuple[float, float, float] | None
    counts: Counts
    to_full: Distance | None


def race(
    names: Sequence[str],
    plan: BatchPlan,
    rounds: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Row]:
    """Times every contestant on the rolls 0 to n - 1 of the plan.

    In each round all contestants, one after the other, make the same share of the rolls: what
    else the machine does meanwhile slows them alike, and ratios are taken within a round.

    Args:
        names: of the contestants.
        plan: the rolls; its `settle` does not count.
        rounds: at most n.
        progress: called with the rolls done and all rolls, of all contestants.
    """
    step_s = plan.setup().settings.time_step_s
    shares = [part.tolist() for part in np.array_split(np.arange(plan.n), rounds)]
    times: dict[str, list[Timed]] = {name: [] for name in names}
    with ExitStack() as stack:
        lanes = [stack.enter_context(Lane(name, plan)) for name in names]
        done, total = 0, plan.n * len(names)
        progress(done, total)
        for share in shares:
            for lane in lanes:
                times[lane.name].append(lane.roll(share))
                done += len(share)
                progress(done, total)
    return rows(times, [len(share) for share in shares], step_s)


def rows(times: dict[str, list[Timed]], sizes: Sequence[int], step_s: float) -> list[Row]:
    """What the rounds of all contestants add up to.

    Args:
        times: by name, of every round.
        sizes: rolls of every round.
        step_s: the time step [s].
    """
    speeds = {
        name: np.array([n / one.processor_s for n, one in zip(sizes, own, strict=True)])
        for name, own in times.items()
    }
    counts = {name: sum((one.counts for one in own), Counts()) for name, own in times.items()}
    full = counts.get(PHYSIM_FULL)
    table = []
    for name, own in times.items():
        ratios = speeds[name] / speeds[PLAIN] if PLAIN in speeds else None
        table.append(
            Row(
                name,
                float(np.median(speeds[name])),
                step_s,
                sum(one.simulated_s for one in own) / sum(sizes),
                None
                if ratios is None
                else (float(np.median(ratios)), float(ratios.min()), float(ratios.max())),
                counts[name],
                None if full is None or name == PHYSIM_FULL else distance(counts[name], full),
            )
        )
    return table


def distance(one: Counts, two: Counts) -> Distance | None:
    """How far the named poses of two samples are apart; None if one has none."""
    first, second = ([counts.poses[pose] for pose in NAMED_POSES] for counts in (one, two))
    if not sum(first) or not sum(second):
        return None
    test = g_test(first, second)
    return Distance(
        total_variation(first, second), expected_tv(first, second), test.g, test.df, test.p
    )


def expected_tv(one: Sequence[int], two: Sequence[int]) -> float:
    """Mean total variation distance of two samples of these sizes from one distribution.

    A difference of frequencies is nearly normal; half the sum of the mean absolute deviations
    s sqrt(2 / pi), s^2 = p (1 - p) (1 / n + 1 / m).
    """
    first, second = np.asarray(one, dtype=float), np.asarray(two, dtype=float)
    n, m = first.sum(), second.sum()
    p = (first + second) / (n + m)
    deviations = np.sqrt(p * (1.0 - p) * (1.0 / n + 1.0 / m))
    return float(deviations.sum() / np.sqrt(2.0 * np.pi))

"""The reference loop and the fast path come to the same frequencies; see `tests/benchmarks` too."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from physim.bench.benchmark import PLAIN, RollOf, scored, two_pigs
from physim.simulator import Setup, Simulator
from physim.statistics.tests import g_test
from physim.tosses.release import Trapdoor
from physim.types import Outcome, Pose

SEED, ROLLS = 12, 120
ERROR_RATE = 1e-5
MOVING = ("door_angle_rad", "pitch_rate_rad_s", "slide_m_s")


def poses_of(roll_of: RollOf, count: int) -> Counter[Pose]:
    poses: Counter[Pose] = Counter()
    for index in range(count):
        roll = roll_of(SEED, index)
        if roll.outcome not in (Outcome.OFF_TABLE, Outcome.UNSETTLED):
            poses.update(pig.pose for pig in roll.pigs)
    return poses


def p_value(first: Counter[Pose], second: Counter[Pose]) -> float:
    poses = [pose for pose in Pose if first[pose] + second[pose] > 0]
    return g_test([first[pose] for pose in poses], [second[pose] for pose in poses]).p


def test_the_fast_path_rolls_what_the_reference_loop_rolls() -> None:
    setup = Setup.named()
    with Simulator(setup) as fast, two_pigs(PLAIN, setup) as pigs:
        ours, theirs = poses_of(fast.roll, ROLLS), poses_of(scored(setup, pigs), ROLLS)
    assert sum(theirs.values()) > 1.9 * ROLLS
    assert p_value(ours, theirs) > ERROR_RATE
    # The same check must reject pigs that are set down and not tossed.
    assert isinstance(setup.toss, Trapdoor)
    still = {name: 0.0 for name in vars(setup.toss) if "spread" in name or name in MOVING}
    laid = replace(setup, toss=replace(setup.toss, heights_m=(0.001,), **still))
    with two_pigs(PLAIN, laid) as pigs:
        assert p_value(ours, poses_of(scored(laid, pigs), ROLLS // 4)) < ERROR_RATE

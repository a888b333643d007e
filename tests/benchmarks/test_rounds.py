"""What rounds add up to."""

import multiprocessing

import numpy as np
import pytest

from physim.bench.benchmark import (
    MUJOCO,
    PHYSIM,
    PHYSIM_FULL,
    PLAIN,
    Timing,
    benchmark,
    distance,
    engine_process,
    expected_tv,
    results,
)
from physim.dataset.plan import BatchPlan
from physim.errors import PhysicsError
from physim.statistics.counts import Counts
from physim.types import Pose
from tests.counted import counts_of

STEPS_S = dict.fromkeys((PLAIN, PHYSIM, PHYSIM_FULL, MUJOCO), 1 / 2048)


def counts(*of_poses: int) -> Counts:
    return counts_of(of_poses)


def test_speeds_are_medians_and_ratios_are_taken_within_a_round() -> None:
    sample = counts(6, 7, 2, 4, 1, 0)
    # The machine was half as fast in the second round; the third had 20 rolls.
    plain = [Timing(1.0, 9.0, sample), Timing(2.0, 9.0, sample), Timing(2.0, 22.0, sample)]
    ours = [Timing(0.25, 7.0, sample), Timing(0.4, 7.0, sample), Timing(1.0, 14.0, sample)]
    first, second = results({PLAIN: plain, PHYSIM: ours}, [10, 10, 20], STEPS_S)
    assert (first.rolls_per_second, first.ratio) == (10.0, (1.0, 1.0, 1.0))
    assert first.simulated_s == pytest.approx(40 / 40)
    assert second.rolls_per_second == pytest.approx(25.0)
    assert second.ratio == pytest.approx((4.0, 2.0, 5.0))
    assert second.counts.rolls == 30
    assert second.counts.poses[Pose.SIDE_DOT_UP] == 18
    assert first.to_full is second.to_full is None  # nobody to compare with


def test_distance_to_the_full_simulation() -> None:
    one, two = counts(50, 50, 0, 0, 0, 0), counts(40, 50, 10, 0, 0, 0)
    table = results(
        {MUJOCO: [Timing(1.0, 1.0, one)], PHYSIM_FULL: [Timing(1.0, 1.0, two)]}, [50], STEPS_S
    )
    assert table[0].ratio is None
    assert table[1].to_full is None
    assert table[0].to_full is not None
    assert table[0].to_full.tv == pytest.approx(0.1)
    assert table[0].to_full.df == 2
    # 2 sum O ln(O / E), with E = 45, 50 and 5.
    g = 2 * (50 * np.log(50 / 45) + 40 * np.log(40 / 45) + 10 * np.log(10 / 5))
    assert table[0].to_full.g == pytest.approx(g)
    assert distance(one, counts(0, 0, 0, 0, 0, 0)) is None


def test_expected_distance_is_what_equal_samples_have() -> None:
    p = np.array([0.3, 0.35, 0.09, 0.22, 0.03, 0.01])
    rng = np.random.default_rng(5)
    n, m = 4000, 8000
    drawn = [(rng.multinomial(n, p), rng.multinomial(m, p)) for _ in range(2000)]
    distances = np.array([np.abs(a / n - b / m).sum() / 2 for a, b in drawn])
    expected = np.mean([expected_tv(a.tolist(), b.tolist()) for a, b in drawn[:50]])
    # The mean of 2,000 has a standard error of .7 %; 5 % is beyond 1e-6.
    assert expected == pytest.approx(distances.mean(), rel=0.05)
    assert expected_tv((10 * p * n).tolist(), (10 * p * m).tolist()) < 0.9 * expected


def test_all_roll_the_same_indices_however_they_are_split() -> None:
    done: list[int] = []
    names, plan = [PHYSIM_FULL, PHYSIM], BatchPlan(n=3, seed=4)
    table = benchmark(names, plan, 2, lambda now, of: done.append(now))
    with plan.open() as simulator:
        expected = Counts.from_rows(simulator.rolls(4, range(3)))
    assert done == [0, 2, 4, 5, 6]
    assert [row.name for row in table] == names
    for row in table:
        assert row.counts == expected
        assert row.rolls_per_second > 0
        assert row.time_step_s == STEPS_S[row.name]
    assert table[0].simulated_s > table[1].simulated_s  # one waits for stillness


def test_an_engine_whose_process_dies_is_named() -> None:
    before = set(multiprocessing.active_children())
    with engine_process(PHYSIM, BatchPlan(n=1)) as roll:
        (process,) = set(multiprocessing.active_children()) - before
        process.kill()
        process.join()
        with pytest.raises(PhysicsError, match="physim: its process died"):
            roll([0])

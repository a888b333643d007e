from __future__ import annotations

import json
from dataclasses import replace

import pytest

from physim.calibrate.evaluate import simulate
from physim.calibrate.target import HeightCounts, heights_mm, sample_of
from physim.errors import DatasetError
from physim.simulator import Setup, Simulator
from physim.statistics.counts import Counts
from physim.tosses.release import toss
from physim.types import PIG_NAMES, Outcome, Pose
from tests.calibrate.made_up import real_rolls

ROWS = [
    (0, "pig_out", "side_dot_up", "side_dot_down"),
    (1, "trotter", "trotter", "side_dot_up"),
    (2, "oinker", "other", "trotter"),
    (3, "piggyback", "other", "other"),
    (4, "unsettled", "side_dot_up", "other"),
    (5, "ambiguous", "other", "snouter"),
    (6, "off_table", "other", "razorback"),
]


def test_each_roll_counts_where_it_belongs() -> None:
    sample = sample_of(ROWS, (127, 203))
    assert sample.rolls == 7 and sample.heights_mm == (127, 203)
    assert [sample.outcome("rolls", height) for height in (127, 203)] == [4, 3]
    fates = {"touching": 2, "piggyback": 1, "unsettled": 1, "ambiguous": 1, "off_table": 1}
    assert {fate: sample.outcome(fate) for fate in fates} == fates
    # Pigs: of the first two rolls and of the ambiguous one.
    assert sample.poses(127, "black")[Pose.SIDE_DOT_UP] == 1
    assert sample.poses(203, "pink") == dict.fromkeys(Pose, 0) | {
        Pose.SIDE_DOT_UP: 1,
        Pose.SNOUTER: 1,
    }
    assert sum(sample.poses().values()) == 6 and sample.poses()[Pose.OTHER] == 1


def test_samples_add_up_in_any_order_and_survive_json() -> None:
    one, two = real_rolls(rolls=400), sample_of(ROWS, (127, 203))
    assert one + two == two + one
    assert (one + two).rolls == 407
    assert one + HeightCounts() == one
    assert HeightCounts.from_json(json.loads(json.dumps((one + two).to_json()))) == one + two
    assert one != two


@pytest.mark.parametrize("data", [{"127": {}}, {"low": {"rolls": 1}}, [1], {"127": None}])
def test_what_is_no_sample_is_refused(data: object) -> None:
    with pytest.raises(DatasetError, match="no counts of rolls"):
        HeightCounts.from_json(data)  # type: ignore[arg-type]


def test_simulated_rolls_are_counted_as_the_statistics_count_them() -> None:
    import physim

    setup = Setup.named()
    sample = simulate(setup, 5, 0, 12)
    counts = physim.batch(12, seed=5, workers=1).counts
    assert {pose: sample.poses()[pose] for pose in Pose} == dict(counts.poses)
    assert sample.outcome("touching") == counts.touching
    assert sample.outcome("unsettled") == counts.outcomes[Outcome.UNSETTLED]
    assert simulate(setup, 5, 0, 7) + simulate(setup, 5, 7, 5) == sample
    assert isinstance(counts, Counts) and {*PIG_NAMES, "rolls"} == {
        what for _, what, _ in sample.counts
    }


def test_the_height_is_that_of_the_roll() -> None:
    """Rolls from one height are the same as the half of the alternating ones from there."""
    both = Setup.named()
    low = replace(both, toss=toss("trapdoor", 127))
    assert heights_mm(both.toss) == (127, 203) and heights_mm(low.toss) == (127,)
    with Simulator(low) as simulator:
        rows = [
            (roll.index, roll.outcome, *(pig.pose for pig in roll.pigs))
            for roll in simulator.rolls(5, range(0, 8, 2))
        ]
    expected = sample_of(rows, heights_mm(low.toss))
    mixed = simulate(both, 5, 0, 8)
    assert mixed.poses(127) == expected.poses(127) and mixed.outcome("rolls", 203) == 4

"""When two pigs touch, ride or lean: by distances that are known beforehand."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from physim.physics.body import Body
from physim.physics.fast.world import World
from physim.physics.surfaces import table
from physim.poses.classify import pig_contacts
from physim.simulator import RestTable, classify_and_score, lying
from physim.types import (
    PIG_NAMES,
    Ended,
    Outcome,
    PigModel,
    Rest,
    RigidState,
    Roll,
    Status,
    Table,
    Toss,
)

Array = NDArray[np.float64]
Gap = Callable[[Array, Array], float]
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])
GAPS_MM = (-0.2, 0.0, 0.05, 0.09, 0.11, 0.2, 1.0, 3.0)


def roll_of(model: PigModel, first: RigidState, second: RigidState) -> Roll:
    rest = Rest(Status.OK, Ended.REST, 1.0, (first, second), (1.0, 1.0))
    rests = RestTable.of(model)
    return classify_and_score(0, 0, rest, (model, model), (rests, rests))


@pytest.mark.parametrize("gap_mm", GAPS_MM)
def test_boxes_touch_below_a_tenth_of_a_millimetre(
    box: Callable[..., PigModel], gap_mm: float
) -> None:
    model = box([0.04, 0.02, 0.02])
    turn = Rotation.from_euler("z", 25, degrees=True)
    first = RigidState(np.array([0.0, 0.0, 0.01]), turn.as_quat())
    across = turn.apply([0.0, 0.02 + gap_mm * 1e-3, 0.0])
    second = replace(first, position_m=first.position_m + across)
    of_first, of_second = pig_contacts((model, model), (first, second), PIG_NAMES)
    assert bool(of_first) == bool(of_second) == (gap_mm < 0.1)
    for contact in (*of_first, *of_second):
        assert contact.gap_m == pytest.approx(max(0.0, gap_mm) * 1e-3, abs=1e-9)
    assert [contact.other for contact in (*of_first, *of_second)] == (
        ["pink", "black"] if gap_mm < 0.1 else []
    )


def reached(
    standard: PigModel,
    placed: Callable[[Array, RigidState], Array],
    hull_gap: Gap,
    states: tuple[RigidState, RigidState],
    *,
    along: Array,
    gap_m: float,
) -> RigidState:
    """The second pig, moved along a direction until it is this far from the first."""
    first, second = states
    mine = [placed(part.vertices_m, first) for part in standard.parts]

    def moved(by: float) -> RigidState:
        return replace(second, position_m=second.position_m + by * along)

    def distance(by: float) -> float:
        nearest = 1e-3
        for part in standard.parts:
            its = placed(part.vertices_m, moved(by))
            for corners in mine:
                apart = np.maximum(its.min(axis=0) - corners.max(axis=0), 0)
                apart = np.maximum(apart, corners.min(axis=0) - its.max(axis=0))
                if np.linalg.norm(apart) < nearest:
                    nearest = min(nearest, hull_gap(corners, its))
                    if nearest == 0:
                        return 0.0
        return nearest

    near, far = 0.0, 0.06
    while far - near > 1e-6:
        middle = 0.5 * (near + far)
        near, far = (near, middle) if distance(middle) > gap_m else (middle, far)
    assert distance(near) == pytest.approx(gap_m, abs=2e-6)
    return moved(near)


@pytest.mark.parametrize("gap_mm", [0.05, 0.09, 0.11, 0.2])
@pytest.mark.parametrize("pose", range(2))
def test_pigs_touch_below_a_tenth_of_a_millimetre(
    standard: PigModel,
    placed: Callable[[Array, RigidState], Array],
    hull_gap: Gap,
    gap_mm: float,
    pose: int,
) -> None:
    rests = RestTable.of(standard).rests
    first, second = lying(rests[pose].rest), lying(rests[pose + 1].rest)
    second = replace(second, position_m=second.position_m + np.array([0.004, 0.0, 0.0]))
    across = np.array([0.0, 1.0, 0.0])
    second = reached(standard, placed, hull_gap, (first, second), along=across, gap_m=gap_mm * 1e-3)
    roll = roll_of(standard, first, second)
    assert roll.touching == (gap_mm < 0.1)
    assert (roll.outcome is Outcome.OINKER) == (gap_mm < 0.1)
    deeper = replace(second, position_m=second.position_m - 4e-4 * across)
    assert roll_of(standard, first, deeper).outcome is Outcome.OINKER


@pytest.mark.parametrize("gap_mm", [0.05, 0.15])
def test_a_pig_lying_on_a_pig_is_a_piggyback(
    standard: PigModel,
    placed: Callable[[Array, RigidState], Array],
    hull_gap: Gap,
    gap_mm: float,
) -> None:
    rests = RestTable.of(standard).rests
    below, above = lying(rests[0].rest), lying(rests[1].rest)
    up = np.array([0.0, 0.0, 1.0])
    above = reached(standard, placed, hull_gap, (below, above), along=up, gap_m=gap_mm * 1e-3)
    roll = roll_of(standard, below, above)
    assert roll.touching == (gap_mm < 0.1)
    assert (roll.outcome is Outcome.PIGGYBACK) == (gap_mm < 0.1)
    assert all(contact.other == "black" for contact in roll.pigs[1].contacts)


def settled(model: PigModel, surface: Table, first: RigidState, second: RigidState) -> Roll:
    body = Body.of(model)
    with World((body, body), surface) as world:
        rest = world.settle(Toss(first, second))
    assert rest.status is Status.OK
    return roll_of(model, *rest.pigs)


@pytest.mark.parametrize("rider", ["black", "pink"])
def test_a_box_on_another_is_a_piggyback(
    box: Callable[..., PigModel], bare_table: Callable[..., Table], rider: str
) -> None:
    model = box([0.04, 0.03, 0.02], friction=0.7, restitution=0.2)
    below = RigidState(np.array([0.0, 0.0, 0.0101]), UPRIGHT)
    above = RigidState(np.array([0.004, 0.002, 0.0305]), UPRIGHT)
    states = (above, below) if rider == "black" else (below, above)
    roll = settled(model, bare_table(1.0), *states)
    assert roll.touching
    assert roll.outcome is Outcome.PIGGYBACK
    assert roll.score == 0
    for pig in roll.pigs:
        on_table = any(contact.other == "table" for contact in pig.contacts)
        assert on_table == (pig.name != rider)


def test_a_plank_leaning_on_a_block_is_an_oinker(
    box: Callable[..., PigModel], bare_table: Callable[..., Table]
) -> None:
    model = box([0.06, 0.03, 0.012], friction=0.9, restitution=0.0)
    lies = RigidState(np.array([0.0, 0.0, 0.0061]), UPRIGHT)
    # The lower end on the table on the far side, the upper part above the other's edge.
    tilt = Rotation.from_euler("y", -20, degrees=True)
    low = tilt.apply(model.vertices_m)[:, 2].min()
    lean = RigidState(np.array([-0.046, 0.0, 1e-4 - low]), tilt.as_quat())
    roll = settled(model, bare_table(1.0), lies, lean)
    assert roll.touching
    assert roll.outcome is Outcome.OINKER
    for pig in roll.pigs:
        assert any(contact.other == "table" for contact in pig.contacts)
    tilted = Rotation.from_quat(roll.pigs[1].quat_xyzw).as_matrix()[2, 2]
    assert tilted < 0.999  # it does lean


def test_pigs_apart_are_no_oinker(standard: PigModel) -> None:
    rests = RestTable.of(standard).rests
    first = lying(rests[0].rest)
    second = replace(lying(rests[1].rest), position_m=np.array([0.0, 0.1, rests[1].rest.height_m]))
    roll = roll_of(standard, first, second)
    assert not roll.touching
    assert roll.outcome not in (Outcome.OINKER, Outcome.PIGGYBACK)


def test_a_pig_dropped_on_a_lying_pig(standard: PigModel) -> None:
    """Dropped onto the other from 1 mm: whatever follows, contacts and outcome agree."""
    rests = RestTable.of(standard).rests
    below = lying(rests[1].rest)
    for number in range(6):
        turn = Rotation.from_euler("z", 60 * number, degrees=True)
        flank = lying(rests[2].rest)
        above = RigidState(
            np.array([0.0, 0.0, 0.024 + flank.position_m[2]]),
            (turn * Rotation.from_quat(flank.quat_xyzw)).as_quat(),
        )
        roll = settled(standard, table("felt"), below, above)
        rides = [all(c.other != "table" for c in pig.contacts) for pig in roll.pigs]
        assert (roll.outcome is Outcome.PIGGYBACK) == (roll.touching and any(rides))
        assert roll.touching == any(c.other in PIG_NAMES for c in roll.pigs[0].contacts)

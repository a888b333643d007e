"""The stable rests of the standard pig: by the quasi-static analysis, and by physics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from physim.rests import NamedRest, RestTable, lying
from physim.roll import Setup, Simulator
from physim.statistics.pairs import NAMED_POSES
from physim.values import PigModel, Pose, RigidState, Status, Toss
from tests.world.worlds import go_on


@pytest.fixture(scope="module")
def table(standard: PigModel) -> RestTable:
    return RestTable.of(standard)


def test_there_are_the_six_poses_and_no_other(table: RestTable) -> None:
    assert {named.pose for named in table.rests} == set(NAMED_POSES)
    assert sum(named.rest.probability for named in table.rests) == pytest.approx(1.0, abs=1e-6)


def test_the_down_direction_of_a_rest_finds_it(table: RestTable) -> None:
    for index, named in enumerate(table.rests):
        assert table.nearest(lying(named.rest).quat_xyzw) == index
    assert table.nearest(np.array([0.0, 0.45, 0.0, 0.893])) is None  # nose 53 degrees down


def deepest(table: RestTable, pose: Pose) -> NamedRest:
    """The rest of that pose that most energy is needed to leave."""
    return max(
        (named for named in table.rests if named.pose is pose),
        key=lambda named: named.rest.barrier_m - named.rest.height_m,
    )


@pytest.mark.parametrize("pose", NAMED_POSES)
def test_a_pig_put_down_in_a_pose_stays_in_it(table: RestTable, pose: Pose) -> None:
    """Dropped by 0.05 mm, tilted by a quarter of a degree, for two seconds of rest."""
    named = deepest(table, pose)
    tilt = np.radians(0.25) / 2
    state = lying(named.rest)
    x, y, z, w = state.quat_xyzw
    # Turned about the world's x axis by 2 `tilt`: (tilt, 0, 0, 1) times q, to first order.
    quat = np.array([x + tilt * w, y - tilt * z, z + tilt * y, w - tilt * x])
    quat /= np.linalg.norm(quat)
    up = np.array([0.0, 0.0, 1.5e-4])
    black = RigidState(state.position_m + up, quat)
    pink = replace(black, position_m=black.position_m + [0.0, 0.2, 0.0])
    with Simulator(Setup.named()) as simulator:
        rest = simulator.settle(Toss(black, pink))
        assert rest.status is Status.OK
        roll = simulator.judge(0, 0, rest)
        assert simulator._world is not None
        later = go_on(simulator._world, rest, 2.0)
    for pig, state, before in zip(roll.pigs, later, rest.pigs, strict=True):
        assert pig.pose is pose
        assert pig.rest == named.rest.index
        assert np.linalg.norm(state.position_m - before.position_m) < 1e-4

"""When a pig's outcome counts as certain: never with energy to leave, and how far it then gets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from physim.physics.body import Body
from physim.physics.fast.bounds import EnergyBound
from physim.physics.fast.single import SinglePig
from physim.physics.state import EngineMotion, PlainState, RestCriterion, RestDetector
from physim.physics.surfaces import EngineSettings, table
from physim.simulator import RestTable, lying
from physim.types import PigModel, RigidState
from tests.physics.worlds import energy_m


@pytest.fixture(scope="module")
def rests(standard: PigModel) -> RestTable:
    return RestTable.of(standard)


def bound_of(body: Body, rests: RestTable, surface: str) -> EnergyBound:
    return EnergyBound(body, rests.basins(), table(surface))


def test_never_certain_with_energy_above_the_barrier(standard: PigModel, rests: RestTable) -> None:
    body = Body.of(standard)
    bound = bound_of(body, rests, "felt")
    rng = np.random.default_rng(1)
    found = 0
    for named, basin in zip(rests.rests, rests.basins(), strict=True):
        for _ in range(200):
            tilt = Rotation.from_rotvec(rng.normal(0, 0.15, 3))
            quat = (tilt * Rotation.from_quat(lying(named.rest).quat_xyzw)).as_quat()
            quat = body.to_principal(RigidState(np.zeros(3), quat)).quat_xyzw
            height = -Rotation.from_quat(quat).apply(body.hull_m)[:, 2].min()
            for share in (0.0, 0.5, 0.9, 0.999, 1.0, 1.01, 1.5):
                energy = basin.height_m + share * (basin.barrier_m - basin.height_m)
                if energy < height:
                    continue  # no pig has so little
                where = bound.basin(tuple(quat.tolist()), energy)
                if where is None:
                    continue
                found += 1
                assert energy < rests.basins()[where].barrier_m
            assert bound.basin(tuple(quat.tolist()), bound.max_limit_m) is None
    assert found > 50


def test_certain_at_rest_and_of_the_rest_it_is_in(standard: PigModel, rests: RestTable) -> None:
    body = Body.of(standard)
    bound = bound_of(body, rests, "felt")
    for number, (named, basin) in enumerate(zip(rests.rests, rests.basins(), strict=True)):
        # Above it by less than the margin, a barrier is none.
        if basin.barrier_m * 0.98 <= basin.height_m:
            continue
        quat = body.to_principal(lying(named.rest)).quat_xyzw
        assert bound.basin(tuple(quat.tolist()), basin.height_m + 1e-7) == number


@pytest.mark.parametrize("surface", ["felt", "laminate"])
def test_a_certain_pig_ends_in_its_basin_and_within_its_reach(
    standard: PigModel, rests: RestTable, surface: str
) -> None:
    """100 pigs, tossed, and given spin about the vertical as much as their energy allows."""
    body, settings, where = Body.of(standard), EngineSettings(), table(surface)
    bound = bound_of(body, rests, surface)
    rng = np.random.default_rng([2, len(surface)])
    checked, farthest = 0, 0.0
    with SinglePig(body, where, settings) as solo:
        while checked < 100:
            start = RigidState(
                np.array([0.0, 0.0, 0.1]),
                Rotation.random(random_state=rng).as_quat(),
                rng.normal(0, 0.2, 3),
                rng.normal(0, 12, 3),
            )
            solo.release(start)
            basin = None
            for _ in range(120):
                solo.advance(settings.steps_per_check)
                basin = bound.basin(solo.motion.quat_xyzw, solo.motion.energy_on_table_m)
                if basin is not None:
                    break
            if basin is None or solo.flight is not None:
                continue
            # As much spin about the vertical as leaves it certain.
            assert isinstance(solo.motion, EngineMotion)
            state, steps = solo.motion.plain().state(), solo.base_steps
            quat, sunk_m = solo.motion.quat_xyzw, max(0.0, -solo.motion.clearance_m)
            extra = np.array([0.0, 0.0, float(rng.choice([-1.0, 1.0]) * rng.uniform(5.0, 40.0))])
            for _ in range(12):
                spun = replace(state, angular_velocity_rad_s=state.angular_velocity_rad_s + extra)
                energy = energy_m(body, spun) + sunk_m
                if bound.basin(quat, energy) == basin:
                    break
                extra = 0.6 * extra
            else:
                continue
            _, reach, fastest = bound.in_basin(basin, energy)
            solo.resume(PlainState.of(spun), steps)
            detector = RestDetector(body, where, RestCriterion())
            for _ in range(300):
                solo.advance(settings.steps_per_check)
                moved = float(np.linalg.norm(np.array(solo.motion.centre_m) - state.position_m))
                farthest = max(farthest, moved / reach)
                assert moved <= reach
                assert _fastest_point_m_s(body, solo.motion.plain().state()) <= fastest + 0.01
                slow = solo.motion.point_speed_m_s < detector.limit_m_s
                if slow and detector.at_rest(solo.motion.plain().state(), solo.time_s):
                    break
            assert rests.nearest(body.to_body_frame(solo.motion.plain().state()).quat_xyzw) == basin
            checked += 1
    assert farthest > 0.1  # the bound is not idle


def _fastest_point_m_s(body: Body, state: RigidState) -> float:
    corners = Rotation.from_quat(state.quat_xyzw).apply(body.hull_m)
    speeds = state.velocity_m_s + np.cross(state.angular_velocity_rad_s, corners)
    return float(np.linalg.norm(speeds, axis=1).max())

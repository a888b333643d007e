"""The first step after a body was put somewhere is already that of a rigid body.

Bullet turns a body's inertia with it at the end of a step only: an impact in the first step
after a pose would use the inertia of the attitude before.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from physim.physics.body import Body
from physim.physics.fast.pair import PigPair
from physim.physics.fast.single import SinglePig
from physim.physics.state import PlainState
from physim.physics.surfaces import EngineSettings
from physim.types import PigModel, RigidState, Table
from tests.physics.worlds import G, energy_m, landing

Array = NDArray[np.float64]
STEP_S = EngineSettings().time_step_s
E, MU = 0.4, 0.5


def landings(body: Body) -> list[RigidState]:
    """Turned in every way, just before their first touch."""
    rng = np.random.default_rng(21)
    starts = [
        RigidState(
            np.array([0.0, 0.0, 0.1]),
            Rotation.random(random_state=rng).as_quat(),
            rng.normal(0, 0.3, 3),
            rng.normal(0, 15, 3),
        )
        for _ in range(25)
    ]
    ends = [landing(body, start)[1] for start in starts]
    return [end for end in ends if _on_one_corner(body, end)]


def _on_one_corner(body: Body, state: RigidState) -> bool:
    """Not on two at once: which of them takes the blow would be the engine's choice."""
    heights = np.sort(Rotation.from_quat(state.quat_xyzw).apply(body.hull_m)[:, 2])
    return bool(heights[1] - heights[0] > 1.5e-5)


def by_solo(body: Body, table: Table, states: list[RigidState]) -> list[RigidState]:
    with SinglePig(body, table, EngineSettings()) as client:
        ends = []
        for state in states:
            client.place(PlainState.of(state))
            client.run(1)
            ends.append(client.sample().plain().state())
    return ends


def by_pair(body: Body, table: Table, states: list[RigidState]) -> list[RigidState]:
    with PigPair((body, body), table, EngineSettings()) as client:
        ends = []
        for state in states:
            other = replace(state, position_m=state.position_m + np.array([0.0, 1.0, 0.0]))
            client.place((PlainState.of(other), PlainState.of(state)), at_edge=False)
            client.run(1)
            ends.append(client.sample()[1].plain().state())
    return ends


def off_the_law(body: Body, before: RigidState, after: RigidState, step_s: float = STEP_S) -> float:
    """How far the change of spin is off that by the blow at the lowest corner, over it."""
    turn = Rotation.from_quat(before.quat_xyzw)
    corners = turn.apply(body.hull_m)
    corner = corners[corners[:, 2].argmin()]
    fall = np.array([0.0, 0.0, G * step_s])
    blow = body.model.mass_kg * (after.velocity_m_s - before.velocity_m_s + fall)
    spun = turn.apply(turn.inv().apply(np.cross(corner, blow)) / body.moments_kg_m2)
    change = after.angular_velocity_rad_s - before.angular_velocity_rad_s
    # Without a blow the spin of a free body changes as well, by less than a percent here.
    return float(np.linalg.norm(change - spun) / max(5.0, float(np.linalg.norm(spun))))


@pytest.mark.parametrize("engine", [by_solo, by_pair])
def test_a_blow_turns_a_pig_by_its_own_inertia(
    standard: PigModel, bare_table: Callable[..., Table], engine: Callable[..., list[RigidState]]
) -> None:
    body = Body.of(replace(standard, restitution=E, lateral_friction=MU))
    before = landings(body)
    after = engine(body, bare_table(1.2), before)
    hits = 0
    for one, other in zip(before, after, strict=True):
        hits += float(np.linalg.norm(other.velocity_m_s - one.velocity_m_s)) > 0.1
        assert off_the_law(body, one, other) < 0.02
        assert energy_m(body, other, STEP_S) < energy_m(body, one)
    assert hits > 15
    # The wrong sample: the moments of a ball of the same mean.
    ball = replace(body, moments_kg_m2=np.full(3, body.moments_kg_m2.mean()))
    assert max(off_the_law(ball, *pair) for pair in zip(before, after, strict=True)) > 0.2


def test_both_engines_know_one_law(standard: PigModel, bare_table: Callable[..., Table]) -> None:
    """The one has the hull in groups of corners, the other all the parts."""
    body = Body.of(replace(standard, restitution=E, lateral_friction=MU))
    states = landings(body)
    solo, pair = (engine(body, bare_table(1.2), states) for engine in (by_solo, by_pair))
    for one, other in zip(solo, pair, strict=True):
        assert one.velocity_m_s == pytest.approx(other.velocity_m_s, abs=5e-3)
        assert one.angular_velocity_rad_s == pytest.approx(other.angular_velocity_rad_s, abs=0.5)

"""The engines halve their step while a point of a pig is fast."""

import numpy as np
import pytest

from physim.physics.body import Body
from physim.physics.pair import PairClient
from physim.physics.single import Solo, SoloClient
from physim.physics.state import PlainState
from physim.physics.surfaces import EngineSettings
from physim.simulator import Setup
from physim.types import RigidState
from tests.physics.worlds import UPRIGHT

SETTINGS = EngineSettings()
TICKS = SETTINGS.steps_a_call


@pytest.mark.parametrize(("share", "halvings"), [(0.5, 0), (1.5, 1), (3.0, 2), (6.0, 3)])
def test_a_fast_pig_is_stepped_finely(share: float, halvings: int) -> None:
    setup = Setup.named()
    body = Body.of(setup.black)
    full = SETTINGS.full_step_speed * setup.black.height_m
    fast = RigidState(np.array([0.0, 0.1, 0.3]), UPRIGHT, np.array([share * full, 0.0, 0.0]))
    calm = RigidState(np.array([0.0, -0.1, 0.3]), UPRIGHT)
    with PairClient((body, body), setup.table, SETTINGS) as pair:
        pair.place((PlainState.of(fast), PlainState.of(calm)), at_edge=False)
        assert pair.advance(TICKS) == TICKS * 2**halvings
        moved = [pair.states()[0].position_m[0]]
    with SoloClient(body, setup.table.surface, SETTINGS) as client:
        client.place(PlainState.of(fast))
        assert client.run(TICKS, client.halvings(share * full)) == TICKS * 2**halvings
        moved.append(client.look().centre_m[0])
    # No rounding in the sum of the steps: the pig is where it must be after 1/64 s.
    assert moved == pytest.approx([share * full / 64] * 2, rel=1e-12)
    assert SETTINGS.call_s == TICKS * SETTINGS.time_step_s == 1 / 64


@pytest.mark.parametrize(("share", "halvings"), [(0.5, 0), (1.5, 1), (3.0, 2), (6.0, 3)])
def test_a_pig_that_lands_fast_is_stepped_finely(share: float, halvings: int) -> None:
    """From the very first step in contact, by its speed at the touch."""
    setup = Setup.named()
    body = Body.of(setup.black)
    full = SETTINGS.full_step_speed * setup.black.height_m
    fast = RigidState(np.array([0.0, 0.0, 0.05]), UPRIGHT, np.array([0.0, 0.0, -share * full]))
    with SoloClient(body, setup.table.surface, SETTINGS) as client:
        solo = Solo(client)
        solo.release(fast)
        ticks = int(solo.ticks_in_air) + 1  # the look right after the landing
        solo.advance(ticks)
        assert solo.steps == 2**halvings

"""The engines halve their step while a point of a pig is fast."""

import numpy as np
import pytest

from physim.physics.body import Body
from physim.physics.fast.pair import PigPair
from physim.physics.fast.single import SinglePig
from physim.physics.state import PlainState
from physim.physics.surfaces import EngineSettings
from physim.simulator import Setup
from physim.types import RigidState
from tests.physics.worlds import UPRIGHT

SETTINGS = EngineSettings()
STEPS = SETTINGS.steps_per_check


@pytest.mark.parametrize(("share", "halvings"), [(0.5, 0), (1.5, 1), (3.0, 2), (6.0, 3)])
def test_a_fast_pig_is_stepped_finely(share: float, halvings: int) -> None:
    setup = Setup.named()
    body = Body.of(setup.black)
    full = SETTINGS.full_step_speed * setup.black.height_m
    fast = RigidState(np.array([0.0, 0.1, 0.3]), UPRIGHT, np.array([share * full, 0.0, 0.0]))
    calm = RigidState(np.array([0.0, -0.1, 0.3]), UPRIGHT)
    with PigPair((body, body), setup.table, SETTINGS) as pair:
        pair.place((PlainState.of(fast), PlainState.of(calm)), at_edge=False)
        assert pair.advance(STEPS) == STEPS * 2**halvings
        moved = [pair.sample()[0].centre_m[0]]
    with SinglePig(body, setup.table, SETTINGS) as client:
        client.place(PlainState.of(fast))
        assert client.run(STEPS, client.halvings(body, share * full)) == STEPS * 2**halvings
        moved.append(client.sample().centre_m[0])
    # No rounding in the sum of the steps: the pig is where it must be after 1/64 s.
    assert moved == pytest.approx([share * full / 64] * 2, rel=1e-12)
    assert SETTINGS.check_interval_s == STEPS * SETTINGS.time_step_s == 1 / 64


@pytest.mark.parametrize(("share", "halvings"), [(0.5, 0), (1.5, 1), (3.0, 2), (6.0, 3)])
def test_a_pig_that_lands_fast_is_stepped_finely(share: float, halvings: int) -> None:
    """From the very first step in contact, by its speed at the touch."""
    setup = Setup.named()
    body = Body.of(setup.black)
    full = SETTINGS.full_step_speed * setup.black.height_m
    fast = RigidState(np.array([0.0, 0.0, 0.05]), UPRIGHT, np.array([0.0, 0.0, -share * full]))
    with SinglePig(body, setup.table, SETTINGS) as solo:
        solo.release(fast)
        solo.advance(int(solo.steps_in_air) + 1)  # the check right after the landing
        assert solo.engine_steps == 2**halvings

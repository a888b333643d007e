"""The engine halves its step while a point of a pig is fast."""

import math

import numpy as np
import pytest

from physim.roll import Setup
from physim.values import RigidState
from physim.world.body import Body
from physim.world.bullet import Engine
from physim.world.settings import EngineSettings

UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize(("share", "halvings"), [(0.5, 0), (1.5, 1), (3.0, 2), (6.0, 3)])
def test_a_fast_pig_is_stepped_finely(share: float, halvings: int) -> None:
    setup = Setup.named()
    body = Body.of(setup.black)
    settings = EngineSettings()
    full = settings.full_step_speed * setup.black.height_m
    fast = RigidState(np.array([0.0, 0.1, 0.3]), UPRIGHT, np.array([share * full, 0.0, 0.0]))
    calm = RigidState(np.array([0.0, -0.1, 0.3]), UPRIGHT)
    with Engine((body, body), setup.table, settings) as engine:
        engine.place((fast, calm))
        engine.advance()
        assert engine.steps == settings.steps_a_call * 2**halvings
        moved = engine.states()[0].position_m[0]
        # No rounding in the sum of the steps: the pig is where it must be after 1/128 s.
        assert moved == pytest.approx(share * full / 128, rel=1e-12)
    assert math.isclose(settings.steps_a_call * settings.time_step_s, 1 / 128)

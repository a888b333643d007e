"""The kinds of engine, each with one pig to look at, for tests of all of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from physim.config import COMPILED, PYBULLET
from physim.physics.body import Body
from physim.physics.fast.pair import PigPair
from physim.physics.fast.single import SinglePig
from physim.physics.state import PlainState
from physim.physics.surfaces import EngineSettings
from physim.types import PigModel, RigidState, Table

STEP_S = EngineSettings().time_step_s
KINDS = ("solo", "compiled", "pair")
each_engine = pytest.mark.parametrize("kind", KINDS)


class Alone:
    """One pig in the engine of a pig alone."""

    def __init__(self, body: Body, table: Table, settings: EngineSettings) -> None:
        self.client = SinglePig(body, table, settings)

    def place(self, state: RigidState) -> None:
        self.client.place(PlainState.of(state))

    def tick(self) -> RigidState:
        client = self.client
        client.run(1, client.halvings(client.body, client.sample().point_speed_m_s))
        return client.sample().plain().state()


class Beside:
    """One pig in the engine of two; the other one does the same far away."""

    def __init__(self, body: Body, table: Table, settings: EngineSettings) -> None:
        self.client = PigPair((body, body), table, settings)

    def place(self, state: RigidState) -> None:
        other = replace(state, position_m=state.position_m + np.array([0.0, 2.0, 0.0]))
        self.client.place((PlainState.of(state), PlainState.of(other)), at_edge=False)

    def tick(self) -> RigidState:
        self.client.advance(1)
        return self.client.sample()[0].plain().state()


@contextmanager
def opened(
    model: PigModel,
    table: Table,
    kind: str,
    step_s: float = STEP_S,
    full_step_speed: float = EngineSettings().full_step_speed,
) -> Iterator[Alone | Beside]:
    """An engine that shows every longest step."""
    settings = EngineSettings(
        step_s, full_step_speed, engine=COMPILED if kind == "compiled" else PYBULLET
    )
    engine = (Beside if kind == "pair" else Alone)(Body.of(model), table, settings)
    with engine.client:
        yield engine


def run(engine: Alone | Beside, time_s: float) -> RigidState:
    for _ in range(round(time_s / engine.client.settings.time_step_s)):
        end = engine.tick()
    return end

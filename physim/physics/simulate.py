"""The simulator in its shortest form: place two pigs, step, check whether they are at rest.

This is the reference definition of a roll, plain and without shortcuts: both pigs, with all their
parts, lie in one PyBullet world (`engine` says how it is set up and why) that is stepped from
release to rest. It is for reading and for comparison. `Simulator` uses the faster equivalent in
`physim.physics.fast`, some three times as fast by shortcuts that must not matter: flights are
computed, a pig that is out of the other's reach has a small world of its own, and a roll ends once
its outcome is certain. `physim bench` and the tests compare the two: they come to the same
frequencies of poses, not to the same bits.

`simulate` also drives another engine, such as MuJoCo, by the same loop.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from physim.physics.body import Body
from physim.physics.engine import UNITS_PER_M, Engine, make_shape, make_unseen, obj_text, pybullet
from physim.physics.state import (
    TOUCH_M,
    EngineMotion,
    PlainState,
    PlainStates,
    RestCriterion,
    RestDetector,
    both_at_rest,
    off_table,
    rest_of,
)
from physim.physics.surfaces import EngineSettings
from physim.types import Rest, Status, Table, Toss

# PyBullet's `solverResidualThreshold`, the square of a speed in engine units, is 1e-7.
PYBULLET_TOLERANCE_M_S = 1e-7**0.5 / UNITS_PER_M


class PigsInEngine(Protocol):
    """Two pigs on a table in some physics engine; states are of the principal frame, SI."""

    bodies: tuple[Body, Body]
    table: Table
    settings: EngineSettings
    criterion: RestCriterion

    def place(self, states: PlainStates) -> None: ...
    def step(self, steps: int) -> None: ...
    def sample(self) -> PlainStates: ...
    def touching(self) -> bool: ...


def simulate(pigs: PigsInEngine, toss: Toss) -> Rest:
    """One roll, from release to rest; what is not at rest in time is `unsettled`."""
    (black, pink), settings = pigs.bodies, pigs.settings
    pigs.place(
        (
            PlainState.of(black.to_principal(toss.black)),
            PlainState.of(pink.to_principal(toss.pink)),
        )
    )
    detectors = [RestDetector(body, pigs.table, pigs.criterion) for body in pigs.bodies]
    status, steps, time_s, states = Status.UNSETTLED, 0, 0.0, pigs.sample()
    while status is Status.UNSETTLED and time_s < pigs.criterion.cap_s:
        pigs.step(settings.steps_per_check)
        steps += settings.steps_per_check
        time_s = steps * settings.time_step_s
        states = pigs.sample()
        motions = [
            EngineMotion(body, state) for body, state in zip(pigs.bodies, states, strict=True)
        ]
        if both_at_rest(detectors, motions, time_s, pigs.touching):
            status = Status.OK
    if any(off_table(state.centre_m, pigs.table) for state in states):
        status = Status.OFF_TABLE  # the table is endless: a pig past its edge counts as fallen
    return rest_of(pigs.bodies, states, (time_s, time_s), status, steps)


class PlainPyBullet(Engine):
    """Two pigs and an endless table in one PyBullet world. Use it with `with`."""

    bodies: tuple[Body, Body]

    def __init__(
        self,
        bodies: tuple[Body, Body],
        table: Table,
        settings: EngineSettings,
        criterion: RestCriterion,
        *,
        own_tolerance: bool = True,
    ) -> None:
        """Keeps what it is made for; `own_tolerance`: PyBullet's, in place of the settings'."""
        if own_tolerance:
            settings = replace(settings, solver_tolerance_m_s=PYBULLET_TOLERANCE_M_S)
        super().__init__(settings, table.surface, bodies)
        self.table = table
        self.criterion = criterion

    def open(self) -> None:
        """Connects and makes table and pigs."""
        super().open()
        self.add_table()
        unseen = make_unseen(self.id)
        for body in self.bodies:
            self.add_pig(make_shape(self.id, obj_text(body.parts_m)), unseen)

    def place(self, states: PlainStates) -> None:
        """Puts the pigs where they are released (principal frame)."""
        for number, state in enumerate(states):
            self.pose(number, state)

    def step(self, steps: int) -> None:
        """Steps the world, one call a step, as PyBullet's manual teaches it."""
        self.run(1)  # it sets the length of the step
        for _ in range(steps - 1):
            pybullet.stepSimulation(physicsClientId=self.id)

    def sample(self) -> PlainStates:
        """Both states (principal frame)."""
        return self.motion_of(0).plain(), self.motion_of(1).plain()

    def touching(self) -> bool:
        """Whether the pigs are in contact."""
        return self.pigs_touch(TOUCH_M)

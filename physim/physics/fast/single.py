"""A pig alone on an endless table: its record, and PyBullet's engine for it where that steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from physim.physics.body import Body
from physim.physics.engine import (
    LOCK,
    UNITS_PER_M,
    Engine,
    in_air,
    make_shape,
    make_unseen,
    obj_text,
    pybullet,
)
from physim.physics.fast.advance import forget_contacts, one_step, settle_turn
from physim.physics.fast.bounds import EnergyBound
from physim.physics.fast.contact import WORK
from physim.physics.fast.flight import Flight, FlightPiece
from physim.physics.fast.record import CONSTANTS, PIG
from physim.physics.state import PigTrajectory, PlainState, RestCriterion
from physim.physics.surfaces import EngineSettings
from physim.types import GRAVITY_M_S2, Table

COMPILED = True


class SinglePig(Engine):
    """One pig on an endless table, with an engine of its own. Use it with `with`."""

    def __init__(
        self,
        body: Body,
        table: Table,
        settings: EngineSettings,
        criterion: RestCriterion,
        bound: EnergyBound | None,
    ) -> None:
        super().__init__(settings, table.surface, [body])
        self.body = body
        self.compiled = COMPILED
        self.trajectory: PigTrajectory | None = None
        self.fixed = constants_of(body, table, settings, criterion, bound)
        self.share(np.zeros(1, dtype=PIG), self.fixed, np.zeros(1, dtype=WORK))

    def share(self, now: NDArray[Any], fixed: NDArray[Any], work: NDArray[Any]) -> None:
        """Takes another place for what changes."""
        self.now, self.fixed, self.work = now, fixed, work
        self.records = now, fixed, work
        begin = PIG.fields["place"][1]
        self._state = now.view(np.uint8)[begin : begin + 13 * 8].view(np.float64)

    def open(self) -> None:
        """Connects and makes table and pig."""
        with LOCK:
            super().open()
            self.add_table()
            shape = make_shape(self.id, obj_text(self.body.contact_hulls_m))
            self.add_pig(shape, make_unseen(self.id))

    def place(self, state: PlainState) -> None:
        """Puts the pig into this state (principal frame), without a contact."""
        with LOCK:
            self.claim(anew=True)
            self.pose(0, in_air(state.quat_xyzw))
            self.run(1)
            self.pose(0, state)

    def record(self, trajectory: PigTrajectory | None) -> None:
        """Takes down the pig's way from now on, or no more."""
        self.trajectory = trajectory
        self.now["recorded"], self.now["noted"] = trajectory is not None, 0
        # Every base step is noted, so that each is asked for.
        self.fixed["compiled"] = self.compiled and trajectory is None

    def write_down(self) -> None:
        """Moves what was noted into the trajectory."""
        if self.trajectory is None:
            return
        for time_s, *numbers, began_s in self.now["notes"][0, : self.now["noted"][0]].tolist():
            piece: Any = PlainState.of_numbers(numbers)
            if began_s >= 0.0:
                piece = FlightPiece(Flight(self.body, piece), began_s)
            self.trajectory.add(time_s, piece)
        self.now["noted"] = 0

    def step(self) -> None:
        """Does what the record asks for."""
        now = self.now[0]
        self.write_down()
        steps, halvings = int(now["steps"]), int(now["halvings"])

        def noted(number: int) -> None:
            if self.trajectory is not None:
                time_s = float(now["at_s"]) + number * self.settings.time_step_s
                self.trajectory.add(time_s, self.engine_state())

        if self.compiled:
            if now["placing"]:
                forget_contacts(*self.records)
            for number in range(1, steps + 1):
                one_step(*self.records)
                noted(number)
        else:
            if now["placing"]:
                self.place(self.engine_state())
            if steps:
                self.run(steps, halvings, None if self.trajectory is None else self._sampled(noted))
            self.sample()
        now["done"] = True

    def engine_state(self) -> PlainState:
        """The state in the engine, as the record has it."""
        return PlainState.of_numbers(self._state.tolist())

    def _sampled(self, then: Callable[[int], None]) -> Callable[[int], None]:
        def each(number: int) -> None:
            self.sample()
            then(number)

        return each

    def sample(self) -> None:
        """Takes PyBullet's state into the record."""
        pig = self.pigs[0]
        (x, y, z), quat = pybullet.getBasePositionAndOrientation(pig, self.id)
        (u, v, w), spin = pybullet.getBaseVelocity(pig, self.id)
        k = UNITS_PER_M
        self._state[:] = (x / k, y / k, z / k, *quat, u / k, v / k, w / k, *spin)

    @property
    def basin(self) -> int | None:
        """The basin with which it is frozen."""
        basin = int(self.now["basin"][0])
        return None if basin < 0 else basin

    @property
    def frozen(self) -> bool:
        """Whether it is at rest or certain."""
        return bool(self.now["at_rest"][0]) or self.basin is not None

    @property
    def time_s(self) -> float:
        """Of the present state, since release."""
        now = self.now[0]
        steps_s = int(now["base_steps"]) * self.settings.time_step_s
        return float(steps_s if now["flying"] else now["at_s"])

    def plain(self) -> PlainState:
        """The state at the last check, principal frame."""
        settle_turn(*self.records)
        now = self.now[0]
        numbers = [now[name].tolist() for name in ("centre", "attitude", "moving", "turning")]
        return PlainState(*map(tuple, numbers))


def constants_of(
    body: Body,
    table: Table,
    settings: EngineSettings,
    criterion: RestCriterion,
    bound: EnergyBound | None,
) -> NDArray[Any]:
    """(1,) of `CONSTANTS`."""
    height_m, surface = body.model.height_m, table.surface
    values: dict[str, Any] = {
        "corners": len(body.hull_m),
        "basins": 0 if bound is None else len(bound.arrays[0]),
        "contact_corners": len(body.hull_m),
        "manifolds": 1,
        "compiled": COMPILED,
        "mass_kg": body.model.mass_kg,
        "moments": body.moments,
        "squares": body.radii_of_gyration_squared_m2,
        "radius_m": body.radius_m,
        "lowest_m": body.lowest_m,
        "point_speed_share": body.point_speed_share,
        "compression_m": body.static_compression_m,
        "half_stiffness": body.half_stiffness_over_weight,
        "step_s": settings.time_step_s,
        "check_steps": settings.steps_per_check,
        "clear_m": 2.0 * settings.contact_breaking_m,
        "full_step_m_s": settings.full_step_speed * height_m,
        "rest_m_s": criterion.speed * math.sqrt(2.0 * GRAVITY_M_S2 * height_m),
        "rest_m": criterion.displacement * height_m,
        "rest_clearance_m": criterion.clearance * height_m,
        "rest_s": criterion.window_s,
        "half_length_m": table.length_m / 2,
        "half_width_m": table.width_m / 2,
        "max_limit_m": -math.inf if bound is None else bound.max_limit_m,
        "friction": body.model.lateral_friction * surface.lateral_friction,
        "restitution": body.model.restitution * surface.restitution,
        "slowest_bounce_m_s": settings.restitution_threshold_m_s,
        "contact_m": 1e-6,
        "iterations": settings.solver_iterations,
        "tolerance_m_s": settings.solver_tolerance_m_s,
        "recovery_s": settings.recovery_s,
        "warm": 1.0,
        "bullet": False,
        "cone": False,
    }
    fixed = np.zeros(1, dtype=CONSTANTS)
    for name, value in values.items():
        fixed[name] = value
    groups = (body.hull_m,)
    corners = np.concatenate(groups)
    fixed["hull"][0, :, : len(body.hull_m)] = body.hull_columns_m
    fixed["radii"][0, : len(body.hull_m)] = body.hull_radii_m
    fixed["contact_hull"][0, :, : len(corners)] = corners.T
    fixed["starts"][0, : len(groups) + 1] = np.cumsum([0, *map(len, groups)])
    if bound is not None:
        basins, surely = bound.arrays
        fixed["basin"][0, : len(basins)] = basins
        fixed["surely"][0, : len(basins)] = surely
    return fixed

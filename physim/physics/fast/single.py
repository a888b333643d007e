"""A pig alone on an endless table: its record, and PyBullet's engine for it where that steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from physim.config import COMPILED
from physim.errors import ModelError
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
from physim.physics.fast import manifolds
from physim.physics.fast.advance import (
    advance_to_check,
    forget_contacts,
    one_step,
    release,
    resume,
    turn_to_check,
)
from physim.physics.fast.bounds import EnergyBound
from physim.physics.fast.contact import CONTACT_M
from physim.physics.fast.flight import Flight, FlightPiece
from physim.physics.fast.pig_record import CONSTANTS, MOST_BASINS, MOST_CORNERS, PIG, WORK
from physim.physics.state import EngineMotion, PigTrajectory, PlainState, RestCriterion
from physim.physics.surfaces import BULLET, CONE, EngineSettings
from physim.types import GRAVITY_M_S2, RigidState, Surface, Table

LEAST_FLIGHT_S = 0.015  # shorter flights cost less to step


class SinglePig(Engine):
    """One pig on an endless table, with an engine of its own. Use it with `with`."""

    watched = False  # whether every stretch of steps is made by `step`, so that it can be seen

    def __init__(
        self,
        body: Body,
        table: Table,
        settings: EngineSettings,
        criterion: RestCriterion | None = None,
        bound: EnergyBound | None = None,
    ) -> None:
        criterion = criterion or RestCriterion()
        super().__init__(settings, table.surface, [body])
        self.body = body
        self.compiled = steps_compiled(body, table.surface, settings)
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
        """Connects and makes table and pig; the compiled engine needs neither."""
        if self.compiled:
            return
        with LOCK:
            super().open()
            self.add_table()
            shape = make_shape(self.id, obj_text(self.body.contact_hulls_m))
            self.add_pig(shape, make_unseen(self.id))

    def place(self, state: PlainState) -> None:
        """Puts the pig into this state (principal frame), without a contact."""
        if self.compiled:
            self._state[:] = [number for part in state for number in part]
            forget_contacts(*self.records)
            return
        with LOCK:
            self.claim(anew=True)
            self.pose(0, in_air(state.quat_xyzw))
            super().run(1)
            self.pose(0, state)

    def run(self, steps: int, halvings: int = 0, each: Callable[[int], None] | None = None) -> int:
        """Simulates that many base steps in contact, each halved some times; see `Engine.run`."""
        if not self.compiled:
            return super().run(steps, halvings, each)
        self.now["halvings"] = halvings
        for number in range(1, steps + 1):
            one_step(*self.records)
            if each is not None:
                each(number)
        return steps << halvings

    def sample(self) -> EngineMotion:
        """How the pig moves in the engine."""
        return EngineMotion(self.body, self.engine_state())

    def engine_state(self) -> PlainState:
        """The state in the engine."""
        if self.compiled:
            return PlainState.of_numbers(self._state.tolist())
        pig, k = self.pigs[0], UNITS_PER_M
        (x, y, z), quat = pybullet.getBasePositionAndOrientation(pig, self.id)
        (u, v, w), spin = pybullet.getBaseVelocity(pig, self.id)
        return PlainState((x / k, y / k, z / k), quat, (u / k, v / k, w / k), spin)

    def record(self, trajectory: PigTrajectory | None) -> None:
        """Takes down the pig's way from now on, or no more."""
        self.trajectory = trajectory
        self.now["recorded"], self.now["noted"] = trajectory is not None, 0
        # Every base step is noted, so that each is asked for.
        self.fixed["compiled"] = self.compiled and trajectory is None and not self.watched

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
        steps, halvings, began_s = int(now["steps"]), int(now["halvings"]), float(now["at_s"])
        if now["placing"]:
            self.place(PlainState.of_numbers(self._state.tolist()))
        way = self.trajectory

        def noted(number: int) -> None:
            if way is not None:
                way.add(began_s + number * self.settings.time_step_s, self.engine_state())

        if steps:
            self.run(steps, halvings, None if way is None else noted)
        (x, y, z), quat, (u, v, w), spin = self.engine_state()
        self._state[:] = (x, y, z, *quat, u, v, w, *spin)
        now["done"] = True

    def release(self, start: RigidState) -> None:
        """Begins a roll with this state (principal frame)."""
        release(*self.records, PlainState.of(start))
        self.advance(0)

    def resume(self, state: PlainState, base_steps: int) -> None:
        """Goes on alone from this state (principal frame, of an engine) at this time."""
        resume(*self.records, state, base_steps)
        self.advance(0)

    def advance(self, base_steps: int) -> None:
        """Brings the pig to the check so many base steps from now, whether it is at rest or not."""
        self.now["base_steps"] += base_steps
        while not advance_to_check(*self.records):
            self.step()
        self.write_down()

    @property
    def motion(self) -> PigMotion:
        """How the pig moves at the last check."""
        turn_to_check(*self.records)
        return PigMotion(self.body, self.now[0].copy())

    @property
    def flight(self) -> Flight | None:
        """Where it flies; None in contact."""
        now = self.now[0]
        if not now["flying"]:
            return None
        names = ("start_place", "start_quat", "start_velocity", "start_spin")
        return Flight(self.body, PlainState(*(tuple(now[name].tolist()) for name in names)))

    @property
    def steps_in_air(self) -> float:
        """How many base steps from now it lands; 0 in contact."""
        now = self.now[0]
        lands_s = float(now["lands_s"]) / self.settings.time_step_s
        return lands_s - int(now["base_steps"]) if now["flying"] else 0.0

    @property
    def base_step_s(self) -> float:
        """The longest time step [s]."""
        return self.settings.time_step_s

    @property
    def base_steps(self) -> int:
        """Of the last check, since release."""
        return int(self.now["base_steps"][0])

    @property
    def engine_steps(self) -> int:
        """Since release."""
        return int(self.now["engine_steps"][0])

    @property
    def first_landing_s(self) -> float:
        """When the first flight ends [s]."""
        return float(self.now["first_landing_s"][0])

    @property
    def frozen(self) -> bool:
        """Whether it is at rest or certain."""
        return bool(self.now["at_rest"][0]) or self.basin is not None

    @property
    def basin(self) -> int | None:
        """The basin with which it is frozen."""
        basin = int(self.now["basin"][0])
        return None if basin < 0 else basin

    @property
    def time_s(self) -> float:
        """Of the present state, since release."""
        now = self.now[0]
        return self.base_steps * self.settings.time_step_s if now["flying"] else float(now["at_s"])


class PigMotion:
    """The motion of a pig at a check, as `EngineMotion` has it."""

    def __init__(self, body: Body, now: Any) -> None:
        self.body = body
        self._state = PlainState(
            *(tuple(now[name].tolist()) for name in ("centre", "attitude", "moving", "turning"))
        )
        self.centre_m, self.quat_xyzw, self.velocity_m_s, _ = self._state
        self.clearance_m = math.inf if now["flying"] else float(now["clearance_m"])
        self.energy_on_table_m = float(now["energy_m"])
        self.speed_m_s, self.turning_m_s = float(now["speed_m_s"]), float(now["turning_m_s"])
        self.point_speed_m_s = self.speed_m_s + self.turning_m_s

    def plain(self, base_step_s: float = 0.0) -> PlainState:
        """The state; with a base step, with the velocity that an engine needs to go on from it."""
        if self.clearance_m < math.inf:
            return self._state
        return self._state.half_step_velocity(base_step_s)


def steps_compiled(body: Body, surface: Surface, settings: EngineSettings) -> bool:
    """Whether the compiled engine steps this pig; PyBullet has soft ones and rolling friction."""
    return settings.engine == COMPILED and not needs_pybullet(body, surface)


def needs_pybullet(body: Body, surface: Surface) -> bool:
    """Whether a pig on this surface is beyond the other engines: soft, or with rolling friction."""
    model = body.model
    rolling = model.rolling_friction or surface.rolling_friction
    return bool(
        model.contact_stiffness_n_m
        or rolling
        or model.spinning_friction
        or surface.spinning_friction
    )


def constants_of(
    body: Body,
    table: Table,
    settings: EngineSettings,
    criterion: RestCriterion,
    bound: EnergyBound | None,
) -> NDArray[Any]:
    """(1,) of `CONSTANTS`."""
    model, surface = body.model, table.surface
    bullet = settings.contacts == BULLET
    groups = (
        tuple(map(manifolds.as_bullet_rounds, body.contact_hulls_m)) if bullet else (body.hull_m,)
    )
    corners = np.concatenate(groups)
    if len(corners) > MOST_CORNERS:
        raise ModelError(
            f"{model.name}: its hull has {len(corners):,} corners, more than "
            f"{MOST_CORNERS:,}; give it simpler parts"
        )
    of_pig: dict[str, Any] = {
        "corners": len(body.hull_m),
        "basins": 0 if bound is None else min(len(bound.arrays[0]), MOST_BASINS),
        "contact_corners": len(corners),
        "manifolds": len(groups),
        "mass_kg": model.mass_kg,
        "moments": body.moments,
        "squares": body.radii_of_gyration_squared_m2,
        "radius_m": body.radius_m,
        "lowest_m": body.lowest_m,
        "point_speed_share": body.point_speed_share,
        "compression_m": body.static_compression_m,
        "half_stiffness": body.half_stiffness_over_weight,
        "rest_m_s": criterion.speed * math.sqrt(2.0 * GRAVITY_M_S2 * model.height_m),
        "rest_m": criterion.displacement * model.height_m,
        "rest_clearance_m": criterion.clearance * model.height_m,
        "rest_s": criterion.window_s,
        "half_length_m": table.length_m / 2,
        "half_width_m": table.width_m / 2,
        "max_limit_m": -math.inf if bound is None else bound.max_limit_m,
        "friction": model.lateral_friction * surface.lateral_friction,
        "restitution": model.restitution * surface.restitution,
        "contact_m": settings.contact_breaking_m * manifolds.disc_of(groups)
        if bullet
        else CONTACT_M,
    }
    fixed = np.zeros(1, dtype=CONSTANTS)
    values = of_pig | constants_of_engine(settings, model.height_m)
    for name, value in values.items():
        fixed[name] = value
    fixed["compiled"] = steps_compiled(body, surface, settings)
    fixed["hull"][0, :, : len(body.hull_m)] = body.hull_columns_m
    fixed["radii"][0, : len(body.hull_m)] = body.hull_radii_m
    fixed["contact_hull"][0, :, : len(corners)] = corners.T
    fixed["starts"][0, : len(groups) + 1] = np.cumsum([0, *map(len, groups)])
    if bound is not None:
        basins, surely = (array[:MOST_BASINS] for array in bound.arrays)  # the likeliest first
        fixed["basin"][0, : len(basins)] = basins
        fixed["surely"][0, : len(basins)] = surely
    return fixed


def constants_of_engine(settings: EngineSettings, height_m: float) -> dict[str, Any]:
    """Of `CONSTANTS`, what the settings say of a pig of this height."""
    bullet = settings.contacts == BULLET
    return {
        "gravity": (0.0, 0.0, -GRAVITY_M_S2),
        "step_s": settings.time_step_s,
        "check_steps": settings.steps_per_check,
        "least_flight_s": LEAST_FLIGHT_S,
        "clear_m": 2.0 * settings.contact_breaking_m,
        "full_step_m_s": settings.full_step_speed * height_m,
        "sliding_bounce": settings.sliding_bounce,
        "slowest_bounce_m_s": settings.restitution_threshold_m_s,
        "deepest_m": math.inf if bullet else settings.deepest * height_m,
        "iterations": settings.solver_iterations,
        "tolerance_m_s": settings.solver_tolerance_m_s,
        "recovery_s": settings.recovery_s,
        "warm": manifolds.WARM if bullet else 1.0,
        "bullet": bullet,
        "cone": settings.friction == CONE,
    }

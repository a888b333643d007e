"""A pig alone on an endless table: its record, and PyBullet's engine for it where that steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from physim.physics.body import Body
from physim.physics.engine import LOCK, Engine, in_air, make_shape, make_unseen, obj_text, pybullet
from physim.physics.engine import UNITS_PER_M
from physim.physics.fast import contact
from physim.physics.fast.bounds import EnergyBound
from physim.physics.fast.contact import Law
from physim.physics.fast.single import PIG, PIG_CONSTANTS, PigRecord, time_of
from physim.physics.state import PlainState, RestCriterion
from physim.physics.surfaces import EngineSettings
from physim.types import GRAVITY_M_S2, Table

COMPILED = True


class PigAlone(Engine):
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
        self.now = np.zeros(1, dtype=PIG)
        height_m = body.model.height_m
        fixed = np.zeros(1, dtype=PIG_CONSTANTS)
        constants: dict[str, Any] = {
            "mass_kg": body.model.mass_kg,
            "moments": body.moments,
            "squares": body.radii_of_gyration_squared_m2,
            "radius_m": body.radius_m,
            "lowest_m": body.lowest_m,
            "height_m": height_m,
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
            "compiled": COMPILED,
        }
        for name, value in constants.items():
            fixed[name] = value
        basins, surely = (np.zeros((0, 12)), np.zeros((0, 1, 2))) if bound is None else bound.arrays
        law = Law(
            friction=body.model.lateral_friction * table.surface.lateral_friction,
            restitution=body.model.restitution * table.surface.restitution,
            slowest_bounce_m_s=settings.restitution_threshold_m_s,
            contact_m=1e-6,
            iterations=settings.solver_iterations,
            tolerance_m_s=settings.solver_tolerance_m_s,
            recovery_s=settings.recovery_s,
            warm=1.0,
            manifolds=False,
            cone=False,
        )
        contacts = contact.contacts_of((body.hull_m,))
        self.record = PigRecord(
            self.now,
            fixed,
            body.hull_columns_m,
            body.hull_radii_m,
            basins,
            surely,
            contacts,
            law,
        )

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

    def step(self) -> None:
        """Does what the record asks for, by PyBullet."""
        now = self.now[0]
        if now["placing"]:
            self.place(
                PlainState(
                    tuple(now["place"].tolist()),
                    tuple(now["quat"].tolist()),
                    tuple(now["velocity"].tolist()),
                    tuple(now["spin"].tolist()),
                )
            )
        if now["steps"]:
            self.run(int(now["steps"]), int(now["halvings"]))
        pig = self.pigs[0]
        place, quat = pybullet.getBasePositionAndOrientation(pig, self.id)
        velocity, spin = pybullet.getBaseVelocity(pig, self.id)
        now["place"] = [c / UNITS_PER_M for c in place]
        now["quat"] = quat
        now["velocity"] = [c / UNITS_PER_M for c in velocity]
        now["spin"] = spin
        now["done"] = True

    @property
    def frozen(self) -> bool:
        """Whether it is at rest or certain, and so left alone."""
        return bool(self.now["at_rest"][0] or self.now["basin"][0] >= 0)

    @property
    def basin(self) -> int | None:
        """The basin with which it is frozen."""
        basin = int(self.now["basin"][0])
        return None if basin < 0 else basin

    @property
    def time_s(self) -> float:
        """Of the present state, since release."""
        return time_of(self.record)

    def plain(self) -> PlainState:
        """The state at the last check, principal frame."""
        now = self.now[0]
        return PlainState(
            tuple(now["centre"].tolist()),
            tuple(now["attitude"].tolist()),
            tuple(now["moving"].tolist()),
            tuple(now["turning"].tolist()),
        )

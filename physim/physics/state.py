"""How a body moves at one moment: in plain numbers, SI units, principal frame.

A roll asks for these numbers at every look. Plain numbers cost a fraction of what arrays of
three do; a `RigidState` is made of them where the roll comes out of the engine.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from physim.errors import PhysicsError
from physim.physics import kernels, soft
from physim.physics.body import Body
from physim.types import GRAVITY_M_S2, Quat, RigidState, Triple


class PlainState(NamedTuple):
    """A `RigidState` of the principal frame in plain numbers.

    Attributes:
        centre_m: the centre of mass.
        quat_xyzw: principal frame to world.
        velocity_m_s: of the centre of mass.
        spin_rad_s: angular velocity in the world.
    """

    centre_m: Triple
    quat_xyzw: Quat
    velocity_m_s: Triple
    spin_rad_s: Triple

    @classmethod
    def of(cls, state: RigidState) -> PlainState:
        """The same numbers."""
        x, y, z, w = state.quat_xyzw.tolist()
        return cls(
            _triple(state.position_m.tolist()),
            (x, y, z, w),
            _triple(state.velocity_m_s.tolist()),
            _triple(state.angular_velocity_rad_s.tolist()),
        )

    def state(self) -> RigidState:
        """The same numbers as arrays."""
        return RigidState(*(np.array(numbers) for numbers in self))

    def lifted(self, time_s: float) -> PlainState:
        """With the fall of this time taken off its downward speed."""
        u, v, w = self.velocity_m_s
        return self._replace(velocity_m_s=(u, v, w + GRAVITY_M_S2 * time_s))


States = tuple[RigidState, RigidState]  # of both pigs
PlainStates = tuple[PlainState, PlainState]


def _triple(numbers: list[float]) -> Triple:
    x, y, z = numbers
    return x, y, z


class Motion:
    """A body that an engine moves.

    Attributes:
        body: the pig.
        centre_m, quat_xyzw, velocity_m_s, spin_rad_s: as in `PlainState`.
        gap_m: of the lowest corner above the table; negative where it has sunk in.
        kinetic_m: kinetic energy over m g.
        speed_m_s: of the centre of mass.
        turning_m_s: a bound on the speed of the body's points about it.
    """

    __slots__ = (
        "body",
        "centre_m",
        "gap_m",
        "kinetic_m",
        "quat_xyzw",
        "speed_m_s",
        "spin_rad_s",
        "turning_m_s",
        "velocity_m_s",
    )

    def __init__(self, body: Body, seen: PlainState, units_per_m: float) -> None:
        """Turns what an engine says into SI units.

        Args:
            body: the pig.
            seen: in the engine's unit of length.
            units_per_m: of those in a metre.

        Raises:
            PhysicsError: the engine's numbers are not finite.
        """
        self.body = body
        _, self.quat_xyzw, _, self.spin_rad_s = seen
        (
            self.centre_m,
            self.velocity_m_s,
            self.gap_m,
            self.kinetic_m,
            self.speed_m_s,
            self.turning_m_s,
        ) = kernels.seen(
            body.hull_columns_m,
            body.radii_of_gyration_squared_m2,
            body.radius_m,
            units_per_m,
            *seen,
        )
        x, y, _ = self.centre_m
        if not math.isfinite(x + y + self.gap_m + self.kinetic_m):
            raise PhysicsError("the engine's state is not finite: report the model, seed and index")

    @property
    def point_speed_m_s(self) -> float:
        """A bound on the speed of the body's fastest point."""
        return self.speed_m_s + self.turning_m_s

    @property
    def energy_m(self) -> float:
        """Potential and kinetic energy over m g, without what lifts a sunken pig."""
        return self.centre_m[2] + self.kinetic_m

    @property
    def energy_on_table_m(self) -> float:
        """Potential and kinetic energy over m g, once the pig is lifted onto the table.

        The engine lifts a rigid pig that has sunk in, at no cost to its motion; a soft one has that
        energy in its springs.
        """
        body = self.body
        if body.lift:
            hull, height_m = body.hull_columns_m, self.centre_m[2]
            stored_m = soft.stored_m(hull, self.quat_xyzw, height_m, body.lift)
            return height_m + self.kinetic_m + stored_m + body.sag_m
        return self.centre_m[2] + self.kinetic_m - min(0.0, self.gap_m)

    def plain(self) -> PlainState:
        """The same numbers."""
        return PlainState(self.centre_m, self.quat_xyzw, self.velocity_m_s, self.spin_rad_s)

    def state(self) -> RigidState:
        """The same numbers as arrays."""
        return self.plain().state()

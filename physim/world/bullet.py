"""A client of PyBullet with this project's gravity, contact and solver settings.

Why it is set up as it is (units: see `bullet_client`):

* Pigs are plain rigid bodies (`useMaximalCoordinates`), not multibodies: only for
  those does Bullet's split impulse push overlapping bodies apart without giving
  them speed, so that restitution is what it says (within 0.005) at any time step.
* `contactBreakingThreshold` is small because Bullet brakes a body as soon as it is
  that near, before it touches, which eats the bounce. The value is global to the
  process: all clients of a process have the same settings.
* The solver ends its iterations once no impulse changes a speed by more than
  `solver_tolerance_m_s` any more; most steps need far fewer than the most allowed.
"""

from __future__ import annotations

import math
from types import TracebackType
from typing import TypeVar

import numpy as np

from physim.errors import PhysicsError
from physim.values import GRAVITY_M_S2, Quat, RigidState, Triple
from physim.world import kernels
from physim.world.body import Body
from physim.world.bullet_client import UNITS_PER_M, pybullet, quiet_stdout
from physim.world.settings import EngineSettings

MOST_HALVINGS = 5  # a bound on the cost of a throw beyond all reason

Seen = tuple[tuple[float, ...], ...]  # position, quaternion, velocity, spin; engine units
_Self = TypeVar("_Self", bound="Client")


class Client:
    """One DIRECT client. Use it with `with`."""

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self.id = -1
        self._running = (0, 0)  # longest steps a call, and how often they are halved

    def __enter__(self: _Self) -> _Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def open(self) -> None:
        """Connects, or begins again with an empty world."""
        with quiet_stdout():
            if self.id < 0:
                self.id = pybullet.connect(pybullet.DIRECT)
            else:
                pybullet.resetSimulation(physicsClientId=self.id)
            pybullet.setGravity(0, 0, -GRAVITY_M_S2 * UNITS_PER_M, physicsClientId=self.id)
            pybullet.setPhysicsEngineParameter(
                numSolverIterations=self.settings.solver_iterations,
                # Bullet compares squares of speeds.
                solverResidualThreshold=(self.settings.solver_tolerance_m_s * UNITS_PER_M) ** 2,
                useSplitImpulse=1,
                splitImpulsePenetrationThreshold=1.0,  # split every overlap, however small
                erp=0.0,
                contactBreakingThreshold=self.settings.contact_breaking_m * UNITS_PER_M,
                restitutionVelocityThreshold=self.settings.restitution_threshold_m_s * UNITS_PER_M,
                deterministicOverlappingPairs=1,
                enableFileCaching=0,
                physicsClientId=self.id,
            )
        self._running = (0, 0)

    def close(self) -> None:
        """Ends the client."""
        if self.id >= 0:
            pybullet.disconnect(physicsClientId=self.id)
        self.id = -1

    def run(self, steps: int, halvings: int = 0) -> int:
        """Simulates that many longest time steps, each halved some times.

        Returns:
            The engine's steps.
        """
        finer = steps << halvings
        if (steps, halvings) != self._running:
            self._running = (steps, halvings)
            duration_s = steps * self.settings.time_step_s
            pybullet.setPhysicsEngineParameter(
                fixedTimeStep=duration_s,
                numSubSteps=finer,
                contactERP=1.0 - math.exp(-duration_s / finer / self.settings.recovery_s),
                physicsClientId=self.id,
            )
        pybullet.stepSimulation(physicsClientId=self.id)
        return finer

    def seen(self, body: int) -> Seen:
        """Where a body is and how it moves.

        Raises:
            PhysicsError: the engine's numbers are not finite.
        """
        place = pybullet.getBasePositionAndOrientation(body, physicsClientId=self.id)
        motion = pybullet.getBaseVelocity(body, physicsClientId=self.id)
        if not math.isfinite(sum(place[0]) + sum(place[1]) + sum(motion[0]) + sum(motion[1])):
            raise PhysicsError("the engine's state is not finite: report the model, seed and index")
        return (*place, *motion)


class Motion:
    """A body that an engine moves, in SI units, principal frame.

    Attributes:
        body: the pig.
        centre_m: the centre of mass.
        quat_xyzw: principal frame to world.
        velocity_m_s: of the centre of mass.
        spin_rad_s: angular velocity in the world.
        turning_m_s: a bound on the speed of the body's points about its centre of mass.
        point_speed_m_s: a bound on the speed of its fastest point.
    """

    def __init__(self, body: Body, seen: Seen) -> None:
        self.body = body
        self.seen = seen
        (x, y, z), (i, j, k, w), (p, q, r), (a, b, c) = seen
        self.centre_m: Triple = (x / UNITS_PER_M, y / UNITS_PER_M, z / UNITS_PER_M)
        self.quat_xyzw: Quat = (i, j, k, w)
        self.velocity_m_s: Triple = (p / UNITS_PER_M, q / UNITS_PER_M, r / UNITS_PER_M)
        self.spin_rad_s: Triple = (a, b, c)
        self.turning_m_s = body.radius_m * math.hypot(a, b, c)
        self.point_speed_m_s = math.hypot(p, q, r) / UNITS_PER_M + self.turning_m_s

    def gap_and_kinetic_m(self) -> tuple[float, float]:
        """The lowest corner's height above the table, and the kinetic energy over m g."""
        body = self.body
        gap, kinetic = kernels.look(
            body.hull_columns_m,
            body.radii_of_gyration_squared_m2,
            self.centre_m[2],
            self.quat_xyzw,
            self.velocity_m_s,
            self.spin_rad_s,
        )
        return gap, kinetic

    def state(self) -> RigidState:
        """All of it."""
        position, quat, velocity, spin = (np.array(numbers) for numbers in self.seen)
        return RigidState(position / UNITS_PER_M, quat, velocity / UNITS_PER_M, spin)


def halvings_for(point_speed_m_s: float, height_m: float, settings: EngineSettings) -> int:
    """How often the step is halved while a point is that fast."""
    over = point_speed_m_s / (settings.full_step_speed * height_m)
    return 0 if over <= 1.0 else min(math.ceil(math.log2(over)), MOST_HALVINGS)

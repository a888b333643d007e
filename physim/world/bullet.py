"""A client of PyBullet with this project's gravity, contact and solver settings.

Why it is set up as it is (units: see `bullet_client`):

* Pigs are plain rigid bodies (`useMaximalCoordinates`), not multibodies: only for
  those does Bullet's split impulse push overlapping bodies apart without giving
  them speed, so that restitution is what it says (within 0.005) at any time step.
* `contactBreakingThreshold` is small because Bullet brakes a body as soon as it is
  that near, before it touches, which eats the bounce. The value is global to the
  process, the only one that is: a client sets it again before it steps, and no other
  client can come in between.
* The solver ends its iterations once no impulse changes a speed by more than
  `solver_tolerance_m_s` any more; most steps need far fewer than the most allowed.
* Where a pig is soft, overlaps are what its springs work with, and are not split off. A rigid pig
  beside it is pushed out of an overlap slowly then, since that gives it speed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import ClassVar, TypeVar

from physim.values import GRAVITY_M_S2, Surface
from physim.world.body import Body
from physim.world.bullet_bodies import soften
from physim.world.bullet_client import LOCK, UNITS_PER_M, pybullet, quiet_stdout
from physim.world.motion import Motion, PlainState
from physim.world.settings import EngineSettings

SLOWER_RECOVERY = 5.0  # of a rigid pig beside a soft one
MOST_HALVINGS = 5  # a bound on the cost of a throw beyond all reason

_Self = TypeVar("_Self", bound="Client")


class Client:
    """One DIRECT client. Use it with `with`."""

    _threshold_m: ClassVar[float] = math.nan  # the process's contact threshold, as set last

    def __init__(self, settings: EngineSettings, surface: Surface, bodies: Sequence[Body]) -> None:
        """Keeps what it is made for; `open` connects.

        Args:
            settings: of the engine.
            surface: of the table.
            bodies: the pigs.
        """
        self.settings = settings
        self.surface = surface
        self.soft = any(body.model.contact_stiffness_n_m for body in bodies)
        self.pigs: list[tuple[int, Body]] = []
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
                useSplitImpulse=0 if self.soft else 1,
                splitImpulsePenetrationThreshold=1.0,  # split every overlap, however small
                erp=0.0,
                restitutionVelocityThreshold=self.settings.restitution_threshold_m_s * UNITS_PER_M,
                deterministicOverlappingPairs=1,
                enableFileCaching=0,
                physicsClientId=self.id,
            )
            self._claim(anew=True)
        self._running = (0, 0)
        self.pigs = []

    def close(self) -> None:
        """Ends the client."""
        if self.id >= 0:
            pybullet.disconnect(physicsClientId=self.id)
        self.id = -1

    def run(self, steps: int, halvings: int = 0, each: Callable[[int], None] | None = None) -> int:
        """Simulates that many longest time steps, each halved some times.

        Args:
            steps: longest time steps.
            halvings: how often each is halved.
            each: called after each longest step with its number, from 1; changes no bit.

        Returns:
            The engine's steps.
        """
        finer = steps << halvings
        if each is not None:
            for number in range(1, steps + 1):
                self.run(1, halvings)
                each(number)
            return finer
        with LOCK:
            self._claim()
            if (steps, halvings) != self._running:
                self._running = (steps, halvings)
                duration_s = steps * self.settings.time_step_s
                recovery_s = self.settings.recovery_s
                if self.soft:
                    recovery_s *= SLOWER_RECOVERY
                    self._soften(duration_s / finer)
                pybullet.setPhysicsEngineParameter(
                    fixedTimeStep=duration_s,
                    numSubSteps=finer,
                    contactERP=1.0 - math.exp(-duration_s / finer / recovery_s),
                    physicsClientId=self.id,
                )
            pybullet.stepSimulation(physicsClientId=self.id)
        return finer

    def _claim(self, *, anew: bool = False) -> None:
        """Makes the process's contact threshold that of this client; the lock is held.

        Args:
            anew: also where no other client of ours has changed it, but others may have.
        """
        threshold_m = self.settings.contact_breaking_m
        if anew or threshold_m != Client._threshold_m:
            pybullet.setPhysicsEngineParameter(
                contactBreakingThreshold=threshold_m * UNITS_PER_M, physicsClientId=self.id
            )
            Client._threshold_m = threshold_m

    def _soften(self, step_s: float) -> None:
        for number, body in self.pigs:
            if body.model.contact_stiffness_n_m:
                soften(self.id, number, body, self.surface, step_s)

    def motion(self, body: Body, number: int) -> Motion:
        """How the body with this number in the engine moves.

        Raises:
            PhysicsError: the engine's numbers are not finite.
        """
        place, quat = pybullet.getBasePositionAndOrientation(number, self.id)
        velocity, spin = pybullet.getBaseVelocity(number, self.id)
        return Motion(body, PlainState(place, quat, velocity, spin), UNITS_PER_M)


def halvings_for(point_speed_m_s: float, height_m: float, settings: EngineSettings) -> int:
    """How often the step is halved while a point is that fast."""
    over = point_speed_m_s / (settings.full_step_speed * height_m)
    return 0 if over <= 1.0 else min(math.ceil(math.log2(over)), MOST_HALVINGS)

"""The plain loop that physim is compared with: PyBullet alone, as its manual teaches it.

Pigs, scale, contact settings, time step and rest criterion are physim's; the rest is what
any careful program does: both pigs, with all their parts, stay in one world and are put back
for every roll, and `stepSimulation` is called from release to rest. The table is endless, and
a pig that comes to rest past its edge counts as fallen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import TracebackType

import numpy as np

from physim.bench.stillness import Seen, Stillness, off_table
from physim.files import scratch, write_passing
from physim.physics.body import Body
from physim.physics.engine import obj_text, quiet_stdout
from physim.simulator import Setup
from physim.types import GRAVITY_M_S2, Ended, Rest, RigidState, Status, Toss

with quiet_stdout(silent=True):  # the import prints the time it was compiled
    import pybullet

CM = 100.0  # Bullet's hidden lengths suit a unit of 1 cm
GRAMS = 1000.0


class PlainPyBullet:
    """Two pigs and a table in one client. Use it with `with`."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.bodies = (Body.of(setup.black), Body.of(setup.pink))
        self._client = -1
        self._pigs: list[int] = []

    def __enter__(self) -> PlainPyBullet:
        settings = self.setup.settings
        self._client = pybullet.connect(pybullet.DIRECT)
        pybullet.setGravity(0, 0, -GRAVITY_M_S2 * CM, physicsClientId=self._client)
        pybullet.setPhysicsEngineParameter(
            fixedTimeStep=settings.time_step_s,
            numSolverIterations=settings.solver_iterations,
            useSplitImpulse=1,
            splitImpulsePenetrationThreshold=1.0,
            erp=0.0,
            contactERP=1.0 - math.exp(-settings.time_step_s / settings.recovery_s),
            contactBreakingThreshold=settings.contact_breaking_m * CM,
            restitutionVelocityThreshold=settings.restitution_threshold_m_s * CM,
            deterministicOverlappingPairs=1,
            enableFileCaching=0,
            physicsClientId=self._client,
        )
        plane = pybullet.createCollisionShape(pybullet.GEOM_PLANE, physicsClientId=self._client)
        surface = self.setup.table.surface
        table = pybullet.createMultiBody(
            0, plane, useMaximalCoordinates=1, physicsClientId=self._client
        )
        pybullet.changeDynamics(
            table,
            -1,
            lateralFriction=surface.lateral_friction,
            restitution=surface.restitution,
            rollingFriction=surface.rolling_friction,
            spinningFriction=surface.spinning_friction,
            physicsClientId=self._client,
        )
        self._pigs = [self._make_pig(body) for body in self.bodies]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pybullet.disconnect(physicsClientId=self._client)

    def settle(self, toss: Toss) -> Rest:
        """From release to rest; states in the pig frame."""
        rule, settings = self.setup.criterion, self.setup.settings
        self.release(toss)
        still = Stillness(self.bodies, self.setup.table, rule)
        status, steps, now_s, pigs = Status.UNSETTLED, 0, 0.0, self.look()
        while now_s < rule.cap_s:
            self.advance(settings.steps_a_call)
            steps += settings.steps_a_call
            now_s = steps * settings.time_step_s
            pigs = self.look()
            if still.at_rest(now_s, pigs, self.pigs_meet):
                status = Status.OK
                break
        if any(off_table(pig, self.setup.table) for pig in pigs):
            status = Status.OFF_TABLE
        first, second = (
            body.leave(RigidState(*(np.array(numbers) for numbers in pig)))
            for body, pig in zip(self.bodies, pigs, strict=True)
        )
        return Rest(status, Ended.REST, now_s, (first, second), (now_s, now_s), steps)

    def release(self, toss: Toss) -> None:
        """Puts the pigs where the toss lets them go."""
        for pig, body, state in zip(self._pigs, self.bodies, toss.pigs, strict=True):
            start = body.enter(state)
            pybullet.resetBasePositionAndOrientation(
                pig,
                (start.position_m * CM).tolist(),
                start.quat_xyzw.tolist(),
                physicsClientId=self._client,
            )
            pybullet.resetBaseVelocity(
                pig,
                (start.velocity_m_s * CM).tolist(),
                start.angular_velocity_rad_s.tolist(),
                physicsClientId=self._client,
            )

    def advance(self, steps: int) -> None:
        """Steps the world."""
        for _ in range(steps):
            pybullet.stepSimulation(physicsClientId=self._client)

    def look(self) -> Sequence[Seen]:
        """Both pigs' motion, principal frame, SI."""
        pigs = []
        for pig in self._pigs:
            position, quat = pybullet.getBasePositionAndOrientation(
                pig, physicsClientId=self._client
            )
            velocity, spin = pybullet.getBaseVelocity(pig, physicsClientId=self._client)
            pigs.append(([c / CM for c in position], quat, [c / CM for c in velocity], spin))
        return pigs

    def pigs_meet(self) -> bool:
        """Whether the pigs are in contact."""
        return len(pybullet.getContactPoints(*self._pigs, physicsClientId=self._client)) > 0

    def _make_pig(self, body: Body) -> int:
        with scratch() as folder:
            path = write_passing(
                folder / "parts.obj", obj_text([part * CM for part in body.parts_m])
            )
            shape = pybullet.createCollisionShape(
                pybullet.GEOM_MESH, fileName=str(path), physicsClientId=self._client
            )
            pig = pybullet.createMultiBody(
                body.model.mass_kg * GRAMS,
                shape,
                useMaximalCoordinates=1,
                physicsClientId=self._client,
            )
        pybullet.changeDynamics(
            pig,
            -1,
            mass=body.model.mass_kg * GRAMS,
            localInertiaDiagonal=(body.moments_kg_m2 * GRAMS * CM**2).tolist(),
            lateralFriction=body.model.lateral_friction,
            restitution=body.model.restitution,
            rollingFriction=body.model.rolling_friction,
            spinningFriction=body.model.spinning_friction,
            linearDamping=0.0,
            angularDamping=0.0,
            activationState=pybullet.ACTIVATION_STATE_DISABLE_SLEEPING,
            physicsClientId=self._client,
        )
        return int(pig)

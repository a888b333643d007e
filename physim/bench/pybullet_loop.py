"""The plain loop that physim is compared with: PyBullet alone, as its manual teaches it.

Pigs, scale, contact settings and time step are physim's; the rest is what any careful program
does: both pigs, with all their parts, stay in one world and are put back for every roll, and
`stepSimulation` is called from release to rest (`OutsideEngine.settle`). The table is endless, and
a pig that comes to rest past its edge counts as fallen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from physim.bench.benchmark import Motion, OutsideEngine
from physim.files import scratch, write_passing
from physim.physics.body import Body
from physim.physics.engine import obj_text, quiet_stdout
from physim.types import GRAVITY_M_S2, Toss

with quiet_stdout(silent=True):  # the import prints the time it was compiled
    import pybullet

CM = 100.0  # Bullet's hidden lengths suit a unit of 1 cm
GRAMS = 1000.0


class PlainPyBullet(OutsideEngine):
    """Two pigs and a table in one client."""

    def open(self) -> None:
        """Makes the world."""
        settings, surface = self.setup.settings, self.setup.table.surface
        self._client = client = pybullet.connect(pybullet.DIRECT)
        pybullet.setGravity(0, 0, -GRAVITY_M_S2 * CM, physicsClientId=client)
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
            physicsClientId=client,
        )
        plane = pybullet.createCollisionShape(pybullet.GEOM_PLANE, physicsClientId=client)
        table = pybullet.createMultiBody(0, plane, useMaximalCoordinates=1, physicsClientId=client)
        pybullet.changeDynamics(
            table,
            -1,
            lateralFriction=surface.lateral_friction,
            restitution=surface.restitution,
            rollingFriction=surface.rolling_friction,
            spinningFriction=surface.spinning_friction,
            physicsClientId=client,
        )
        self._pigs = [self._make_pig(body) for body in self.bodies]

    def _make_pig(self, body: Body) -> int:
        client, pig_model = self._client, body.model
        with scratch() as folder:
            parts = obj_text([part * CM for part in body.parts_m])
            path = write_passing(folder / "parts.obj", parts)
            shape = pybullet.createCollisionShape(
                pybullet.GEOM_MESH, fileName=str(path), physicsClientId=client
            )
            pig = pybullet.createMultiBody(
                pig_model.mass_kg * GRAMS, shape, useMaximalCoordinates=1, physicsClientId=client
            )
        pybullet.changeDynamics(
            pig,
            -1,
            mass=pig_model.mass_kg * GRAMS,
            localInertiaDiagonal=(body.moments_kg_m2 * GRAMS * CM**2).tolist(),
            lateralFriction=pig_model.lateral_friction,
            restitution=pig_model.restitution,
            rollingFriction=pig_model.rolling_friction,
            spinningFriction=pig_model.spinning_friction,
            linearDamping=0.0,
            angularDamping=0.0,
            activationState=pybullet.ACTIVATION_STATE_DISABLE_SLEEPING,
            physicsClientId=client,
        )
        return int(pig)

    def close(self) -> None:
        """Gives the world's memory back."""
        pybullet.disconnect(physicsClientId=self._client)

    def release(self, toss: Toss) -> None:
        """Puts the pigs where the toss lets them go."""
        for pig, body, state in zip(self._pigs, self.bodies, toss.pigs, strict=True):
            start, client = body.enter(state), self._client
            position = (start.position_m * CM).tolist()
            velocity, spin = start.velocity_m_s * CM, start.angular_velocity_rad_s
            pybullet.resetBasePositionAndOrientation(
                pig, position, start.quat_xyzw.tolist(), physicsClientId=client
            )
            pybullet.resetBaseVelocity(
                pig, velocity.tolist(), spin.tolist(), physicsClientId=client
            )

    def advance(self, steps: int) -> None:
        """Steps the world."""
        for _ in range(steps):
            pybullet.stepSimulation(physicsClientId=self._client)

    def sample(self) -> Sequence[Motion]:
        """The motion of both pigs."""
        motions = []
        for pig in self._pigs:
            place, quat = pybullet.getBasePositionAndOrientation(pig, physicsClientId=self._client)
            velocity, spin = pybullet.getBaseVelocity(pig, physicsClientId=self._client)
            motions.append(([c / CM for c in place], quat, [c / CM for c in velocity], spin))
        return motions

    def pigs_meet(self) -> bool:
        """Whether the pigs are in contact."""
        return len(pybullet.getContactPoints(*self._pigs, physicsClientId=self._client)) > 0

"""The plain loop that physim is compared with: PyBullet alone, as its manual teaches it.

Pigs, scale, contact settings and time step are physim's; the rest is what any careful program
does: both pigs, with all their parts, stay in one world and are put back for every roll, and
`stepSimulation` is called from release to rest (`physics.simulate`). The table is endless.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from physim.physics.body import Body
from physim.physics.engine import UNITS_PER_M, make_shape, make_unseen, quiet_stdout
from physim.physics.state import PlainState, PlainStates
from physim.simulator import Setup
from physim.types import GRAVITY_M_S2

with quiet_stdout(silent=True):  # the import prints the time it was compiled
    import pybullet

CM = UNITS_PER_M  # Bullet's hidden lengths suit a unit of 1 cm
GRAMS = 1000.0


class BarePyBullet:
    """Two pigs and a table in one client. Use it with `with`."""

    def __init__(self, setup: Setup) -> None:
        self.bodies = (Body.of(setup.black), Body.of(setup.pink))
        self.table, self.settings = setup.table, setup.settings
        self.criterion = setup.criterion

    def __enter__(self) -> BarePyBullet:
        self._client = pybullet.connect(pybullet.DIRECT)
        pybullet.setGravity(0, 0, -GRAVITY_M_S2 * CM, physicsClientId=self._client)
        pybullet.setPhysicsEngineParameter(
            fixedTimeStep=self.settings.time_step_s,
            numSolverIterations=self.settings.solver_iterations,
            useSplitImpulse=1,
            splitImpulsePenetrationThreshold=1.0,
            erp=0.0,
            contactERP=1.0 - math.exp(-self.settings.time_step_s / self.settings.recovery_s),
            contactBreakingThreshold=self.settings.contact_breaking_m * CM,
            restitutionVelocityThreshold=self.settings.restitution_threshold_m_s * CM,
            deterministicOverlappingPairs=1,
            enableFileCaching=0,
            physicsClientId=self._client,
        )
        plane = pybullet.createCollisionShape(pybullet.GEOM_PLANE, physicsClientId=self._client)
        self._make(0.0, plane, self.table.surface)
        self._pigs = [self._make_pig(body) for body in self.bodies]
        return self

    def __exit__(self, *error: Any) -> None:
        pybullet.disconnect(physicsClientId=self._client)

    def _make_pig(self, body: Body) -> int:
        return self._make(
            body.model.mass_kg * GRAMS,
            make_shape(self._client, body.parts_m),
            body.model,
            localInertiaDiagonal=(body.moments_kg_m2 * GRAMS * CM**2).tolist(),
            linearDamping=0.0,
            angularDamping=0.0,
            activationState=pybullet.ACTIVATION_STATE_DISABLE_SLEEPING,
        )

    def _make(self, mass_g: float, shape: int, material: Any, **more: Any) -> int:
        """Makes a pig or the table, with the factors of its material."""
        unseen, client = make_unseen(self._client), self._client
        made = pybullet.createMultiBody(
            mass_g, shape, unseen, useMaximalCoordinates=1, physicsClientId=client
        )
        pybullet.changeDynamics(
            made,
            -1,
            mass=mass_g,
            lateralFriction=material.lateral_friction,
            restitution=material.restitution,
            rollingFriction=material.rolling_friction,
            spinningFriction=material.spinning_friction,
            physicsClientId=client,
            **more,
        )
        return int(made)

    def place(self, states: PlainStates) -> None:
        """Puts the pigs where they are released (principal frame)."""
        for pig, (place, quat, velocity, spin) in zip(self._pigs, states, strict=True):
            place_cm, velocity_cm_s = (np.multiply(v, CM).tolist() for v in (place, velocity))
            pybullet.resetBasePositionAndOrientation(pig, place_cm, quat, self._client)
            pybullet.resetBaseVelocity(pig, velocity_cm_s, spin, self._client)

    def step(self, steps: int) -> None:
        """Steps the world."""
        for _ in range(steps):
            pybullet.stepSimulation(physicsClientId=self._client)

    def sample(self) -> PlainStates:
        """Both states (principal frame)."""
        return self._state(self._pigs[0]), self._state(self._pigs[1])

    def _state(self, pig: int) -> PlainState:
        (x, y, z), quat = pybullet.getBasePositionAndOrientation(pig, self._client)
        (u, v, w), spin = pybullet.getBaseVelocity(pig, self._client)
        return PlainState((x / CM, y / CM, z / CM), quat, (u / CM, v / CM, w / CM), spin)

    def touching(self) -> bool:
        """Whether the pigs are in contact."""
        return len(pybullet.getContactPoints(*self._pigs, physicsClientId=self._client)) > 0

"""The only door to PyBullet: one DIRECT client with a table and two pigs.

What this file knows about the engine, and why it is set up as it is:

* Bullet has lengths of its own (collision margin 0.001, sleeping and clamping
  limits) made for objects of a metre. The engine's unit of length is therefore
  1 cm (`UNITS_PER_M`), and gravity 981: a pig is 4 units long, its hulls carry a
  margin of 0.01 mm. Times and masses stay in s; masses are in grams.
* Pigs are plain rigid bodies (`useMaximalCoordinates`), not multibodies: only for
  those does Bullet's split impulse push overlapping bodies apart without giving
  them speed, so that restitution is what it says (within 0.005) at any time step.
* `contactBreakingThreshold` is small because Bullet brakes a body as soon as it is
  that near, before it touches, which eats the bounce. The value is global to the
  process: one client a process.
* Re-posing bodies makes a roll depend on the ones before it, so both are removed
  and made anew for every roll, and the client is renewed every `RENEW_AFTER`
  rolls, since Bullet keeps some memory of every body ever made.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
from scipy.spatial import ConvexHull

from physim.errors import PhysicsError
from physim.values import FloatArray, RigidState, Table
from physim.world.body import Body
from physim.world.flight import GRAVITY_M_S2


@contextlib.contextmanager
def quiet_stdout() -> Iterator[None]:
    """Sends what C code prints to stdout to stderr: `--json` output stays clean."""
    sys.stdout.flush()
    saved = os.dup(1)
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Drops what C code prints to stdout and stderr: an import announces its build time."""
    saved = [os.dup(1), os.dup(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for target in (1, 2):
            os.dup2(nowhere, target)
        yield
    finally:
        for target, copy in zip((1, 2), saved, strict=True):
            os.dup2(copy, target)
            os.close(copy)
        os.close(nowhere)


with _silent():
    import pybullet

UNITS_PER_M = 100.0
GRAMS_PER_KG = 1000.0
RENEW_AFTER = 500
MARGIN_M = 0.001 / UNITS_PER_M  # Bullet's collision margin of a convex hull
TABLE_THICKNESS_M = 0.05
VELOCITY_LIMIT = 1e9  # Bullet clamps multibodies at 100 units/s unless told not to


@dataclass(frozen=True)
class EngineSettings:
    """Time step, contact and solver settings, chosen by measurement.

    Attributes:
        time_step_s: a power of two, so that sub-steps add up without rounding.
        solver_iterations: of the sequential-impulse solver, per step.
        recovery_s: time constant with which overlaps are pushed apart [s]; the
            engine's error reduction per step is 1 - exp(-time_step / recovery).
        contact_breaking_m: distance at which contacts begin and end [m].
        restitution_threshold_m_s: slower impacts do not bounce [m/s]; above the
            speed gravity gives in a step, or resting pigs would tremble.
        steps_a_call: engine steps between two looks at the state.
    """

    time_step_s: float = 1.0 / 2048.0
    solver_iterations: int = 50
    recovery_s: float = 0.005
    contact_breaking_m: float = 1e-6
    restitution_threshold_m_s: float = 0.02
    steps_a_call: int = 8


class Engine:
    """A table and two pigs in one client. Use it with `with`."""

    def __init__(
        self, bodies: tuple[Body, Body], table: Table, settings: EngineSettings | None = None
    ) -> None:
        self.bodies = bodies
        self.table = table
        self.settings = settings or EngineSettings()
        self._client = -1
        self._placed = 0
        self._pigs: list[int] = []
        self._shapes: list[int] = []
        self._unseen = -1
        self._ground = -1
        self._at_edge = False

    def __enter__(self) -> Engine:
        self._connect()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._disconnect()

    @property
    def call_s(self) -> float:
        """Simulated time of one `advance` [s]."""
        return self.settings.time_step_s * self.settings.steps_a_call

    def place(self, states: tuple[RigidState, RigidState]) -> None:
        """Puts both pigs, made anew, into these states (principal frame)."""
        if self._placed >= RENEW_AFTER or self._at_edge:
            self._disconnect()
            self._connect()
        for pig in self._pigs:
            pybullet.removeBody(pig, physicsClientId=self._client)
        self._pigs = [
            self._make_pig(body, shape, state)
            for body, shape, state in zip(self.bodies, self._shapes, states, strict=True)
        ]
        self._placed += 1

    def advance(self) -> None:
        """Simulates `call_s` seconds; near the table's edge, on the table's true shape."""
        pybullet.stepSimulation(physicsClientId=self._client)
        if not self._at_edge and self._near_edge():
            pybullet.removeBody(self._ground, physicsClientId=self._client)
            self._ground = self._make_box()
            self._at_edge = True

    def states(self) -> tuple[RigidState, RigidState]:
        """Both pigs' states, principal frame, SI.

        Raises:
            PhysicsError: the engine's numbers are not finite.
        """
        first, second = (self._state(pig) for pig in self._pigs)
        return first, second

    def pigs_meet(self, within_m: float) -> bool:
        """Whether the two pigs' surfaces come within this distance [m]."""
        points = pybullet.getClosestPoints(
            self._pigs[0],
            self._pigs[1],
            distance=(within_m - 2 * MARGIN_M) * UNITS_PER_M,
            physicsClientId=self._client,
        )
        return len(points) > 0

    # --- what follows talks to the engine ---

    def _connect(self) -> None:
        with quiet_stdout():
            self._client = pybullet.connect(pybullet.DIRECT)
            settings = self.settings
            pybullet.setGravity(0, 0, -GRAVITY_M_S2 * UNITS_PER_M, physicsClientId=self._client)
            pybullet.setPhysicsEngineParameter(
                fixedTimeStep=self.call_s,
                numSubSteps=settings.steps_a_call if settings.steps_a_call > 1 else 0,
                numSolverIterations=settings.solver_iterations,
                useSplitImpulse=1,
                splitImpulsePenetrationThreshold=1.0,  # split every overlap, however small
                contactERP=1.0 - math.exp(-settings.time_step_s / settings.recovery_s),
                erp=0.0,
                contactBreakingThreshold=settings.contact_breaking_m * UNITS_PER_M,
                restitutionVelocityThreshold=settings.restitution_threshold_m_s * UNITS_PER_M,
                deterministicOverlappingPairs=1,
                enableFileCaching=0,
                physicsClientId=self._client,
            )
            self._shapes = [self._make_shape(body) for body in self.bodies]
            # Without a visual shape, Bullet would read the parts' file again for every body.
            self._unseen = pybullet.createVisualShape(
                pybullet.GEOM_SPHERE, radius=0.01, physicsClientId=self._client
            )
        self._ground = self._make_plane()
        self._at_edge = False
        self._placed = 0
        self._pigs = []

    def _disconnect(self) -> None:
        if self._client >= 0:
            pybullet.disconnect(physicsClientId=self._client)
        self._client = -1

    def _make_shape(self, body: Body) -> int:
        """A compound of the parts' hulls, by way of an OBJ file with one group a part."""
        with tempfile.TemporaryDirectory(prefix="physim-") as folder:
            path = Path(folder) / "parts.obj"
            path.write_text(obj_text([part * UNITS_PER_M for part in body.parts_m]))
            shape = pybullet.createCollisionShape(
                pybullet.GEOM_MESH, fileName=str(path), physicsClientId=self._client
            )
        return int(shape)

    def _make_pig(self, body: Body, shape: int, state: RigidState) -> int:
        mass_g = body.model.mass_kg * GRAMS_PER_KG
        pig = pybullet.createMultiBody(
            mass_g,
            shape,
            self._unseen,
            basePosition=(state.position_m * UNITS_PER_M).tolist(),
            baseOrientation=state.quat_xyzw.tolist(),
            useMaximalCoordinates=1,
            physicsClientId=self._client,
        )
        pybullet.changeDynamics(
            pig,
            -1,
            mass=mass_g,  # without it, Bullet sets the mass to 0 here
            localInertiaDiagonal=(body.moments_kg_m2 * GRAMS_PER_KG * UNITS_PER_M**2).tolist(),
            lateralFriction=body.model.lateral_friction,
            restitution=body.model.restitution,
            rollingFriction=body.model.rolling_friction,
            spinningFriction=body.model.spinning_friction,
            linearDamping=0.0,
            angularDamping=0.0,
            activationState=pybullet.ACTIVATION_STATE_DISABLE_SLEEPING,
            maxJointVelocity=VELOCITY_LIMIT,
            physicsClientId=self._client,
        )
        pybullet.resetBaseVelocity(
            pig,
            (state.velocity_m_s * UNITS_PER_M).tolist(),
            state.angular_velocity_rad_s.tolist(),
            physicsClientId=self._client,
        )
        return int(pig)

    def _make_plane(self) -> int:
        shape = pybullet.createCollisionShape(pybullet.GEOM_PLANE, physicsClientId=self._client)
        return self._make_ground(shape, 0.0)

    def _make_box(self) -> int:
        halves = np.array([self.table.length_m, self.table.width_m, TABLE_THICKNESS_M]) / 2
        shape = pybullet.createCollisionShape(
            pybullet.GEOM_BOX,
            halfExtents=(halves * UNITS_PER_M).tolist(),
            physicsClientId=self._client,
        )
        return self._make_ground(shape, -TABLE_THICKNESS_M / 2)

    def _make_ground(self, shape: int, height_m: float) -> int:
        ground = pybullet.createMultiBody(
            0,
            shape,
            basePosition=[0, 0, height_m * UNITS_PER_M],
            useMaximalCoordinates=1,
            physicsClientId=self._client,
        )
        surface = self.table.surface
        pybullet.changeDynamics(
            ground,
            -1,
            lateralFriction=surface.lateral_friction,
            restitution=surface.restitution,
            rollingFriction=surface.rolling_friction,
            spinningFriction=surface.spinning_friction,
            physicsClientId=self._client,
        )
        return int(ground)

    def _near_edge(self) -> bool:
        for pig, body in zip(self._pigs, self.bodies, strict=True):
            (x, y, _), _ = pybullet.getBasePositionAndOrientation(
                pig, physicsClientId=self._client
            )
            reach = body.radius_m * UNITS_PER_M
            if abs(x) + reach > self.table.length_m * UNITS_PER_M / 2:
                return True
            if abs(y) + reach > self.table.width_m * UNITS_PER_M / 2:
                return True
        return False

    def _state(self, pig: int) -> RigidState:
        position, quat = pybullet.getBasePositionAndOrientation(pig, physicsClientId=self._client)
        velocity, spin = pybullet.getBaseVelocity(pig, physicsClientId=self._client)
        numbers = np.array([*position, *quat, *velocity, *spin])
        if not np.isfinite(numbers).all():
            raise PhysicsError("the engine's state is not finite; please report seed and index")
        return RigidState(
            numbers[:3] / UNITS_PER_M, numbers[3:7], numbers[7:10] / UNITS_PER_M, numbers[10:]
        )


def obj_text(parts: list[FloatArray]) -> str:
    """A Wavefront OBJ with one `o` group and one closed hull a part."""
    lines: list[str] = []
    count = 1
    for number, vertices in enumerate(parts):
        lines.append(f"o part{number}")
        lines += [f"v {x:.17g} {y:.17g} {z:.17g}" for x, y, z in vertices.tolist()]
        faces = ConvexHull(vertices).simplices
        lines += ["f " + " ".join(str(int(i) + count) for i in face) for face in faces]
        count += len(vertices)
    return "\n".join(lines) + "\n"

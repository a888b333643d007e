"""The engine of a roll: one DIRECT client of PyBullet with a table and two pigs.

Why it is set up as it is (units: see `bullet_client`):

* Pigs are plain rigid bodies (`useMaximalCoordinates`), not multibodies: only for
  those does Bullet's split impulse push overlapping bodies apart without giving
  them speed, so that restitution is what it says (within 0.005) at any time step.
* `contactBreakingThreshold` is small because Bullet brakes a body as soon as it is
  that near, before it touches, which eats the bounce. The value is global to the
  process: one client a process.
* While the two pigs cannot meet, only the corners of their hulls matter, since the
  table is flat: they carry those alone (`Body.lean_m`), and get their full shapes
  in time. Near the edge they do too, and the endless plane gives way to a box of the
  table's size.
* Re-posing bodies makes a roll depend on the ones before it, so both are removed
  and made anew for every roll. Two pigs that meet do so in a client of their own: what
  Bullet's broad phase keeps of earlier rolls decides when the pair is found, and the
  last bits of its contacts with it. The client is also renewed every `RENEW_AFTER`
  rolls, since Bullet keeps some memory of every body ever made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import TracebackType

import numpy as np

from physim.errors import PhysicsError
from physim.values import GRAVITY_M_S2, FloatArray, RigidState, Table
from physim.world.body import Body
from physim.world.bullet_bodies import make_box, make_pig, make_plane, make_shape, make_unseen
from physim.world.bullet_client import MARGIN_M, UNITS_PER_M, pybullet, quiet_stdout
from physim.world.settings import EngineSettings

RENEW_AFTER = 500
MOST_HALVINGS = 5  # a bound on the cost of a throw beyond all reason
MEETING_GAP_M = 1e-3  # pigs get their full shapes this much before their spheres can meet


class Engine:
    """A table and two pigs in one client. Use it with `with`."""

    def __init__(
        self, bodies: tuple[Body, Body], table: Table, settings: EngineSettings | None = None
    ) -> None:
        self.bodies = bodies
        self.table = table
        self.settings = settings or EngineSettings()
        self.steps = 0  # taken since the pigs were placed
        self._heights = [body.model.height_m for body in bodies]
        self._client = -1
        self._placed = 0
        self._steps = 0  # in one call
        self._pigs: list[int] = []
        self._seen: list[Seen] = []
        self._shapes: list[int] = []
        self._whole = False  # whether the pigs have their full shapes
        self._unseen = -1
        self.at_edge = False

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
        if self._placed >= RENEW_AFTER or self._whole:
            self._connect()
        self._placed += 1
        self.steps = 0
        self._make_pigs(states)
        self._look()

    def advance(self) -> None:
        """Simulates `call_s` seconds."""
        pybullet.stepSimulation(physicsClientId=self._client)
        self.steps += self._steps
        self._look()

    def states(self) -> tuple[RigidState, RigidState]:
        """Both pigs' states, principal frame, SI."""
        first, second = (_state(numbers) for numbers in self._seen)
        return first, second

    def step_for(self, states: tuple[RigidState, RigidState]) -> float:
        """The time step with which pigs in these states are advanced [s]."""
        first, second = (
            math.hypot(*state.velocity_m_s)
            + body.radius_m * math.hypot(*state.angular_velocity_rad_s)
            for body, state in zip(self.bodies, states, strict=True)
        )
        return self.call_s / self._steps_for((first, second))

    def point_speeds_m_s(self) -> tuple[float, float]:
        """Per pig, a bound on the speed of its fastest point [m/s]."""
        first, second = (
            _length(velocity) / UNITS_PER_M + body.radius_m * _length(spin)
            for body, (_, _, velocity, spin) in zip(self.bodies, self._seen, strict=True)
        )
        return first, second

    def least_energies_m(self) -> tuple[float, float]:
        """Per pig, its energy over m g without that of its rotation [m]: a quick bound."""
        first, second = (
            position[2] / UNITS_PER_M + 0.5 * (_length(velocity) / UNITS_PER_M) ** 2 / GRAVITY_M_S2
            for position, _, velocity, _ in self._seen
        )
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

    def _connect(self, *, whole: bool = False, at_edge: bool = False) -> None:
        """A new client, without pigs yet."""
        self._disconnect()
        with quiet_stdout():
            self._client = pybullet.connect(pybullet.DIRECT)
            pybullet.setGravity(0, 0, -GRAVITY_M_S2 * UNITS_PER_M, physicsClientId=self._client)
            pybullet.setPhysicsEngineParameter(
                fixedTimeStep=self.call_s,
                numSolverIterations=self.settings.solver_iterations,
                useSplitImpulse=1,
                splitImpulsePenetrationThreshold=1.0,  # split every overlap, however small
                erp=0.0,
                contactBreakingThreshold=self.settings.contact_breaking_m * UNITS_PER_M,
                restitutionVelocityThreshold=self.settings.restitution_threshold_m_s * UNITS_PER_M,
                deterministicOverlappingPairs=1,
                enableFileCaching=0,
                physicsClientId=self._client,
            )
            self._steps = 0
            self._shapes = [
                self._make_shape(body.parts_m if whole else body.lean_m) for body in self.bodies
            ]
            self._unseen = make_unseen(self._client)
        if at_edge:
            make_box(self._client, self.table)
        else:
            make_plane(self._client, self.table.surface)
        self._whole, self.at_edge = whole, at_edge
        self._placed = 0
        self._pigs = []

    def _disconnect(self) -> None:
        if self._client >= 0:
            pybullet.disconnect(physicsClientId=self._client)
        self._client = -1

    def _make_shape(self, parts_m: Sequence[FloatArray]) -> int:
        return make_shape(self._client, parts_m)

    def _make_pigs(self, states: tuple[RigidState, RigidState]) -> None:
        for pig in self._pigs:
            pybullet.removeBody(pig, physicsClientId=self._client)
        self._pigs = [
            make_pig(self._client, body, shape, self._unseen, state)
            for body, shape, state in zip(self.bodies, self._shapes, states, strict=True)
        ]

    def _look(self) -> None:
        """Reads both states and changes shapes where what is near asks for it.

        Raises:
            PhysicsError: the engine's numbers are not finite.
        """
        self._seen = [
            (
                *pybullet.getBasePositionAndOrientation(pig, physicsClientId=self._client),
                *pybullet.getBaseVelocity(pig, physicsClientId=self._client),
            )
            for pig in self._pigs
        ]
        if not math.isfinite(sum(sum(numbers) for seen in self._seen for numbers in seen)):
            raise PhysicsError("the engine's state is not finite: report the model, seed and index")
        to_edge = not self.at_edge and self._near_edge()
        if to_edge or (not self._whole and self._may_meet()):
            # In a new client: what the pigs' contact finds there must not depend on the past.
            states = self.states()
            self._connect(whole=True, at_edge=self.at_edge or to_edge)
            self._make_pigs(states)
        self._set_steps()

    def _set_steps(self) -> None:
        steps = self._steps_for(self.point_speeds_m_s())
        if steps != self._steps:
            self._steps = steps
            pybullet.setPhysicsEngineParameter(
                numSubSteps=steps,
                contactERP=1.0 - math.exp(-self.call_s / steps / self.settings.recovery_s),
                physicsClientId=self._client,
            )

    def _steps_for(self, speeds_m_s: tuple[float, float]) -> int:
        """Steps a call: the longest step, halved as often as the speeds ask for."""
        halvings = max(
            math.ceil(math.log2(max(1.0, speed / (self.settings.full_step_speed * height))))
            for speed, height in zip(speeds_m_s, self._heights, strict=True)
        )
        return int(self.settings.steps_a_call * 2 ** min(halvings, MOST_HALVINGS))

    def _may_meet(self) -> bool:
        """Whether the pigs' bounding spheres may meet before the next look."""
        (here, _, velocity, _), (there, _, other_velocity, _) = self._seen
        gap = math.dist(here, there) / UNITS_PER_M - sum(body.radius_m for body in self.bodies)
        closing = math.dist(velocity, other_velocity) / UNITS_PER_M
        return gap < MEETING_GAP_M + closing * self.call_s

    def _near_edge(self) -> bool:
        """Whether a pig's bounding sphere reaches over the table's edge."""
        halves = self.table.length_m / 2 * UNITS_PER_M, self.table.width_m / 2 * UNITS_PER_M
        for (position, _, _, _), body in zip(self._seen, self.bodies, strict=True):
            reach = body.radius_m * UNITS_PER_M
            if abs(position[0]) + reach > halves[0] or abs(position[1]) + reach > halves[1]:
                return True
        return False


Seen = tuple[tuple[float, ...], ...]  # position, quaternion, velocity, spin; engine units


def _state(seen: Seen) -> RigidState:
    position, quat, velocity, spin = (np.array(numbers) for numbers in seen)
    return RigidState(position / UNITS_PER_M, quat, velocity / UNITS_PER_M, spin)


def _length(vector: tuple[float, ...]) -> float:
    return math.sqrt(vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2)

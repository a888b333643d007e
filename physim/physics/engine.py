"""PyBullet with this project's units, gravity, contact and solver settings; its only import.

Why it is set up as it is:

* Bullet has lengths of its own (collision margin 0.001, sleeping and clamping limits) made for
  objects of a metre. The engine's unit of length is therefore 1 cm (`UNITS_PER_M`), and gravity
  981: a pig is 4 units long and its hulls carry a margin of 0.01 mm. Times stay in s; masses are in
  grams.
* Pigs are plain rigid bodies (`useMaximalCoordinates`), not multibodies: only for
  those does Bullet's split impulse push overlapping bodies apart without giving
  them speed, so that restitution is what it says (within 0.005) at any time step.
* `contactBreakingThreshold` is small because Bullet brakes a body as soon as it is
  that near, before it touches, which eats the bounce. The value is global to the
  process, the only one that is: an engine sets it again before it steps, and no other
  engine can come in between.
* The solver ends its iterations once no impulse changes a speed by more than
  `solver_tolerance_m_s` any more; most steps need far fewer than the most allowed.
* Where a pig is soft, overlaps are what its springs work with, and are not split off. A rigid pig
  beside it is pushed out of an overlap slowly then, since that gives it speed.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, TypeVar

import numpy as np

from physim.errors import ConfigError, optional
from physim.files import scratch, write_passing
from physim.physics.body import Body, damping_kg_s
from physim.physics.state import EngineMotion, PlainState
from physim.physics.surfaces import TABLE_THICKNESS_M, EngineSettings
from physim.types import GRAVITY_M_S2, FloatArray, Quat, Surface, Table, Triple

UNITS_PER_M = 100.0
GRAMS_PER_KG = 1000.0
MARGIN_M = 0.001 / UNITS_PER_M  # Bullet's collision margin of a convex hull
SLOWER_RECOVERY = 5.0  # of a rigid pig beside a soft one
MOST_HALVINGS = 5  # a bound on the cost of a throw beyond all reason
_STILL: Triple = (0.0, 0.0, 0.0)
WITHOUT_PYBULLET = (
    " (ready-built for Python 3.10 and 3.11; newer ones need a C++ compiler and minutes), or use "
    "`--engine compiled` with rigid pigs without rolling friction"
)

LOCK = threading.RLock()
"""Held while something is done that concerns the whole process, so that threads cannot mix it."""


@contextlib.contextmanager
def quiet_stdout(silent: bool = False) -> Iterator[None]:
    """Keeps what C code prints off stdout, so that `--json` output stays clean.

    Args:
        silent: False sends it to stderr; True drops it, and what goes to stderr too.
    """
    with LOCK:
        sys.stdout.flush()
        saved = os.dup(1), os.dup(2)
        elsewhere = os.open(os.devnull, os.O_WRONLY) if silent else os.dup(2)
        try:
            os.dup2(elsewhere, 1)
            if silent:
                os.dup2(elsewhere, 2)
            yield
        finally:
            os.dup2(saved[0], 1)
            os.dup2(saved[1], 2)
            for descriptor in (*saved, elsewhere):
                os.close(descriptor)


with quiet_stdout(silent=True):  # the import prints the time it was compiled
    try:
        import pybullet
    except ImportError:
        pybullet = None

__all__ = ["LOCK", "UNITS_PER_M", "Engine", "pybullet", "quiet_stdout"]

_Self = TypeVar("_Self", bound="Engine")


class Engine:
    """One DIRECT client of PyBullet. Use it with `with`.

    Attributes:
        settings: of the engine.
        surface: of the table.
        bodies: the pigs that it is for.
        id: of the client in PyBullet; -1 while there is none.
        pigs: the numbers in PyBullet of the pigs that have been made, in order.
    """

    _threshold_m: ClassVar[float] = math.nan  # the process's contact threshold, as set last

    def __init__(self, settings: EngineSettings, surface: Surface, bodies: Sequence[Body]) -> None:
        """Keeps what it is made for; `open` connects."""
        self.settings = settings
        self.surface = surface
        self.bodies = bodies
        self.pigs: list[int] = []
        self.id = -1
        self._soft = any(body.model.contact_stiffness_n_m for body in bodies)
        self._contact_breaking_m = settings.contact_breaking_m
        self._running = (0, 0)  # base steps a call, and how often they are halved

    def __enter__(self: _Self) -> _Self:
        self.open()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def open(self) -> None:
        """Connects, or begins again with an empty world.

        Raises:
            ConfigError: PyBullet is not installed.
        """
        if pybullet is None:
            optional("pybullet", "pybullet", "this", WITHOUT_PYBULLET)
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
                useSplitImpulse=0 if self._soft else 1,
                splitImpulsePenetrationThreshold=1.0,  # split every overlap, however small
                erp=0.0,
                restitutionVelocityThreshold=self.settings.restitution_threshold_m_s * UNITS_PER_M,
                deterministicOverlappingPairs=1,
                enableFileCaching=0,
                physicsClientId=self.id,
            )
            self.claim(anew=True)
        self._running = (0, 0)
        self.pigs = []

    def remove_pigs(self) -> None:
        """Makes room for new pigs; table and shapes stay."""
        self.claim(anew=True)
        for pig in self.pigs:
            pybullet.removeBody(pig, self.id)
        self.pigs.clear()
        self._running = (0, 0)

    def close(self) -> None:
        """Ends the client."""
        if self.id >= 0:
            pybullet.disconnect(physicsClientId=self.id)
        self.id = -1

    def run(self, steps: int, halvings: int = 0, each: Callable[[int], None] | None = None) -> int:
        """Simulates that many base steps, each halved some times.

        Args:
            steps: base steps.
            halvings: how often each is halved.
            each: called after each base step with its number, from 1; changes no bit.

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
            self.claim()
            if (steps, halvings) != self._running:
                self._running = (steps, halvings)
                duration_s = steps * self.settings.time_step_s
                recovery_s = self.settings.recovery_s
                if self._soft:
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

    def claim(self, *, anew: bool = False) -> None:
        """Makes the process's contact threshold that of this engine; the lock is held.

        Args:
            anew: also where no other engine of ours has changed it, but others may have.
        """
        if anew or self._contact_breaking_m != Engine._threshold_m:
            pybullet.setPhysicsEngineParameter(
                contactBreakingThreshold=self._contact_breaking_m * UNITS_PER_M,
                physicsClientId=self.id,
            )
            Engine._threshold_m = self._contact_breaking_m

    def _soften(self, step_s: float) -> None:
        for pig, body in zip(self.pigs, self.bodies, strict=True):
            if body.model.contact_stiffness_n_m:
                soften(self.id, pig, body, self.surface, step_s)

    def add_table(self, edges_of: Table | None = None) -> None:
        """Makes the table: endless, which serves as long as no pig is near the edge, or as it is.

        Args:
            edges_of: None for one without edges.
        """
        if edges_of is None:
            shape = pybullet.createCollisionShape(pybullet.GEOM_PLANE, physicsClientId=self.id)
            height_m = 0.0
        else:
            sizes = np.array([edges_of.length_m, edges_of.width_m, TABLE_THICKNESS_M])
            shape = pybullet.createCollisionShape(
                pybullet.GEOM_BOX,
                halfExtents=(sizes / 2 * UNITS_PER_M).tolist(),
                physicsClientId=self.id,
            )
            height_m = -TABLE_THICKNESS_M / 2
        table = pybullet.createMultiBody(
            0,
            shape,
            make_unseen(self.id),
            basePosition=[0, 0, height_m * UNITS_PER_M],
            useMaximalCoordinates=1,
            physicsClientId=self.id,
        )
        pybullet.changeDynamics(
            table,
            -1,
            lateralFriction=self.surface.lateral_friction,
            restitution=self.surface.restitution,
            rollingFriction=self.surface.rolling_friction,
            spinningFriction=self.surface.spinning_friction,
            physicsClientId=self.id,
        )

    def add_pig(self, shape: int, unseen: int, quat_xyzw: Quat = (0.0, 0.0, 0.0, 1.0)) -> None:
        """Makes the next pig, in this attitude and in the air (`in_air`)."""
        number = len(self.pigs)
        body, state = self.bodies[number], in_air(quat_xyzw, number)
        mass_g = body.model.mass_kg * GRAMS_PER_KG
        rigid = not body.model.contact_stiffness_n_m
        pig = pybullet.createMultiBody(
            mass_g,
            shape,
            unseen,
            basePosition=_units(state.centre_m),
            baseOrientation=state.quat_xyzw,
            useMaximalCoordinates=1,
            physicsClientId=self.id,
        )
        pybullet.changeDynamics(
            pig,
            -1,
            mass=mass_g,  # without it, Bullet sets the mass to 0 here
            localInertiaDiagonal=(body.moments_kg_m2 * GRAMS_PER_KG * UNITS_PER_M**2).tolist(),
            lateralFriction=body.model.lateral_friction,
            restitution=body.model.restitution if rigid else 0.0,  # a soft one has dampers
            rollingFriction=body.model.rolling_friction,
            spinningFriction=body.model.spinning_friction,
            linearDamping=0.0,
            angularDamping=0.0,
            activationState=pybullet.ACTIVATION_STATE_DISABLE_SLEEPING,
            physicsClientId=self.id,
        )
        self.pigs.append(int(pig))
        self.pose(number, state)

    def pose(self, number: int, state: PlainState) -> None:
        """Puts a pig into this state (principal frame); see `in_air`."""
        place, quat, velocity, spin = state
        pig = self.pigs[number]
        pybullet.resetBasePositionAndOrientation(pig, _units(place), quat, self.id)
        pybullet.resetBaseVelocity(pig, _units(velocity), spin, self.id)

    def motion_of(self, number: int) -> EngineMotion:
        """How a pig moves; raises as `EngineMotion`."""
        pig = self.pigs[number]
        place, quat = pybullet.getBasePositionAndOrientation(pig, self.id)
        velocity, spin = pybullet.getBaseVelocity(pig, self.id)
        return EngineMotion(
            self.bodies[number], PlainState(place, quat, velocity, spin), UNITS_PER_M
        )

    def pigs_touch(self, within_m: float) -> bool:
        """Whether the two pigs' surfaces come within this distance [m]."""
        with LOCK:
            self.claim()
            points = pybullet.getClosestPoints(
                *self.pigs,
                distance=(within_m - 2 * MARGIN_M) * UNITS_PER_M,
                physicsClientId=self.id,
            )
        return len(points) > 0

    def halvings(self, body: Body, point_speed_m_s: float, fastest: float | None = None) -> int:
        """How often the step is halved while a point of the pig is that fast.

        `fastest`: as `full_step_speed` of the settings, which it is if None.
        """
        fastest = fastest or self.settings.full_step_speed
        over = point_speed_m_s / (fastest * body.model.height_m)
        return 0 if over <= 1.0 else min(math.ceil(math.log2(over)), MOST_HALVINGS)


def in_air(quat_xyzw: Quat, number: int = 0) -> PlainState:
    """This attitude, at rest, high above the table; each number has a place of its own.

    Bullet turns a body's inertia with it at the end of a step only, not when it is made, given
    its mass, or posed. So before a body is posed, it takes a step up there in the attitude that
    it will have: its first impact would else be that of a body that is turned otherwise.
    """
    return PlainState((0.0, 0.0, 10.0 * (number + 1)), quat_xyzw, _STILL, _STILL)


def _units(vector: Triple) -> Triple:
    x, y, z = vector
    return x * UNITS_PER_M, y * UNITS_PER_M, z * UNITS_PER_M


def soften(client: int, pig: int, body: Body, surface: Surface, step_s: float) -> None:
    """Gives a soft pig the springs and dampers that suit this step."""
    stiffness = body.model.contact_stiffness_n_m
    damping = damping_kg_s(body.model, surface) - stiffness * step_s
    pybullet.changeDynamics(
        pig,
        -1,
        contactStiffness=stiffness * GRAMS_PER_KG,
        contactDamping=max(damping, 0.0) * GRAMS_PER_KG,
        physicsClientId=client,
    )


def obj_text(parts_m: Sequence[FloatArray]) -> str:
    """A Wavefront OBJ, in the engine's units, with one `o` group a part.

    Bullet takes the convex hull of each. The faces only list every vertex; that they enclose
    nothing does not matter to a hull.
    """
    lines: list[str] = []
    first = 1
    for number, part_m in enumerate(parts_m):
        vertices = (part_m * UNITS_PER_M).tolist()
        last = first + len(vertices)
        lines.append(f"o part{number}")
        lines += [f"v {x:.17g} {y:.17g} {z:.17g}" for x, y, z in vertices]
        lines += [f"f {first} {i} {min(i + 1, last - 1)}" for i in range(first, last)]
        first = last
    return "\n".join(lines) + "\n"


def make_shape(client: int, parts: str) -> int:
    """A compound of hulls, from an `obj_text`, by way of a file: Bullet takes no other.

    Raises:
        ConfigError: no temporary file can be written or read.
    """
    with scratch() as folder:
        path = write_passing(folder / "parts.obj", parts)
        with contextlib.suppress(pybullet.error):
            shape = pybullet.createCollisionShape(
                pybullet.GEOM_MESH, fileName=str(path), physicsClientId=client
            )
            return int(shape)
        raise ConfigError(
            f"{path}: the engine cannot read this temporary file; leave such files alone, or set "
            "TMPDIR to a folder where nothing is removed"
        )


def make_unseen(client: int) -> int:
    """A tiny visual shape; without one, Bullet reads the parts' file again for every body.

    A single triangle is the cheapest: Bullet prepares what is visible for its renderer.
    """
    shape = pybullet.createVisualShape(
        pybullet.GEOM_MESH,
        vertices=[[0, 0, 0], [0.01, 0, 0], [0, 0.01, 0]],
        indices=[0, 1, 2],
        physicsClientId=client,
    )
    return int(shape)

"""Both pigs in MuJoCo: another engine, for pairs where PyBullet is missing, and to compare with.

Units are SI: MuJoCo has no hidden lengths of the size of a pig.

MuJoCo has no restitution. Its contacts are damped springs whose stiffness and damping are given
per mass (`solref` with negative numbers), so a contact is an oscillator with the frequency w and
the damping ratio `damping_ratio` of the restitution that a pair has, e = e_1 e_2. The stiffest
spring that a step h resolves (`STIFFNESS` = w h) is soft beside Bullet's contacts: at 1/2048 s an
impact at 2 m/s sinks 1.7 mm deep and lasts 4 ms. Friction is Coulomb's cone, with the product of
the two bodies' factors. Rolling and spinning friction are left out (the standard pig has none).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np

from physim.geometry import body_to_world, world_to_body
from physim.physics.body import Body, damping_ratio
from physim.physics.fast.pair import EnergyBounds, EngineMotions, Meeting
from physim.physics.state import EngineMotion, PlainState, PlainStates, RestCriterion
from physim.physics.surfaces import TABLE_THICKNESS_M, EngineSettings
from physim.types import GRAVITY_M_S2, FloatArray, Table

# w h: a sphere's restitution is off by .05 at most in the mean over the phases of the step, by .12
# in the worst one.
STIFFNESS = 0.4
# How far a contact is shared with others, 0 to 1. From 0.85 on, resting pigs tremble: they sink in
# too little to keep their contacts.
_IMPEDANCE = 0.7
_BITS = (1, 2)  # collision classes of the two pigs
STEPS = 4  # of MuJoCo a base step, in a `MujocoPair`: a finer one has stiffer contacts


class MujocoPigs:
    """Two pigs and a table in one MuJoCo model. Use it with `with`."""

    def __init__(
        self,
        bodies: tuple[Body, Body],
        table: Table,
        settings: EngineSettings,
        criterion: RestCriterion,
        *,
        edges: bool = False,
    ) -> None:
        """Makes the model; `edges`: whether the table ends."""
        self.bodies, self.table, self.settings, self.criterion = bodies, table, settings, criterion
        self.model = mujoco.MjModel.from_xml_string(
            model_xml(bodies, table, settings.time_step_s, edges)
        )
        self.data = mujoco.MjData(self.model)

    def __enter__(self) -> MujocoPigs:
        return self

    def __exit__(self, *error: object) -> None:
        del self.model, self.data

    def place(self, states: PlainStates) -> None:
        """Puts the pigs where the toss lets them go."""
        mujoco.mj_resetData(self.model, self.data)
        for number, (place, quat, velocity, spin) in enumerate(states):
            x, y, z, w = quat
            own = world_to_body(quat, spin)  # MuJoCo counts spin along the body's own axes
            self.data.qpos[7 * number : 7 * number + 7] = [*place, w, x, y, z]
            self.data.qvel[6 * number : 6 * number + 6] = [*velocity, *own]

    def step(self, steps: int) -> None:
        """Steps the world, in C."""
        mujoco.mj_step(self.model, self.data, nstep=steps)

    def sample(self) -> PlainStates:
        """Both states (principal frame)."""
        return self._state(0), self._state(1)

    def _state(self, number: int) -> PlainState:
        x, y, z, qw, qx, qy, qz = self.data.qpos[7 * number : 7 * number + 7].tolist()
        u, v, w, *spin = self.data.qvel[6 * number : 6 * number + 6].tolist()
        quat = qx, qy, qz, qw
        a, b, c = spin
        return PlainState((x, y, z), quat, (u, v, w), body_to_world(quat, (a, b, c)))

    def touching(self) -> bool:
        """Whether the pigs are in contact."""
        of_table = 0
        owners = self.model.geom_bodyid[self.data.contact.geom]
        return bool(np.any((owners != of_table).all(axis=1)))


class MujocoPair(Meeting):
    """Two pigs in MuJoCo, with and without the table's edges. Use it with `with`."""

    def __init__(
        self,
        bodies: tuple[Body, Body],
        table: Table,
        settings: EngineSettings,
        criterion: RestCriterion | None = None,
        bounds: EnergyBounds | None = None,
    ) -> None:
        super().__init__(bodies, table, settings, criterion, bounds)
        finer = replace(settings, time_step_s=settings.time_step_s / STEPS)
        self._endless, self._with_edges = (
            MujocoPigs(bodies, table, finer, self._criterion, edges=edges)
            for edges in (False, True)
        )
        self._pigs = self._endless

    def __enter__(self) -> MujocoPair:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is held open."""

    def place(self, states: PlainStates, *, at_edge: bool) -> None:
        """Puts both pigs into these states (principal frame)."""
        self.at_edge = at_edge
        self._pigs = self._with_edges if at_edge else self._endless
        self._pigs.place(states)

    def advance(self, base_steps: int, each: Callable[[int], None] | None = None) -> int:
        """Simulates so many base steps; the engine's steps. `each`: as for `Engine.run`."""
        if each is None:
            self._pigs.step(STEPS * base_steps)
        else:
            for number in range(1, base_steps + 1):
                self._pigs.step(STEPS)
                each(number)
        return STEPS * base_steps

    def sample(self) -> EngineMotions:
        """How both pigs move."""
        first, second = (
            EngineMotion(body, state)
            for body, state in zip(self.bodies, self._pigs.sample(), strict=True)
        )
        return first, second

    def pigs_touch(self, within_m: float) -> bool:
        """Whether the two pigs' surfaces come within this distance [m]."""
        model, data = self._pigs.model, self._pigs.data
        mujoco.mj_forward(model, data)
        black, pink = (np.flatnonzero(model.geom_bodyid == body) for body in (1, 2))
        return any(
            mujoco.mj_geomDistance(model, data, int(one), int(two), within_m, None) < within_m
            for one in black
            for two in pink
        )


def model_xml(bodies: tuple[Body, Body], table: Table, step: float, edges: bool) -> str:
    """The MuJoCo model: two pigs, and a table for each, since a pair has its own factors."""
    surface, (black, pink) = table.surface, (body.model for body in bodies)
    shape = 'type="plane" size="1 1 1"'
    if edges:
        half = table.length_m / 2, table.width_m / 2, TABLE_THICKNESS_M / 2
        shape = f'type="box" size="{_numbers(np.array(half))}" pos="0 0 {-half[2]:.17g}"'
    between = _contact(
        black.lateral_friction * pink.lateral_friction, black.restitution * pink.restitution, step
    )
    meshes, tables, pigs = [], [], []
    for number, body in enumerate(bodies):
        pig, own, other = body.model, _BITS[number], _BITS[1 - number]
        on_table = _contact(
            pig.lateral_friction * surface.lateral_friction,
            pig.restitution * surface.restitution,
            step,
        )
        tables.append(
            f'<geom {shape} contype="{4 * own}" conaffinity="0" '
            f'priority="1" {on_table}/>'  # its factors count, not the pig's
        )
        geoms = []
        for part, vertices in enumerate(body.parts_m):
            name = f"pig{number}part{part}"
            meshes.append(f'<mesh name="{name}" vertex="{_numbers(vertices)}"/>')
            geoms.append(
                f'<geom type="mesh" mesh="{name}" contype="{own}" '
                f'conaffinity="{other + 4 * own}" {between}/>'
            )
        pigs.append(
            f'<body name="pig{number}"><freejoint/><inertial pos="0 0 0" mass="{pig.mass_kg:.17g}" '
            f'diaginertia="{_numbers(body.moments_kg_m2)}"/>{"".join(geoms)}</body>'
        )
    return (
        f'<mujoco><compiler inertiafromgeom="false" boundmass="0" boundinertia="0"/>'
        f'<option timestep="{step:.17g}" gravity="0 0 {-GRAVITY_M_S2}" cone="elliptic" '
        f'impratio="10" integrator="implicit"/>'
        f"<asset>{''.join(meshes)}</asset>"
        f"<worldbody>{''.join(tables)}{''.join(pigs)}</worldbody></mujoco>"
    )


def _contact(friction: float, restitution: float, step_s: float) -> str:
    frequency = STIFFNESS / step_s
    damping = 2.0 * damping_ratio(restitution) * frequency
    return (
        f'condim="3" friction="{friction:.17g} 0 0" solmix="1" '
        f'solref="{-(frequency**2):.17g} {-damping:.17g}" '
        f'solimp="{_IMPEDANCE} {_IMPEDANCE} 0.001"'
    )


def _numbers(values: FloatArray) -> str:
    return " ".join(f"{value:.17g}" for value in values.ravel().tolist())

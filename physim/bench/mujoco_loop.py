"""The same pigs in MuJoCo: another engine, as a second opinion on speed and frequencies.

Parts, mass, tosses, time step and rest criterion are physim's, and the engine steps in C between
two looks. Units are SI: MuJoCo has no hidden lengths of the size of a pig.

MuJoCo has no restitution. Its contacts are damped springs whose stiffness and damping are given
per mass (`solref` with negative numbers), so a contact is an oscillator with the frequency w and
the damping ratio `damping_ratio` of the restitution that a pair has, e = e_1 e_2. The stiffest
spring that a step h resolves (`STIFFNESS` = w h) is soft beside Bullet's contacts: an impact at
2 m/s sinks 1.7 mm deep and lasts 4 ms. Friction is Coulomb's cone, with the product of the two
bodies' factors. Rolling and spinning friction are left out (the standard pig has none).
"""

from __future__ import annotations

import mujoco
import numpy as np

from physim.geometry import body_to_world, world_to_body
from physim.physics.body import Body, damping_ratio
from physim.physics.state import PlainState, PlainStates
from physim.simulator import Setup
from physim.types import GRAVITY_M_S2, FloatArray

# w h: a sphere's restitution is off by .05 at most in the mean over the phases of the step, by .12
# in the worst one.
STIFFNESS = 0.4
# How far a contact is shared with others, 0 to 1. From 0.85 on, resting pigs tremble: they sink in
# too little to keep their contacts.
_IMPEDANCE = 0.7
_BITS = (1, 2)  # collision classes of the two pigs


class MujocoPigs:
    """Two pigs and a table in one MuJoCo model. Use it with `with`."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.bodies = (Body.of(setup.black), Body.of(setup.pink))
        self.table, self.settings = setup.table, setup.settings
        self.criterion = setup.criterion

    def __enter__(self) -> MujocoPigs:
        self.model = mujoco.MjModel.from_xml_string(model_xml(self.setup, self.bodies))
        self.data = mujoco.MjData(self.model)
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


def model_xml(setup: Setup, bodies: tuple[Body, Body]) -> str:
    """The MuJoCo model: two pigs, and a table for each, since a pair has its own factors."""
    surface, (black, pink) = setup.table.surface, setup.pigs
    step = setup.settings.time_step_s
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
            f'<geom type="plane" size="1 1 1" contype="{4 * own}" conaffinity="0" '
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

"""The same pigs in MuJoCo: another engine, as a second opinion on speed and frequencies.

Units are SI: MuJoCo has no hidden lengths of the size of a pig. The engine steps in C between two
samples.

MuJoCo has no restitution. Its contacts are damped springs whose stiffness and damping are given
per mass (`solref` with negative numbers), so a contact is an oscillator with the frequency w and
the damping ratio `damping_ratio` of the restitution that a pair has, e = e_1 e_2. The stiffest
spring that a step h resolves (`STIFFNESS` = w h) is soft beside Bullet's contacts: an impact at
2 m/s sinks 1.7 mm deep and lasts 4 ms. Friction is Coulomb's cone, with the product of the two
bodies' factors. Rolling and spinning friction are left out (the standard pig has none).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import mujoco
import numpy as np
from scipy.optimize import brentq

from physim.bench.benchmark import Motion, OutsideEngine
from physim.physics.body import Body
from physim.quaternions import conjugate, rotate
from physim.simulator import Setup
from physim.types import GRAVITY_M_S2, FloatArray, Toss

# w h: a sphere's restitution is off by .05 at most in the mean over the phases of the step, by .12
# in the worst one.
STIFFNESS = 0.4
# How far a contact is shared with others, 0 to 1. From 0.85 on, resting pigs tremble: they sink in
# too little to keep their contacts.
_IMPEDANCE = 0.7
_BITS = (1, 2)  # collision classes of the two pigs


class MujocoPigs(OutsideEngine):
    """Two pigs and a table in one MuJoCo model."""

    def open(self) -> None:
        """Makes the world."""
        self.model = mujoco.MjModel.from_xml_string(model_xml(self.setup, self.bodies))
        self.data = mujoco.MjData(self.model)

    def close(self) -> None:
        """Gives the world's memory back."""
        del self.model, self.data

    def release(self, toss: Toss) -> None:
        """Puts the pigs where the toss lets them go."""
        mujoco.mj_resetData(self.model, self.data)
        for number, (body, state) in enumerate(zip(self.bodies, toss.pigs, strict=True)):
            start = body.enter(state)
            spin = rotate(conjugate(start.quat_xyzw), start.angular_velocity_rad_s)
            x, y, z, w = start.quat_xyzw
            self.data.qpos[7 * number : 7 * number + 7] = [*start.position_m, w, x, y, z]
            self.data.qvel[6 * number : 6 * number + 6] = [*start.velocity_m_s, *spin]

    def advance(self, steps: int) -> None:
        """Steps the world, in C."""
        mujoco.mj_step(self.model, self.data, nstep=steps)

    def sample(self) -> Sequence[Motion]:
        """The motion of both pigs; the spin is along the pig's own axes."""
        places, motions = self.data.qpos.tolist(), self.data.qvel.tolist()
        pigs = []
        for place, motion in zip((places[:7], places[7:]), (motions[:6], motions[6:]), strict=True):
            w, x, y, z = place[3:]
            pigs.append((place[:3], (x, y, z, w), motion[:3], motion[3:]))
        return pigs

    def pigs_meet(self) -> bool:
        """Whether the pigs are in contact."""
        of_table = 0
        owners = self.model.geom_bodyid[self.data.contact.geom]
        return bool(np.any((owners != of_table).all(axis=1)))


def model_xml(setup: Setup, bodies: tuple[Body, Body]) -> str:
    """The MuJoCo model: two pigs, and a table for each, since a pair has its own factors."""
    surface, (black, pink) = setup.table.surface, setup.pigs
    step_s = setup.settings.time_step_s
    friction = black.lateral_friction * pink.lateral_friction
    between = _contact(friction, black.restitution * pink.restitution, step_s)
    meshes, tables, pigs = [], [], []
    for number, body in enumerate(bodies):
        pig, own, other = body.model, _BITS[number], _BITS[1 - number]
        friction = pig.lateral_friction * surface.lateral_friction
        on_table = _contact(friction, pig.restitution * surface.restitution, step_s)
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
        f'<option timestep="{step_s:.17g}" gravity="0 0 {-GRAVITY_M_S2}" cone="elliptic" '
        f'impratio="10" integrator="implicit"/>'
        f"<asset>{''.join(meshes)}</asset>"
        f"<worldbody>{''.join(tables)}{''.join(pigs)}</worldbody></mujoco>"
    )


def damping_ratio(restitution: float) -> float:
    """The damping ratio, at most 1, of a spring that returns this share of the speed.

    The contact ends where its force would begin to pull. Critical damping returns exp(-2) = .135;
    what should bounce less gets it all the same, since a stronger damper needs finer steps.

    References:
        T. Schwager, T. Pöschel, "Coefficient of restitution and linear-dashpot model
        revisited", Granular Matter 9, 2007.
    """
    if restitution <= math.exp(-2.0):
        return 1.0

    def excess(ratio: float) -> float:
        root = math.sqrt(1.0 - ratio * ratio)
        angle = math.pi - math.atan2(2.0 * ratio * root, 1.0 - 2.0 * ratio * ratio)
        return ratio / root * angle + math.log(restitution)

    return float(brentq(excess, 0.0, 1.0 - 1e-9))


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

"""Flight without contact: computed, not stepped.

The centre of mass follows a parabola exactly. A torque-free rigid body keeps its angular
momentum L; its attitude q obeys q' = q (0, w) / 2 with w = I^-1 R(q)^T L in the principal
frame. Each step multiplies q by the rotation exp(W), W being the Magnus series of the
moving frame up to the fourth order:

    W = h w + h^2/2 w' + h^3/6 w'' + h^4/24 w''' + h^3/12 w x w' + h^4/24 w x w''

where Euler's equations I w' = I w x w give the derivatives. A body that turns about a fixed
axis is turned exactly; a pig is off by less than 1e-5 rad after 0.3 s at 60 rad/s (see the
tests). Attitudes are found from the nodes of one time grid a flight, so that they do not
depend on which were asked for earlier.

References:
    Iserles, Munthe-Kaas, Norsett and Zanna, "Lie-group methods", Acta Numerica 2000.
    Mirtich, "Impulse-based dynamic simulation of rigid body systems", PhD thesis 1996
    (conservative advancement: steps that cannot reach contact).
"""

from __future__ import annotations

import math

import numpy as np

from physim.values import GRAVITY_M_S2, Quat, RigidState, Triple
from physim.world import kernels
from physim.world.body import Body

MAX_TURN_RAD = 0.1  # between two nodes
LONGEST_STEP_S = 0.05
# Contact is reached when the gap is below this: far below the engine's own collision
# margin (1e-5 m), so that the engine sees the contact in its first step.
CONTACT_GAP_M = 1e-6
MAX_FLIGHT_S = 10.0  # a fall of 490 m: nothing flies longer


class Flight:
    """One body in free flight from a state (principal frame) at time 0."""

    def __init__(self, body: Body, start: RigidState) -> None:
        self.body = body
        x, y, z, w = start.quat_xyzw.tolist()
        self._quat: Quat = (x, y, z, w)
        self._place: Triple = tuple(start.position_m.tolist())
        self._velocity: Triple = tuple(start.velocity_m_s.tolist())
        self._moments: Triple = tuple(body.moments_kg_m2.tolist())
        spin = kernels.into_body(self._quat, tuple(start.angular_velocity_rad_s.tolist()))
        i, j, k = self._moments
        own = (i * spin[0], j * spin[1], k * spin[2])
        self._momentum = kernels.out_of_body(self._quat, own)
        least = min(self._moments)
        energy = own[0] * spin[0] + own[1] * spin[1] + own[2] * spin[2]
        by_momentum = math.sqrt(own[0] * own[0] + own[1] * own[1] + own[2] * own[2]) / least
        self.fastest_rad_s = min(by_momentum, math.sqrt(energy / least))
        """A bound on the angular speed at any time, from |L| and from the energy of rotation."""
        turn_s = MAX_TURN_RAD / self.fastest_rad_s if self.fastest_rad_s > 0 else math.inf
        self._step_s = min(turn_s, LONGEST_STEP_S)
        self._nodes = [self._quat]
        u, v, w = self._velocity
        moving = u * u + v * v + w * w + energy / body.model.mass_kg
        self.energy_m = self._place[2] + 0.5 * moving / GRAVITY_M_S2
        """Potential and kinetic energy over m g."""

    def place_m(self, time_s: float) -> Triple:
        """The centre of mass at `time_s`."""
        (x, y, z), (u, v, w) = self._place, self._velocity
        fallen = 0.5 * GRAVITY_M_S2 * time_s * time_s
        return x + time_s * u, y + time_s * v, z + time_s * w - fallen

    def velocity_m_s(self, time_s: float) -> Triple:
        """Of the centre of mass at `time_s`."""
        u, v, w = self._velocity
        return u, v, w - GRAVITY_M_S2 * time_s

    def attitude(self, time_s: float) -> Quat:
        """The attitude at `time_s`, principal frame to world."""
        number = int(time_s / self._step_s) if time_s > 0.0 else 0
        nodes, how = self._nodes, (self._momentum, self._moments)
        while len(nodes) <= number:
            nodes.append(kernels.turned(nodes[-1], *how, self._step_s))
        rest_s = time_s - number * self._step_s
        return nodes[number] if rest_s == 0.0 else kernels.turned(nodes[number], *how, rest_s)

    def state(self, time_s: float) -> RigidState:
        """The full state at `time_s`."""
        q = self.attitude(time_s)
        spin = kernels.spin_in_body(q, self._momentum, self._moments)
        return RigidState(
            np.array(self.place_m(time_s)),
            np.array(q),
            np.array(self.velocity_m_s(time_s)),
            np.array(kernels.out_of_body(q, spin)),
        )

    def landing(self) -> tuple[float, RigidState]:
        """Time and state just before the first touch of the table; at time 0 where it touches."""
        time_s = self.landing_s()
        return time_s, self.state(time_s)

    def landing_s(self) -> float:
        """The time just before the first touch of the table; 0 where the body touches it."""
        return kernels.landing_s(
            self.body.hull_columns_m,
            self.body.hull_radii_m,
            self.body.lowest_m,
            self._quat,
            self._momentum,
            self._moments,
            self._place[2],
            self._velocity[2],
            self.fastest_rad_s,
            self._step_s,
            CONTACT_GAP_M,
            MAX_FLIGHT_S,
        )


def free_flight(body: Body, start: RigidState, time_s: float) -> RigidState:
    """The state after `time_s` of free flight, principal frame."""
    return Flight(body, start).state(time_s)

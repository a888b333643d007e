"""Flight without contact: computed, not stepped.

The centre of mass follows a parabola exactly. A torque-free rigid body keeps its angular
momentum L; its attitude q obeys q' = q (0, w) / 2 with w = I^-1 R(q)^T L in the principal
frame. Each step multiplies q by the rotation exp(W), W being the Magnus series of the
moving frame up to the fourth order:

    W = h w + h^2/2 w' + h^3/6 w'' + h^4/24 w''' + h^3/12 w x w' + h^4/24 w x w''

where Euler's equations I w' = I w x w give the derivatives. A body that turns about a fixed
axis is turned exactly; a pig is off by less than 1e-5 rad after 0.3 s at 60 rad/s (see the
tests). Attitudes are kept at nodes of one time grid a flight and found from the node before,
so that they do not depend on which were asked for earlier.

`Flight.landing` finds the first touch of the table: from bounds on how far each corner of the
hull can dip between two nodes, and then by steps that cannot reach contact.

References:
    Iserles, Munthe-Kaas, Norsett and Zanna, "Lie-group methods", Acta Numerica 2000.
    Mirtich, "Impulse-based dynamic simulation of rigid body systems", PhD thesis 1996
    (conservative advancement: steps that cannot reach contact).
"""

from __future__ import annotations

import math

import numpy as np

from physim.rotations import conjugate, normalized, rotate
from physim.values import GRAVITY_M_S2, FloatArray, Quat, RigidState, Triple
from physim.world.body import Body

MAX_TURN_RAD = 0.2  # between two nodes
LONGEST_STEP_S = 0.05
# Contact is reached when the gap is below this: far below the engine's own collision
# margin (1e-5 m), so that the engine sees the contact in its first step.
CONTACT_GAP_M = 1e-6
MAX_FLIGHT_S = 10.0  # a fall of 490 m: nothing flies longer


class Flight:
    """One body in free flight from a state (principal frame) at time 0."""

    def __init__(self, body: Body, start: RigidState) -> None:
        self.body = body
        self.start = start
        q = start.quat_xyzw
        self._quat: Quat = (float(q[0]), float(q[1]), float(q[2]), float(q[3]))
        self._place: Triple = tuple(start.position_m.tolist())
        self._speed: Triple = tuple(start.velocity_m_s.tolist())
        spin = rotate(conjugate(q), start.angular_velocity_rad_s)
        moments = body.moments_kg_m2
        self._momentum: Triple = tuple(rotate(q, moments * spin).tolist())
        self._moments: Triple = tuple(moments.tolist())
        least = min(self._moments)
        by_momentum = math.hypot(*self._momentum) / least
        by_energy = math.sqrt(float((moments * spin * spin).sum()) / least)
        self.fastest_rad_s = min(by_momentum, by_energy)
        """A bound on the angular speed at any time, from |L| and from the energy of rotation."""
        turn_s = MAX_TURN_RAD / self.fastest_rad_s if self.fastest_rad_s > 0 else math.inf
        self._step_s = min(turn_s, LONGEST_STEP_S)
        self._nodes = [self._quat]

    def energy_m(self) -> float:
        """Potential and kinetic energy over m g."""
        squares = self.body.radii_of_gyration_squared_m2
        spin = self._spin(self._quat)
        turning = sum(k * w * w for k, w in zip(squares, spin, strict=True))
        moving = sum(v * v for v in self._speed)
        return self._place[2] + 0.5 * (moving + turning) / GRAVITY_M_S2

    def place_m(self, time_s: float) -> Triple:
        """The centre of mass at `time_s`."""
        (x, y, z), (u, v, w) = self._place, self._speed
        fallen = 0.5 * GRAVITY_M_S2 * time_s * time_s
        return x + time_s * u, y + time_s * v, z + time_s * w - fallen

    def velocity_m_s(self, time_s: float) -> Triple:
        """Of the centre of mass at `time_s`."""
        u, v, w = self._speed
        return u, v, w - GRAVITY_M_S2 * time_s

    def attitude(self, time_s: float) -> Quat:
        """The attitude at this time, from the node before it."""
        number = max(0, int(time_s / self._step_s))
        rest_s = time_s - number * self._step_s
        q = self._node(number)
        return q if rest_s == 0.0 else self._magnus(q, rest_s)

    def state(self, time_s: float) -> RigidState:
        """The full state at `time_s`."""
        q = self.attitude(time_s)
        quat = normalized(np.array(q))
        spin = rotate(quat, np.array(self._spin(q)))
        place, velocity = self.place_m(time_s), self.velocity_m_s(time_s)
        return RigidState(np.array(place), quat, np.array(velocity), spin)

    def landing(self) -> tuple[float, RigidState]:
        """Time and state just before the first touch of the table.

        At time 0 where the body touches it already.
        """
        time_s = self._time_to_height(self.body.radius_m)
        first = int(time_s / self._step_s)
        free = self._free_intervals(first)
        while time_s < MAX_FLIGHT_S:
            number = int(time_s / self._step_s) - first
            if number < len(free) and free[number]:
                while number < len(free) and free[number]:
                    number += 1
                time_s = max(time_s, (first + number) * self._step_s)
            wait = self._table_wait(time_s)
            if wait <= 0.0:
                break
            time_s += wait
        return time_s, self.state(time_s)

    def _free_intervals(self, first: int) -> list[bool]:
        """Whether no corner can touch the table, of each interval from this node on.

        Between two nodes a step apart a corner is at most a step^2 / 8 below its height at the
        lower one, a being the most that it is accelerated.
        """
        end_s = self._time_to_height(self.body.lowest_m)  # it cannot be above the table then
        last = int(end_s / self._step_s) + 1
        columns = self.body.hull_columns_m
        ups = np.array([up_in_body(self._node(number)) for number in range(first, last + 1)])
        times = np.arange(first, last + 1) * self._step_s
        z, up = self._place[2], self._speed[2]
        centres = z + times * up - 0.5 * GRAVITY_M_S2 * times * times
        heights = (
            ups[:, 0, None] * columns[0]
            + ups[:, 1, None] * columns[1]
            + ups[:, 2, None] * columns[2]
            + centres[:, None]
        )
        dips = self._accelerations() * self._step_s**2 / 8.0
        lows = (np.minimum(heights[:-1], heights[1:]) - dips).min(axis=1)
        free: list[bool] = (lows > CONTACT_GAP_M).tolist()
        return free

    def _time_to_height(self, height_m: float) -> float:
        """When the centre falls below this height; 0 if it is below already."""
        spare, up = self._place[2] - height_m, self._speed[2]
        if spare <= 0.0:
            return 0.0
        return (up + math.sqrt(up * up + 2.0 * GRAVITY_M_S2 * spare)) / GRAVITY_M_S2

    def _table_wait(self, time_s: float) -> float:
        """A time for which the body surely stays above the table; 0 at contact.

        A corner at height h that rises at speed s is above the table at least until
        h + s t - a t^2 / 2 = 0, a being the most that it is accelerated.
        """
        q = self.attitude(time_s)
        columns = self.body.hull_columns_m
        ux, uy, uz = up_in_body(q)
        heights = columns[0] * ux + columns[1] * uy + columns[2] * uz + self.place_m(time_s)[2]
        if float(heights.min()) <= CONTACT_GAP_M:
            return 0.0
        a, b, c = self._spin(q)
        up_m_s = self.velocity_m_s(time_s)[2]
        speeds = (
            columns[0] * (uy * c - uz * b)
            + columns[1] * (uz * a - ux * c)
            + columns[2] * (ux * b - uy * a)
            + up_m_s
        )
        most = self._accelerations()
        waits = (speeds + np.sqrt(speeds * speeds + 2.0 * most * heights)) / most
        return float(waits.min())

    def _accelerations(self) -> FloatArray:
        """(n,) bounds on the acceleration of each corner v of the hull [m/s2].

        g + w^2 |v| + |w'| |v| with |w'| <= w^2 / sqrt(3), since each factor of Euler's equations
        is at most 1.
        """
        return np.asarray(GRAVITY_M_S2 + 1.58 * self.fastest_rad_s**2 * self.body.hull_radii_m)

    def _spin(self, q: Quat) -> Triple:
        """Angular velocity in the principal frame: I^-1 R(q)^T L."""
        x, y, z, w = q
        a, b, c = self._momentum
        # R^T L by the quaternion: L + 2 w (L x u) + 2 ((L x u) x u), u = (x, y, z).
        s, t, r = b * z - c * y, c * x - a * z, a * y - b * x
        i, j, k = self._moments
        return (
            (a + 2 * (w * s + t * z - r * y)) / i,
            (b + 2 * (w * t + r * x - s * z)) / j,
            (c + 2 * (w * r + s * y - t * x)) / k,
        )

    def _node(self, number: int) -> Quat:
        nodes = self._nodes
        while len(nodes) <= number:
            nodes.append(self._magnus(nodes[-1], self._step_s))
        return nodes[number]

    def _magnus(self, q: Quat, h: float) -> Quat:
        """One step of the series in the module's docstring, scaled back to unit length."""
        i, j, k = self._moments
        ka, kb, kc = (j - k) / i, (k - i) / j, (i - j) / k
        a, b, c = self._spin(q)
        # w' = K (w o w); w'' and w''' by the product rule.
        a1, b1, c1 = ka * b * c, kb * c * a, kc * a * b
        a2, b2, c2 = ka * (b1 * c + b * c1), kb * (c1 * a + c * a1), kc * (a1 * b + a * b1)
        a3 = ka * (b2 * c + 2 * b1 * c1 + b * c2)
        b3 = kb * (c2 * a + 2 * c1 * a1 + c * a2)
        c3 = kc * (a2 * b + 2 * a1 * b1 + a * b2)
        h2, h3, h4 = h * h / 2, h * h * h / 6, h * h * h * h / 24
        # w x (h^3/12 w' + h^4/24 w'')
        d, e, f = h3 / 2 * a1 + h4 * a2, h3 / 2 * b1 + h4 * b2, h3 / 2 * c1 + h4 * c2
        u = h * a + h2 * a1 + h3 * a2 + h4 * a3 + b * f - c * e
        v = h * b + h2 * b1 + h3 * b2 + h4 * b3 + c * d - a * f
        t = h * c + h2 * c1 + h3 * c2 + h4 * c3 + a * e - b * d
        angle = math.sqrt(u * u + v * v + t * t)
        share = math.sin(0.5 * angle) / angle if angle > 0.0 else 0.5
        u, v, t, s = share * u, share * v, share * t, math.cos(0.5 * angle)
        x, y, z, w = q
        x, y, z, w = (
            w * u + x * s + y * t - z * v,
            w * v - x * t + y * s + z * u,
            w * t + x * v - y * u + z * s,
            w * s - x * u - y * v - z * t,
        )
        scale = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
        return x * scale, y * scale, z * scale, w * scale


def up_in_body(q: Quat) -> Triple:
    """The world's up direction seen from a body of this attitude."""
    x, y, z, w = q
    return 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)


def free_flight(body: Body, start: RigidState, time_s: float) -> RigidState:
    """The state after `time_s` of free flight, principal frame."""
    return Flight(body, start).state(time_s)

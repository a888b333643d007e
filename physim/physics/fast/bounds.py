"""What surely cannot happen, and so need not be simulated.

`EnergyBound`: a pig that still moves but cannot leave the basin of its rest any more.

`ProximityMonitor` watches two pigs that are simulated each alone, so that they never miss each
other. Before each check it says how long the pigs may go on: to the next regular check if they are
far apart, else only as long as they need at most for the distance between them. Near each other, it
finds out after the check whether they may have touched on the way: if so, the roll goes back to the
check before, from where both go on in one engine. Every answer depends on the states at the check
alone: a full roll and a fast one come to the same.

As long as the spheres about the pigs are far from each other, the answer costs some square roots.
Then a lower bound of the distance of the two hulls is found by Gilbert's method.

References:
    Gilbert, "An iterative procedure for computing the minimum of a quadratic form on a convex
    set", SIAM J. Control 1966.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from physim.compiled import compiled
from physim.geometry import conjugate, inside_margin, plane_axes, rotate
from physim.physics.body import Body
from physim.physics.fast.flight import Motion
from physim.physics.state import body_to_world, project, up_in_body, world_to_body
from physim.types import GRAVITY_M_S2, Basin, FloatArray, Quat, Table, Triple

if TYPE_CHECKING:
    from physim.physics.fast.single import SinglePig  # it loads the engine

MARGIN = 0.02  # of the height of the pass
REACH_FACTOR = 2.0
REACH_LEAST_M = 0.001
_ARC_POINTS = 24
_AZIMUTHS, _POLARS = 72, 60  # of the table of what surely is in a basin
_WIDEST_RAD = math.pi / 3  # what lies farther from a rest is not taken to be in its basin
LEAST_DISTANCE_M = 2e-4  # between two pigs: covers what one sinks into the table, and rounding
# An impact may make the fastest point faster. This factor on |v| + radius |w|, which is a bound
# on it that is seldom reached, covers that where pigs are far from each other; near each other
# what they did between two checks is looked into afterwards (`possible_contact`).
IMPACT_SPEED_FACTOR = 1.5
_GILBERT_STEPS = 30  # at most


class CertainPig(NamedTuple):
    """What a pig may still do that cannot leave its basin.

    Attributes:
        basin: its index.
        reach_m: how far its centre of mass may still get from where it is.
        fastest_m_s: what none of its points exceeds any more.
    """

    basin: int
    reach_m: float
    fastest_m_s: float


class EnergyBound:
    """Says whether one pig will end in the basin it is in, and how far from where it is.

    On a flat table the centre of mass of a pig stands at least H(d) = max v.d above it,
    with d the down direction seen from the pig and v the corners of its hull. A pig whose
    energy E (potential and kinetic, as a height E / m g) lies below the lowest pass out of
    the basin that it is in cannot come to rest anywhere else: engine and friction only take
    energy away. The solver is not perfect, though, and a body that sinks into the table or
    is pressed against it holds energy that this sum does not see. `MARGIN` covers both.

    How far it can still get follows from the same energy, above that of its rest:

    * sliding, at most energy over friction: that much work the table does on the way. Spin
      is part of the energy and no reason to get farther;
    * rocking, without work, about the corners that carry it: tilted over an edge at distance
      a from under the centre of mass, a pig of height H stands a t higher and H t aside, so
      H / a times its energy aside.

    Both are bounds of the ideal case (one contact, then the next); `REACH_FACTOR` times their
    sum is kept free. Measured over 1,200 pigs on glass, laminate and felt, with spins about the
    vertical up to 100 rad/s on top, no pig got farther than half of that.
    """

    def __init__(self, body: Body, basins: Sequence[Basin], table: Table) -> None:
        """Takes all stable rests of the body (pig frame), and of the table the friction."""
        self._body = body
        to_principal = conjugate(body.principal_xyzw)
        friction = body.model.lateral_friction * table.surface.lateral_friction
        self._basins = [
            _BasinBound(body, rotate(to_principal, basin.down), basin, friction) for basin in basins
        ]
        self.max_limit_m = max((basin.limit_m for basin in self._basins), default=-math.inf)
        """A pig of more energy than this is certain of nothing."""

    def certain(self, motion: Motion, known: int | None = None) -> CertainPig | None:
        """What a pig may still do that cannot leave its basin any more; None for another one.

        Args:
            motion: of the pig.
            known: the basin that it was found in before, which it has not left since.
        """
        energy_m = motion.energy_on_table_m
        if energy_m >= self.max_limit_m:
            return None
        index = self.basin(motion.quat_xyzw, energy_m) if known is None else known
        return None if index is None else self.in_basin(index, energy_m)

    def in_basin(self, index: int, energy_m: float) -> CertainPig:
        """What a pig of this `energy_on_table_m` may still do in a basin that it cannot leave."""
        spare_m = max(0.0, energy_m - self._body.lowest_m)
        fastest_m_s = self._body.point_speed_share * math.sqrt(2.0 * GRAVITY_M_S2 * spare_m)
        return CertainPig(index, self._basins[index].reach_m(energy_m), fastest_m_s)

    def basin(self, quat_xyzw: Quat, energy_m: float) -> int | None:
        """The basin that a pig of this attitude and `energy_on_table_m` cannot leave, or None."""
        x, y, z = up_in_body(quat_xyzw)
        down = (-x, -y, -z)
        for index, basin in enumerate(self._basins):
            if energy_m < basin.limit_m and basin.holds(down):
                return index
        return None


class _BasinBound:
    """One way to lie, principal frame."""

    def __init__(self, body: Body, low: FloatArray, basin: Basin, friction: float) -> None:
        self._body = body
        self._low = low
        self.limit_m = basin.barrier_m * (1.0 - MARGIN)
        self._height_m = basin.height_m
        slide = 1.0 / friction if friction > 0 else math.inf
        self._reach_per_energy = REACH_FACTOR * (slide + basin.height_m / self._margin_m())
        self._across = plane_axes(low)
        self._low_axis: Triple = tuple(low.tolist())
        self._axes: tuple[Triple, ...] = tuple(tuple(axis.tolist()) for axis in self._across)
        self._surely_rad, self._surely_not_rad = self._radii()

    def reach_m(self, energy_m: float) -> float:
        """How far a pig may still get."""
        spare = max(0.0, energy_m - self._height_m)
        return REACH_LEAST_M + self._reach_per_energy * spare if spare > 0.0 else REACH_LEAST_M

    def holds(self, down: Triple) -> bool:
        """Whether H stays below the limit on the straight way from `down` to the rest."""
        cosine = _dot(down, self._low_axis)
        if cosine < math.cos(_WIDEST_RAD):
            return False
        polar = math.acos(min(1.0, cosine))
        first, second = self._axes
        turn = math.atan2(_dot(down, second), _dot(down, first)) / (2.0 * math.pi) % 1.0
        number = int(turn * _AZIMUTHS) % _AZIMUTHS
        if polar < self._surely_rad[number]:
            return True
        return polar < self._surely_not_rad[number] and self._joined(down, cosine)

    def _margin_m(self) -> float:
        """Distance from under the centre of mass to the nearest edge of what carries the pig."""
        heights = self._body.hull_m @ self._low
        corners = self._body.hull_m[heights > heights.max() - 1e-3 * self._body.radius_m]
        flat = np.stack([corners @ axis for axis in plane_axes(self._low)], axis=1)
        return max(inside_margin(np.zeros(2), flat), 1e-3 * self._body.radius_m)

    def _radii(self) -> tuple[list[float], list[float]]:
        """Per azimuth, how far from the rest H surely stays below the limit, and from where not.

        Angles from the rest's down direction [rad].
        """
        polars = np.linspace(0.0, _WIDEST_RAD, _POLARS + 1)
        azimuths = (np.arange(_AZIMUTHS) + 0.5) * 2.0 * np.pi / _AZIMUTHS
        first, second = self._across
        sideways = np.cos(azimuths)[:, None] * first + np.sin(azimuths)[:, None] * second
        ways = (
            np.cos(polars)[None, :, None] * self._low
            + np.sin(polars)[None, :, None] * sideways[:, None, :]
        )
        x, y, z = (ways[:, :, i, None] for i in range(3))
        corners = self._body.hull_columns_m
        heights = (x * corners[0] + y * corners[1] + z * corners[2]).max(axis=2)
        # H changes by at most the radius times the angle between two directions.
        off = self._body.radius_m * (np.sin(polars) * np.pi / _AZIMUTHS + 0.5 * polars[1])
        above = heights + off >= self.limit_m
        first_above = np.where(above.any(axis=1), above.argmax(axis=1), _POLARS)
        surely: list[float] = polars[np.maximum(first_above - 1, 0)].tolist()
        far = heights - off >= self.limit_m
        first_far = np.where(far.any(axis=1), far.argmax(axis=1), _POLARS)
        surely_not: list[float] = polars[first_far].tolist()
        return surely, surely_not

    def _joined(self, down: Triple, cosine: float) -> bool:
        top_m = max_com_height_m(self._body.hull_columns_m, down, self._low_axis, _ARC_POINTS)
        # Between two points of the way, H rises by at most radius times half their distance.
        between = 0.5 * math.acos(min(1.0, cosine)) / (_ARC_POINTS - 1) * 1.2
        return top_m + self._body.radius_m * between < self.limit_m


def _dot(a: Triple, b: Triple) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def max_com_height_m(hull: FloatArray, begin: Triple, end: Triple, points: int) -> float:
    """The greatest height of the centre of mass above the table, at some points of the way.

    The way follows the chord between two unit vectors that point down, seen from the pig; the
    points are evenly spaced on it, both ends included.
    """
    share = np.arange(points) * (1.0 / (points - 1))
    x = (1.0 - share) * begin[0] + share * end[0]
    y = (1.0 - share) * begin[1] + share * end[1]
    z = (1.0 - share) * begin[2] + share * end[2]
    length = np.sqrt(x * x + y * y + z * z)
    x, y, z = x / length, y / length, z / length
    heights = hull[0] * x.reshape(-1, 1) + hull[1] * y.reshape(-1, 1) + hull[2] * z.reshape(-1, 1)
    return float(heights.max())


@dataclass(frozen=True)
class ProximitySnapshot:
    """Two pigs near each other at a check.

    Attributes:
        base_steps: of the check.
        distance_m: between them, at least.
        speed_m_s: at which they approach each other, at most.
        pigs: that may be in contact before the next check; 0 where both fly until then. In contact
            a pig is up to a base step late (`single`) and may have gone so much farther, and
            between two checks it may have been faster than at either.
        motions: of both pigs then.
    """

    base_steps: int
    distance_m: float
    speed_m_s: float
    pigs: int
    motions: tuple[Motion, Motion]


class ProximityMonitor:
    """Watches the pair of pigs of one roll."""

    def __init__(self, black: SinglePig, pink: SinglePig, steps_per_check: int) -> None:
        self._black, self._pink = black, pink
        self._base_step_s = black.base_step_s
        self._steps_per_check = steps_per_check
        self._near: ProximitySnapshot | None = None
        self._known = (-1, 0.0)  # the steps of a check, and the distance then

    def steps_ahead(self, base_steps: int, resting: tuple[bool, bool]) -> int:
        """How many base steps from this check on both may go on alone; 0 where they may touch.

        Commonly to the next regular check; pigs that both fly, not before one lands.

        Args:
            base_steps: of the check, at which both are.
            resting: of each pig, whether it is at rest and stays where it is.
        """
        self._near = None
        first, second = motions = self._black.motion, self._pink.motion
        regular = self._steps_per_check - base_steps % self._steps_per_check
        in_air = int(min(self._black.steps_in_air, self._pink.steps_in_air, 1e6))
        if in_air > regular:
            steps = in_air - (in_air - regular) % self._steps_per_check
            time_s = steps * self._base_step_s
            drift_m_s = math.dist(first.velocity_m_s, second.velocity_m_s)
            if sphere_clearance_m(first, second) > time_s * drift_m_s:
                return steps
            speed_m_s, pigs = max_closing_speed_m_s(first, second), 0
            cutoff_m = speed_m_s * time_s
        else:
            steps, time_s = regular, regular * self._base_step_s
            moving = [motion for motion, rests in zip(motions, resting, strict=True) if not rests]
            drift_m_s, pigs = sum(motion.speed_m_s for motion in moving), len(moving)
            if sphere_clearance_m(first, second) > max_travel_m(drift_m_s, time_s, pigs):
                return steps
            speed_m_s = drift_m_s + sum(motion.turning_m_s for motion in moving)
            cutoff_m = max_travel_m(speed_m_s, time_s, pigs)
        known_at, distance_m = self._known
        if known_at != base_steps:
            distance_m = distance_lower_bound_m(first, second, cutoff_m)
        if distance_m > cutoff_m:
            return steps
        if distance_m <= 0.0:
            return 0
        if in_air > 0:
            steps, speed_m_s, pigs = min(steps, in_air), max_closing_speed_m_s(first, second), 0
        needed_s = min_time_s(speed_m_s, distance_m, pigs)
        steps = max(1, int(min(steps, needed_s / self._base_step_s)))
        self._near = ProximitySnapshot(base_steps, distance_m, speed_m_s, pigs, motions)
        return steps

    def possible_contact(self, base_steps: int) -> ProximitySnapshot | None:
        """The check before, if the pigs may have touched since; None if they surely have not."""
        # Asked once a check: a later one, before which `steps_ahead` was not asked, is not about
        # it.
        near, self._near = self._near, None
        if near is None:
            return None
        first, second = self._black.motion, self._pink.motion
        speed_m_s = max(near.speed_m_s, max_closing_speed_m_s(first, second))
        time_s = (base_steps - near.base_steps) * self._base_step_s
        if near.pigs:
            travel_m = max_travel_m(speed_m_s, time_s + self._base_step_s, near.pigs)
        else:
            travel_m = speed_m_s * time_s
        distance_m = distance_lower_bound_m(first, second)
        if near.distance_m + distance_m <= travel_m:
            return near  # what was found of this check did not happen
        self._known = (base_steps, distance_m)
        return None


def sphere_clearance_m(first: Motion, second: Motion) -> float:
    """Between the spheres about the two pigs; negative where they overlap."""
    apart = math.dist(first.centre_m, second.centre_m)
    return apart - first.body.radius_m - second.body.radius_m - LEAST_DISTANCE_M


def max_closing_speed_m_s(first: Motion, second: Motion) -> float:
    """A bound on the speed at which any two points of two flying pigs approach each other."""
    drift = math.dist(first.velocity_m_s, second.velocity_m_s)  # both fall alike
    return drift + first.turning_m_s + second.turning_m_s


def max_travel_m(speed_m_s: float, time_s: float, pigs: int = 1) -> float:
    """How far points of that speed in all, of so many pigs, get towards each other."""
    return IMPACT_SPEED_FACTOR * (speed_m_s + pigs * GRAVITY_M_S2 * time_s) * time_s


def min_time_s(speed_m_s: float, travel_m: float, pigs: int) -> float:
    """How long points of that speed, of so many pigs in contact, need at least for a way [m].

    With `pigs` 0, of pigs in flight, whose points do not get faster towards each other.
    """
    if pigs == 0:
        return travel_m / speed_m_s if speed_m_s > 0.0 else math.inf
    # IMPACT_SPEED_FACTOR (v + a t) t = way, a being the gravity of so many pigs.
    gravity = pigs * GRAVITY_M_S2
    root = math.sqrt(speed_m_s**2 + 4.0 * gravity * travel_m / IMPACT_SPEED_FACTOR)
    return (root - speed_m_s) / (2.0 * gravity)


def distance_lower_bound_m(first: Motion, second: Motion, cutoff_m: float = math.inf) -> float:
    """Of the distance of two hulls [m]: at least half of it, or above `cutoff_m`."""
    here, there = first.centre_m, second.centre_m
    bound = hull_distance_bound(
        first.body.hull_columns_m,
        first.quat_xyzw,
        second.body.hull_columns_m,
        second.quat_xyzw,
        (there[0] - here[0], there[1] - here[1], there[2] - here[2]),
        cutoff_m + LEAST_DISTANCE_M,
    )
    return bound - LEAST_DISTANCE_M


@compiled
def support_point(hull: FloatArray, q: Quat, line: Triple) -> Triple:
    """The corner that is farthest along a unit vector of the world, from the centre of mass."""
    found = project(hull, world_to_body(q, line)).argmax()
    return body_to_world(q, (hull[0, found], hull[1, found], hull[2, found]))


@compiled
def hull_distance_bound(
    hull: FloatArray,
    q: Quat,
    other_hull: FloatArray,
    other_q: Quat,
    between: Triple,
    cutoff_m: float,
) -> float:
    """A lower bound of the distance of two hulls, at least half of it or above `cutoff_m`.

    Gilbert's method walks through the differences between points of the two hulls (corners
    (3, n), attitude) towards the shortest one; the bound is how far no difference gets along the
    present one. `between` goes from the first centre of mass to the second.
    """
    a, b, c = between
    bound = -1e9
    for _ in range(_GILBERT_STEPS):
        length = sqrt(a * a + b * b + c * c)
        if length == 0.0:
            break
        line = (a / length, b / length, c / length)
        one = support_point(hull, q, line)
        two = support_point(other_hull, other_q, (-line[0], -line[1], -line[2]))
        p = between[0] + two[0] - one[0]
        r = between[1] + two[1] - one[1]
        s = between[2] + two[2] - one[2]
        bound = max(bound, line[0] * p + line[1] * r + line[2] * s)
        if bound > cutoff_m or bound > 0.5 * length:
            break
        # To the nearest point of the way there.
        p, r, s = p - a, r - b, s - c
        square = p * p + r * r + s * s
        if square == 0.0:
            break
        share = min(1.0, max(0.0, -(a * p + b * r + c * s) / square))
        a, b, c = a + share * p, b + share * r, c + share * s
    return bound

"""How a body moves at one moment, whether it is at rest, and its trajectory.

Plain numbers, SI units, principal frame: they cost a fraction of what arrays of three do. No
compiled function calls a linear-algebra library, whose last bits may depend on the processor; sums
over coordinates are written out in their order.

Rest, for one pig, is all of:

* no point of it has moved by more than `displacement` over `window_s`;
* no point of it is faster than `speed` (any direction, any kind of motion alike);
* its centre of mass stands over the support polygon and its clearance is small,
  so that a slow last topple is waited for. Pigs that lean on each other have no
  polygon of their own; for them the window is doubled instead.

Thresholds are fractions of the pig's height and of the speed of a fall from it,
so they fit a toy of any size. What is not at rest by `cap_s` is `unsettled`.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from physim import geometry
from physim.compiled import compiled
from physim.errors import PhysicsError
from physim.geometry import inside_margin
from physim.physics.body import Body
from physim.types import (
    GRAVITY_M_S2,
    Ended,
    FloatArray,
    Quat,
    Rest,
    RigidState,
    Status,
    Table,
    Triple,
)

GRAVITY = 9.81  # of `types`, repeated since compiled code takes constants as they are
TOUCH_M = 1e-4  # pigs this near to each other may lean on each other

up_in_body = compiled(geometry.up_in_body)
world_to_body = compiled(geometry.world_to_body)
body_to_world = compiled(geometry.body_to_world)


@compiled
def project(hull: FloatArray, axis: Triple) -> FloatArray:
    """(n,) how far each of (3, n) corners is along an axis of the body."""
    far: FloatArray = hull[0] * axis[0] + hull[1] * axis[1] + hull[2] * axis[2]
    return far


class PlainState(NamedTuple):
    """A `RigidState` of the principal frame in plain numbers.

    Attributes:
        centre_m: the centre of mass.
        quat_xyzw: principal frame to world.
        velocity_m_s: of the centre of mass.
        spin_rad_s: angular velocity in the world.
    """

    centre_m: Triple
    quat_xyzw: Quat
    velocity_m_s: Triple
    spin_rad_s: Triple

    @classmethod
    def of(cls, state: RigidState) -> PlainState:
        """The same numbers."""
        arrays = state.position_m, state.quat_xyzw, state.velocity_m_s, state.angular_velocity_rad_s
        numbers: list[Any] = [tuple(array.tolist()) for array in arrays]
        return cls(*numbers)

    @classmethod
    def of_numbers(cls, numbers: list[float]) -> PlainState:
        """From thirteen numbers in this order."""
        x, y, z, a, b, c, d, u, v, w, p, q, r = numbers
        return cls((x, y, z), (a, b, c, d), (u, v, w), (p, q, r))

    def state(self) -> RigidState:
        """The same numbers as arrays."""
        return RigidState(*(np.array(numbers) for numbers in self))

    def half_step_velocity(self, step_s: float) -> PlainState:
        """With the fall of half a step taken off its downward speed; put on it if negative."""
        u, v, w = self.velocity_m_s
        return self._replace(velocity_m_s=(u, v, w + GRAVITY_M_S2 * (0.5 * step_s)))


PlainStates = tuple[PlainState, PlainState]  # of both pigs


class EngineMotion:
    """The motion of a pig in an engine at a check.

    Attributes:
        body: the pig.
        centre_m, velocity_m_s: of the centre of mass.
        clearance_m: of the lowest corner above the table; negative where it has sunk in.
        kinetic_m: kinetic energy over m g.
        speed_m_s: of the centre of mass.
        turning_m_s: a bound on the speed of the body's points about it.
        quat_xyzw: the attitude, principal frame to world.
    """

    def __init__(self, body: Body, engine_state: PlainState, units_per_m: float = 1.0) -> None:
        """Turns what an engine says, in its unit of length, into SI units.

        Raises:
            PhysicsError: the engine's numbers are not finite.
        """
        self.body = body
        (
            self.centre_m,
            self.velocity_m_s,
            self.clearance_m,
            self.kinetic_m,
            self.speed_m_s,
            self.turning_m_s,
        ) = derived_state(
            body.hull_columns_m,
            body.radii_of_gyration_squared_m2,
            body.radius_m,
            units_per_m,
            *engine_state,
        )
        x, y, _ = self.centre_m
        if not math.isfinite(x + y + self.clearance_m + self.kinetic_m):
            raise PhysicsError("the engine's state is not finite: report the model, seed and index")
        _, self.quat_xyzw, _, self._spin_rad_s = engine_state

    @property
    def point_speed_m_s(self) -> float:
        """A bound on the speed of the body's fastest point."""
        return self.speed_m_s + self.turning_m_s

    @property
    def energy_on_table_m(self) -> float:
        """Potential and kinetic energy over m g, once the pig is lifted onto the table.

        The engine lifts a rigid pig that has sunk in, at no cost to its motion; a soft one has that
        energy in its springs.
        """
        body, energy_m = self.body, self.centre_m[2] + self.kinetic_m
        if body.model.contact_stiffness_n_m:
            springs_m = body.half_stiffness_over_weight * squared_depths_m2(
                body.hull_columns_m, self.quat_xyzw, self.centre_m[2]
            )
            return energy_m + springs_m + body.static_compression_m
        return energy_m - min(0.0, self.clearance_m)

    def plain(self) -> PlainState:
        """The state."""
        return PlainState(self.centre_m, self.quat_xyzw, self.velocity_m_s, self._spin_rad_s)


@compiled
def derived_state(
    hull: FloatArray,
    squares: Triple,
    radius_m: float,
    units_per_m: float,
    place: Triple,
    q: Quat,
    velocity: Triple,
    spin: Triple,
) -> tuple[Triple, Triple, float, float, float, float]:
    """The numbers of an `EngineMotion`, from a state in the engine's unit of length.

    The hull has (3, n) corners about the centre of mass, principal frame [m]; `squares` are those
    of the radii of gyration [m2].
    """
    x, y, z = place[0] / units_per_m, place[1] / units_per_m, place[2] / units_per_m
    u, v, w = velocity[0] / units_per_m, velocity[1] / units_per_m, velocity[2] / units_per_m
    a, b, c = world_to_body(q, spin)
    rotation = squares[0] * a * a + squares[1] * b * b + squares[2] * c * c
    square = u * u + v * v + w * w
    return (
        (x, y, z),
        (u, v, w),
        z + float(project(hull, up_in_body(q)).min()),
        0.5 * (square + rotation) / GRAVITY,
        sqrt(square),
        radius_m * sqrt(a * a + b * b + c * c),
    )


@compiled
def squared_depths_m2(hull: FloatArray, q: Quat, height_m: float) -> float:
    """The sum over all corners below the table; `height_m`: of the centre of mass."""
    total = 0.0
    for height in project(hull, up_in_body(q)):
        depth = height + height_m
        if depth < 0.0:
            total += depth * depth
    return total


@dataclass(frozen=True)
class RestCriterion:
    """When a pig counts as at rest.

    Attributes:
        window_s: how long a pig has to stay where it is [s].
        displacement: of any point within the window, over the pig's height.
        speed: of any point, over sqrt(2 g height).
        clearance: of the lowest point above the table, over the height.
        cap_s: simulated time after the first contact at which waiting ends [s].
    """

    window_s: float = 0.1
    displacement: float = 0.001
    speed: float = 0.01
    clearance: float = 0.005
    cap_s: float = 6.0


class RestDetector:
    """Remembers since when one pig has been where it is."""

    def __init__(self, body: Body, table: Table, criterion: RestCriterion) -> None:
        self._body = body
        self._table = table
        self.criterion = criterion
        height_m = body.model.height_m
        self.limit_m_s = criterion.speed * math.sqrt(2.0 * GRAVITY_M_S2 * height_m)
        """A pig of which a point is faster than this has not begun to rest."""
        self._state: RigidState | None = None
        self._since_s = 0.0

    def reset(self) -> None:
        """The pig was seen to move: its time begins anew."""
        self._state = None

    def still_s(self, state: RigidState, now_s: float) -> float:
        """How long the pig, slow at this time, has been where it is [s]."""
        if self._state is None or self._moved(self._state, state):
            self._state, self._since_s = state, now_s
        return now_s - self._since_s

    def at_rest(self, state: RigidState, now_s: float) -> bool:
        """Whether a pig that is slow at this time is at rest on its own feet."""
        return self.still_s(state, now_s) >= self.criterion.window_s and self.supported(state)

    def _moved(self, before: RigidState, now: RigidState) -> bool:
        """Whether any point of the pig may have moved by more than the limit."""
        moved = _length(now.position_m - before.position_m)
        moved += self._body.radius_m * _turn_rad(now.quat_xyzw, before.quat_xyzw)
        return moved > self.criterion.displacement * self._body.model.height_m

    def supported(self, state: RigidState) -> bool:
        """Whether the centre of mass stands over the support polygon, and that over the table.

        A hull that reaches past the edge rests on its polygon cut off there, and both are
        convex: a point is over the cut polygon if it is over both.
        """
        if off_table(state.position_m, self._table):
            return False
        points = geometry.rotate(state.quat_xyzw, self._body.hull_m) + state.position_m
        low = float(points[:, 2].min())
        allowed = self.criterion.clearance * self._body.model.height_m
        if low > allowed:
            return False
        feet = points[points[:, 2] <= max(low, 0.0) + allowed][:, :2]
        return inside_margin(state.position_m[:2], feet) >= 0.0


def both_at_rest(
    detectors: Sequence[RestDetector],
    motions: Sequence[EngineMotion],
    now_s: float,
    touching: Callable[[], bool],
) -> bool:
    """Whether both pigs are at rest, on their own feet or against each other.

    To be asked at every check of a roll; `touching` is asked only of pigs that hold still
    unsupported.
    """
    pairs = list(zip(detectors, motions, strict=True))
    if any(motion.point_speed_m_s > detector.limit_m_s for detector, motion in pairs):
        for detector in detectors:
            detector.reset()
        return False
    pigs = [(detector, motion.plain().state()) for detector, motion in pairs]
    still_s = min(detector.still_s(state, now_s) for detector, state in pigs)
    window_s = detectors[0].criterion.window_s
    if still_s < window_s:
        return False
    if all(detector.supported(state) for detector, state in pigs):
        return True
    return still_s >= 2 * window_s and touching()


def rest_of(
    bodies: tuple[Body, Body],
    states: PlainStates,
    times_s: tuple[float, float],
    status: Status,
    steps: int,
    basins: tuple[int | None, int | None] = (None, None),
) -> Rest:
    """The end of a roll, from both states in the principal frame; arguments as of `Rest`."""
    black, pink = (
        body.to_body_frame(state.state()) for body, state in zip(bodies, states, strict=True)
    )
    ended = Ended.REST if basins == (None, None) else Ended.CERTAIN
    return Rest(status, ended, max(times_s), (black, pink), times_s, steps, basins)


def off_table(centre_m: Sequence[float] | FloatArray, table: Table) -> bool:
    """Whether a centre of mass is past the table's edge."""
    return bool(abs(centre_m[0]) > table.length_m / 2 or abs(centre_m[1]) > table.width_m / 2)


def _length(vector: FloatArray) -> float:
    return math.sqrt(float((vector**2).sum()))


def _turn_rad(a: FloatArray, b: FloatArray) -> float:
    """The angle between two attitudes [rad], accurate near 0."""
    sign = 1.0 if float((a * b).sum()) >= 0 else -1.0
    return 4.0 * math.asin(min(1.0, 0.5 * _length(np.asarray(a - sign * b))))


@dataclass
class PigTrajectory:
    """The way of one pig through a roll. Times are since release [s], states principal.

    A pig in contact is noted after every base step of its engine, a flight as such: it is
    computed, so that any moment of it is known. Noting changes no bit of a roll.
    """

    _times_s: list[float] = field(default_factory=list)
    _pieces: list[PlainState | Callable[[float], PlainState]] = field(default_factory=list)

    def add(self, time_s: float, piece: PlainState | Callable[[float], PlainState]) -> None:
        """The pig is here then, or from then on where the function of time tells.

        What was noted of later times did not happen.
        """
        keep = bisect_left(self._times_s, time_s)
        self._times_s[keep:], self._pieces[keep:] = [time_s], [piece]

    def at(self, time_s: float) -> PlainState:
        """The state at a time; before the release that of the release, at last that at rest."""
        number = max(0, bisect_right(self._times_s, time_s) - 1)
        begins_s, piece = self._times_s[number], self._pieces[number]
        if not isinstance(piece, PlainState):
            return piece(max(begins_s, time_s))
        if time_s <= begins_s or number + 1 == len(self._pieces):
            return piece
        ends_s, after = self._times_s[number + 1], self._pieces[number + 1]
        if not isinstance(after, PlainState):
            after = after(ends_s)
        return _between(piece, after, (time_s - begins_s) / (ends_s - begins_s))

    @property
    def ends_s(self) -> float:
        """When the pig was last seen to move."""
        return self._times_s[-1]


@dataclass(frozen=True)
class Trajectory:
    """Both pigs' ways through a roll: black, pink; at every check, where the roll itself is."""

    bodies: tuple[Body, Body]
    pigs: tuple[PigTrajectory, PigTrajectory] = field(
        default_factory=lambda: (PigTrajectory(), PigTrajectory())
    )

    def at(self, time_s: float) -> tuple[RigidState, RigidState]:
        """Both states (pig frame) at a time since release [s]."""
        black, pink = (
            body.to_body_frame(pig.at(time_s).state())
            for body, pig in zip(self.bodies, self.pigs, strict=True)
        )
        return black, pink

    @property
    def ends_s(self) -> float:
        """When both pigs lay still, or the roll was over otherwise."""
        return max(pig.ends_s for pig in self.pigs)


def _between(a: PlainState, b: PlainState, share: float) -> PlainState:
    """A state on the way from one to the next, a step apart."""

    def mixed(one: Sequence[float], two: Sequence[float], sign: float = 1.0) -> list[float]:
        return [(1.0 - share) * p + sign * share * q for p, q in zip(one, two, strict=True)]

    same = sum(p * q for p, q in zip(a.quat_xyzw, b.quat_xyzw, strict=True))
    quat = np.array(mixed(a.quat_xyzw, b.quat_xyzw, 1.0 if same >= 0.0 else -1.0))
    return PlainState.of(
        RigidState(
            np.array(mixed(a.centre_m, b.centre_m)),
            geometry.normalized(quat),
            np.array(mixed(a.velocity_m_s, b.velocity_m_s)),
            np.array(mixed(a.spin_rad_s, b.spin_rad_s)),
        )
    )

"""A pig that still moves but cannot leave the basin of its rest any more: `EnergyBound`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from physim.compiled import compiled
from physim.geometry import conjugate, inside_margin, plane_axes, rotate
from physim.physics.body import Body
from physim.physics.fast.pig_record import AZIMUTHS
from physim.physics.state import EngineMotion, up_in_body
from physim.types import GRAVITY_M_S2, Basin, FloatArray, Quat, Table, Triple

MARGIN = 0.02  # of the height of the pass
REACH_FACTOR = 2.0
REACH_LEAST_M = 0.001
_ARC_POINTS = 24
_POLARS = 60  # of the table of what surely is in a basin
_WIDEST_RAD = math.pi / 3  # what lies farther from a rest is not taken to be in its basin


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
        self.arrays = (
            np.array([basin.row() for basin in self._basins]).reshape(-1, 12),
            np.array([basin.surely() for basin in self._basins]).reshape(-1, AZIMUTHS, 2),
        )
        """Of `CONSTANTS`: `basin` and `surely`."""
        self.max_limit_m = max((basin.limit_m for basin in self._basins), default=-math.inf)
        """A pig of more energy than this is certain of nothing."""

    def certain(self, motion: EngineMotion, known: int | None = None) -> CertainPig | None:
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
        body, up = self._body, up_in_body(quat_xyzw)
        index = holding_basin(*self.arrays, body.hull_columns_m, body.radius_m, up, energy_m)
        return None if index < 0 else index


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

    def row(self) -> list[float]:
        """Low axis, both axes across, limit, height and reach a metre of energy."""
        first, second = (axis.tolist() for axis in self._across)
        low: list[float] = self._low.tolist()
        return [*low, *first, *second, self.limit_m, self._height_m, self._reach_per_energy]

    def reach_m(self, energy_m: float) -> float:
        """How far a pig may still get."""
        spare = max(0.0, energy_m - self._height_m)
        return REACH_LEAST_M + self._reach_per_energy * spare if spare > 0.0 else REACH_LEAST_M

    def _margin_m(self) -> float:
        """Distance from under the centre of mass to the nearest edge of what carries the pig."""
        heights = self._body.hull_m @ self._low
        corners = self._body.hull_m[heights > heights.max() - 1e-3 * self._body.radius_m]
        flat = np.stack([corners @ axis for axis in plane_axes(self._low)], axis=1)
        return max(inside_margin(np.zeros(2), flat), 1e-3 * self._body.radius_m)

    def surely(self) -> FloatArray:
        """(n, 2) angles from the rest [rad] up to which H is surely below the limit, and not."""
        polars = np.linspace(0.0, _WIDEST_RAD, _POLARS + 1)
        azimuths = (np.arange(AZIMUTHS) + 0.5) * 2.0 * np.pi / AZIMUTHS
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
        off = self._body.radius_m * (np.sin(polars) * np.pi / AZIMUTHS + 0.5 * polars[1])
        above = heights + off >= self.limit_m
        first_above = np.where(above.any(axis=1), above.argmax(axis=1), _POLARS)
        below = polars[np.maximum(first_above - 1, 0)]
        far = heights - off >= self.limit_m
        first_far = np.where(far.any(axis=1), far.argmax(axis=1), _POLARS)
        return np.stack([below, polars[first_far]], axis=1)


@compiled
def holding_basin(
    basins: FloatArray,
    surely: FloatArray,
    hull: FloatArray,
    radius_m: float,
    up: Triple,
    energy_m: float,
) -> int:
    """The first basin that holds a pig of this energy, or -1; arrays as of `CONSTANTS`.

    Up is seen from the pig; H has to stay below the limit on the straight way to the rest.
    """
    down = -up[0], -up[1], -up[2]
    for index in range(len(basins)):
        basin = basins[index]
        low = basin[0], basin[1], basin[2]
        cosine = down[0] * low[0] + down[1] * low[1] + down[2] * low[2]
        if energy_m >= basin[9] or cosine < math.cos(_WIDEST_RAD):
            continue
        polar = math.acos(min(1.0, cosine))
        first = down[0] * basin[3] + down[1] * basin[4] + down[2] * basin[5]
        second = down[0] * basin[6] + down[1] * basin[7] + down[2] * basin[8]
        turn = math.atan2(second, first) / (2.0 * math.pi) % 1.0
        number = int(turn * AZIMUTHS) % AZIMUTHS
        if polar < surely[index, number, 0]:
            return index
        if polar < surely[index, number, 1]:
            top_m = max_com_height_m(hull, down, low, _ARC_POINTS)
            # Between two points of the way, H rises by at most radius times half their distance.
            between = 0.5 * polar / (_ARC_POINTS - 1) * 1.2
            if top_m + radius_m * between < basin[9]:
                return index
    return -1


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

"""When the outcome of a roll is certain although the pigs still move.

On a flat table the centre of mass of a pig stands at least H(d) = max v.d above it,
with d the down direction seen from the pig and v the corners of its hull. A pig whose
energy E (potential and kinetic, as a height E / m g) lies below the lowest pass out of
the basin that it is in cannot come to rest anywhere else: engine and friction only take
energy away. The solver is not perfect, though, and a body that sinks into the table or
is pressed against it holds energy that this sum does not see. `MARGIN` covers both.

That the other pig cannot interfere, and that the edge is out of reach, is required
with a wide berth (`REACH_PER_ENERGY`), an assumption that comparison with full runs
tests: a pig that only slides gets no farther than its energy over the friction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from physim.rotations import conjugate, rotate
from physim.values import GRAVITY_M_S2, Basin, FloatArray, RigidState, Table
from physim.world.body import Body

MARGIN = 0.02  # of the height of the pass
REACH_PER_ENERGY = 10.0  # times energy over friction
REACH_LEAST_M = 0.005
_ARC_POINTS = 24
DOWN = np.array([0.0, 0.0, -1.0])


class Certificate:
    """Says whether both pigs will end in the basins they are in."""

    def __init__(
        self,
        bodies: tuple[Body, Body],
        basins: tuple[Sequence[Basin], Sequence[Basin]],
        table: Table,
    ) -> None:
        """Turns the basins into the principal frames.

        Args:
            bodies: the two pigs.
            basins: of each, all stable rests, pig frame.
            table: for its friction and its edges.
        """
        self._pigs = [_Pig(body, own, table) for body, own in zip(bodies, basins, strict=True)]
        self._halves = (table.length_m / 2, table.width_m / 2)

    def worth_asking(self, least_energies_m: tuple[float, float]) -> bool:
        """Whether bounds on both energies leave a chance that `basins` finds some."""
        pairs = zip(self._pigs, least_energies_m, strict=True)
        return all(energy < pig.highest_m for pig, energy in pairs)

    def basins(self, states: tuple[RigidState, RigidState]) -> tuple[int, int] | None:
        """The two basins that cannot be left any more, or None.

        Args:
            states: principal frame.
        """
        pigs = list(zip(self._pigs, states, strict=True))
        if any(pig.motion_m(state) >= pig.highest_m for pig, state in pigs):
            return None
        energies = [pig.energy_m(state) for pig, state in pigs]
        reaches = []
        for (pig, state), energy in zip(pigs, energies, strict=True):
            reach = pig.reach_m(energy)
            x, y, _ = (abs(float(c)) for c in state.position_m)
            if x + reach > self._halves[0] or y + reach > self._halves[1]:
                return None
            reaches.append(reach)
        if math.dist(states[0].position_m, states[1].position_m) < sum(reaches):
            return None
        first = self._pigs[0].basin(states[0], energies[0])
        if first is None:
            return None
        second = self._pigs[1].basin(states[1], energies[1])
        return None if second is None else (first, second)


class _Pig:
    """One pig's basins, in its principal frame."""

    def __init__(self, body: Body, basins: Sequence[Basin], table: Table) -> None:
        self._body = body
        into = conjugate(body.principal_xyzw)
        self._downs = [rotate(into, basin.down) for basin in basins]
        self._limits = [basin.barrier_m * (1.0 - MARGIN) for basin in basins]
        self._friction = body.model.lateral_friction * table.surface.lateral_friction
        self._lowest_m = min((basin.height_m for basin in basins), default=0.0)
        self.highest_m = max(self._limits, default=-math.inf)

    def motion_m(self, state: RigidState) -> float:
        """Potential and kinetic energy over m g [m]."""
        spin = rotate(conjugate(state.quat_xyzw), state.angular_velocity_rad_s)
        turning = float((self._body.moments_kg_m2 * spin * spin).sum()) / self._body.model.mass_kg
        moving = float((state.velocity_m_s**2).sum())
        return float(state.position_m[2]) + 0.5 * (moving + turning) / GRAVITY_M_S2

    def energy_m(self, state: RigidState) -> float:
        """The same once the pig is lifted onto the table [m].

        The engine lifts a pig that has sunk in, at no cost to its motion.
        """
        turned = rotate(state.quat_xyzw, self._body.hull_m)
        lowest = float(state.position_m[2] + turned[:, 2].min())
        return self.motion_m(state) - min(0.0, lowest)

    def reach_m(self, energy_m: float) -> float:
        """How far from its centre of mass the pig may still come to be [m]."""
        spare = max(0.0, energy_m - self._lowest_m)
        slide = spare / self._friction if self._friction > 0 else math.inf
        return self._body.radius_m + max(REACH_LEAST_M, REACH_PER_ENERGY * slide)

    def basin(self, state: RigidState, energy_m: float) -> int | None:
        """The basin that the pig is in and cannot leave, or None."""
        down = rotate(conjugate(state.quat_xyzw), DOWN)
        for index, (low, limit) in enumerate(zip(self._downs, self._limits, strict=True)):
            if energy_m < limit and self._joined(down, low, limit):
                return index
        return None

    def _joined(self, down: FloatArray, low: FloatArray, limit: float) -> bool:
        """Whether H stays below `limit` on the straight way from `down` to the rest."""
        cosine = float((down * low).sum())
        if cosine < 0.5:
            return False  # 60 degrees: no basin is that wide
        share = np.linspace(0.0, 1.0, _ARC_POINTS)[:, None]
        way = (1.0 - share) * down + share * low
        way /= np.sqrt((way**2).sum(axis=1, keepdims=True))
        heights = (way[:, None, :] * self._body.hull_m[None, :, :]).sum(axis=2).max(axis=1)
        # Between two points of the way, H rises by at most radius times half their distance.
        between = 0.5 * math.acos(min(1.0, cosine)) / (_ARC_POINTS - 1) * 1.2
        return float(heights.max()) + self._body.radius_m * between < limit

"""The rest criterion of `physim.physics.simulate`, for an engine that is not physim's."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from physim.convex import inside_margin
from physim.physics.body import Body
from physim.physics.rest import RestCriterion
from physim.quaternions import rotate
from physim.types import GRAVITY_M_S2, Table

Numbers = Sequence[float]
Seen = tuple[Numbers, Numbers, Numbers, Numbers]  # position, quat_xyzw, velocity, spin; SI


class Stillness:
    """Remembers since when both pigs have been where they are; one for each roll."""

    def __init__(self, bodies: tuple[Body, Body], table: Table, rule: RestCriterion) -> None:
        self._bodies = bodies
        self._table = table
        self._rule = rule
        self._limits = [
            rule.speed * math.sqrt(2.0 * GRAVITY_M_S2 * body.model.height_m) for body in bodies
        ]
        self._before: Sequence[Seen] | None = None
        self._since_s = 0.0

    def at_rest(self, now_s: float, pigs: Sequence[Seen], meet: Callable[[], bool]) -> bool:
        """Whether both pigs are at rest by now.

        Args:
            now_s: simulated time [s].
            pigs: what the engine says of the two, principal frame, SI.
            meet: whether the pigs touch; asked only of pigs that hold still unsupported.
        """
        for body, limit, (_, _, velocity, spin) in zip(
            self._bodies, self._limits, pigs, strict=True
        ):
            if math.hypot(*velocity) + body.radius_m * math.hypot(*spin) > limit:
                self._before = None
                return False
        if self._before is None or self._moved(self._before, pigs):
            self._before, self._since_s = pigs, now_s
        still_s = now_s - self._since_s
        if still_s < self._rule.window_s:
            return False
        if all(self._supported(body, pig) for body, pig in zip(self._bodies, pigs, strict=True)):
            return True
        return still_s >= 2 * self._rule.window_s and meet()

    def _moved(self, before: Sequence[Seen], now: Sequence[Seen]) -> bool:
        for body, old, new in zip(self._bodies, before, now, strict=True):
            same = sum(a * b for a, b in zip(old[1], new[1], strict=True))
            turn_rad = 2.0 * math.acos(min(1.0, abs(same)))
            moved_m = math.dist(old[0], new[0]) + body.radius_m * turn_rad
            if moved_m > self._rule.displacement * body.model.height_m:
                return True
        return False

    def _supported(self, body: Body, pig: Seen) -> bool:
        """Whether the centre of mass stands over the support polygon, and over the table."""
        if off_table(pig, self._table):
            return False
        position = np.array(pig[0])
        corners = rotate(np.array(pig[1]), body.hull_m) + position
        low = float(corners[:, 2].min())
        allowed = self._rule.clearance * body.model.height_m
        if low > allowed:
            return False
        feet = corners[corners[:, 2] <= max(low, 0.0) + allowed][:, :2]
        return inside_margin(position[:2], feet) >= 0.0


def off_table(pig: Seen, table: Table) -> bool:
    """Whether the centre of mass is past the table's edge."""
    x, y, _ = pig[0]
    return abs(x) > table.length_m / 2 or abs(y) > table.width_m / 2

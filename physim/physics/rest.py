"""When a pig counts as at rest.

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
from dataclasses import dataclass

import numpy as np

from physim.convex import inside_margin
from physim.physics.body import Body
from physim.quaternions import rotate
from physim.types import GRAVITY_M_S2, FloatArray, RigidState, Table


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

    def speed_limit_m_s(self, body: Body) -> float:
        """What no point of a pig at rest exceeds."""
        return self.speed * math.sqrt(2.0 * GRAVITY_M_S2 * body.model.height_m)


class Stillness:
    """Remembers since when one pig has been where it is."""

    def __init__(self, body: Body, table: Table, rule: RestCriterion) -> None:
        self._body = body
        self._table = table
        self._rule = rule
        self._most_m = rule.displacement * body.model.height_m
        self.limit_m_s = rule.speed_limit_m_s(body)
        """A pig that is faster than this has not begun to be still."""
        self._state: RigidState | None = None
        self._since_s = 0.0

    def moves(self) -> None:
        """The pig was seen to move: its time begins anew."""
        self._state = None

    def still_s(self, state: RigidState, now_s: float) -> float:
        """How long the pig, slow at this time, has been where it is [s]."""
        if self._state is None or self._moved(self._state, state):
            self._state, self._since_s = state, now_s
        return now_s - self._since_s

    def at_rest(self, state: RigidState, now_s: float) -> bool:
        """Whether a pig that is slow at this time is at rest on its own feet."""
        return self.still_s(state, now_s) >= self._rule.window_s and self.supported(state)

    def _moved(self, before: RigidState, now: RigidState) -> bool:
        """Whether any point of the pig may have moved by more than the limit."""
        moved = _length(now.position_m - before.position_m)
        moved += self._body.radius_m * _turn_rad(now.quat_xyzw, before.quat_xyzw)
        return moved > self._most_m

    def supported(self, state: RigidState) -> bool:
        """Whether the centre of mass stands over the support polygon, and that over the table.

        A hull that reaches past the edge rests on its polygon cut off there, and both are
        convex: a point is over the cut polygon if it is over both.
        """
        x, y = abs(float(state.position_m[0])), abs(float(state.position_m[1]))
        if x > self._table.length_m / 2 or y > self._table.width_m / 2:
            return False
        points = rotate(state.quat_xyzw, self._body.hull_m) + state.position_m
        low = float(points[:, 2].min())
        allowed = self._rule.clearance * self._body.model.height_m
        if low > allowed:
            return False
        feet = points[points[:, 2] <= max(low, 0.0) + allowed][:, :2]
        return inside_margin(state.position_m[:2], feet) >= 0.0


def _length(vector: FloatArray) -> float:
    return math.sqrt(float((vector**2).sum()))


def _turn_rad(a: FloatArray, b: FloatArray) -> float:
    """The angle between two attitudes [rad], accurate near 0."""
    same = float((a * b).sum())
    sign = 1.0 if same >= 0 else -1.0
    return 4.0 * math.asin(min(1.0, 0.5 * _length(np.asarray(a - sign * b))))

"""From release to rest: flight, then the engine, until both pigs are still.

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
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from physim.geometry import inside_margin
from physim.rotations import rotate
from physim.values import GRAVITY_M_S2, Ended, FloatArray, Rest, RigidState, Status, Table, Toss
from physim.world.body import Body
from physim.world.bullet import Engine
from physim.world.certain import Certificate
from physim.world.flight import first_contact, in_step

ASK_EVERY = 2  # calls; asking the certificate costs as much as some steps
TOUCH_M = 1e-4  # pigs this near to each other may lean on each other

Observer = Callable[[float, tuple[RigidState, RigidState]], None]


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


def settle(
    engine: Engine,
    toss: Toss,
    criterion: RestCriterion | None = None,
    observe: Observer | None = None,
    certificate: Certificate | None = None,
    *,
    fast: bool = False,
) -> Rest:
    """Simulates one roll from release until both pigs are at rest.

    Args:
        engine: an open engine.
        toss: the two states at release, pig frame.
        criterion: when pigs are at rest; the default if None.
        observe: called with the time since release [s] and both states
            (principal frame) at contact and after each `engine.advance`.
        certificate: knows when the outcome is certain; asked at the cap, and before.
        fast: ends the roll once the outcome is certain. It changes when a roll stops, and
            nothing else.
    """
    rule = criterion or RestCriterion()
    bodies = engine.bodies
    starts = (bodies[0].enter(toss.black), bodies[1].enter(toss.pink))
    flight_s, states = first_contact(bodies, starts)
    engine.place(in_step(bodies, states, engine.step_for(states)))
    if observe:
        observe(flight_s, states)
    watch = _Watch(engine, rule)
    status, calls, kept = Status.UNSETTLED, 0, None
    while calls * engine.call_s < rule.cap_s:
        engine.advance()
        calls += 1
        elapsed_s = calls * engine.call_s
        if observe:
            observe(flight_s + elapsed_s, engine.states())
        if engine.at_edge and _any_fallen(engine):
            status = Status.OFF_TABLE
            break
        if watch.at_rest(elapsed_s):
            status = Status.OK
            break
        at_cap = calls * engine.call_s >= rule.cap_s
        if at_cap or (fast and calls % ASK_EVERY == 0):
            kept = _certain(engine, certificate)
            if kept is not None:
                status = Status.OK
                break
    states = engine.states()
    return Rest(
        status=status,
        ended=Ended.REST if kept is None else Ended.CERTAIN,
        time_s=flight_s + calls * engine.call_s,
        pigs=(bodies[0].leave(states[0]), bodies[1].leave(states[1])),
        steps=engine.steps,
        basins=kept,
    )


def _certain(engine: Engine, certificate: Certificate | None) -> tuple[int, int] | None:
    """The basins that the pigs cannot leave any more; none near the edge."""
    if certificate is None or engine.at_edge:
        return None
    if not certificate.worth_asking(engine.least_energies_m()):
        return None
    return certificate.basins(engine.states())


def _any_fallen(engine: Engine) -> bool:
    """Whether a pig is past the edge and below the table's top for good."""
    for state, body in zip(engine.states(), engine.bodies, strict=True):
        x, y, z = (float(c) for c in state.position_m)
        outside = abs(x) > engine.table.length_m / 2 or abs(y) > engine.table.width_m / 2
        if outside and z < -body.radius_m:
            return True
    return False


class _Watch:
    """Remembers since when both pigs have been where they are."""

    def __init__(self, engine: Engine, rule: RestCriterion) -> None:
        self._engine = engine
        self._rule = rule
        self._heights = [body.model.height_m for body in engine.bodies]
        self._limits = [rule.speed * math.sqrt(2.0 * GRAVITY_M_S2 * h) for h in self._heights]
        self._states: tuple[RigidState, RigidState] | None = None
        self._since_s = 0.0

    def at_rest(self, now_s: float) -> bool:
        """Looks at the engine and says whether both pigs are at rest by now."""
        speeds = self._engine.point_speeds_m_s()
        if any(speed > limit for speed, limit in zip(speeds, self._limits, strict=True)):
            self._states = None
            return False
        states = self._engine.states()
        if self._states is None or self._moved(self._states, states):
            self._states, self._since_s = states, now_s
        still_s = now_s - self._since_s
        if still_s < self._rule.window_s:
            return False
        pigs = zip(states, self._engine.bodies, strict=True)
        table = self._engine.table
        if all(_supported(state, body, table, self._rule) for state, body in pigs):
            return True
        return still_s >= 2 * self._rule.window_s and self._engine.pigs_meet(TOUCH_M)

    def _moved(
        self, before: tuple[RigidState, RigidState], now: tuple[RigidState, RigidState]
    ) -> bool:
        """Whether any point of a pig may have moved by more than the limit."""
        for body, height, old, new in zip(
            self._engine.bodies, self._heights, before, now, strict=True
        ):
            moved = _length(new.position_m - old.position_m)
            moved += body.radius_m * _turn_rad(new.quat_xyzw, old.quat_xyzw)
            if moved > self._rule.displacement * height:
                return True
        return False


def _supported(state: RigidState, body: Body, table: Table, rule: RestCriterion) -> bool:
    """Whether the centre of mass stands over the support polygon, and that over the table.

    A hull that reaches past the edge rests on its polygon cut off there, and both are
    convex: a point is over the cut polygon if it is over both.
    """
    x, y = abs(float(state.position_m[0])), abs(float(state.position_m[1]))
    if x > table.length_m / 2 or y > table.width_m / 2:
        return False
    points = rotate(state.quat_xyzw, body.hull_m) + state.position_m
    low = float(points[:, 2].min())
    allowed = rule.clearance * body.model.height_m
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

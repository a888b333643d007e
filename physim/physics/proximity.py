"""Watches two pigs that are simulated each alone, so that they never miss each other.

Before each look it says how long the pigs may go on: to the next regular look if they are far
apart, else only as long as they need at most for the gap between them. Near each other, it
checks after the look that they cannot have touched on the way: if they may have, the roll goes
back to the look before, from where both go on in one engine.

Every answer depends on the states at the look alone: a full roll and a fast one come to the same.

How far apart two pigs are that are simulated each alone.

As long as the spheres about the pigs are far from each other, the answer costs some square
roots. Then a lower bound of the gap between the two hulls is found by Gilbert's method.

References:
    Gilbert, "An iterative procedure for computing the minimum of a quadratic form on a convex
    set", SIAM J. Control 1966.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from physim.physics import kernels
from physim.physics.body import Body
from physim.physics.single import Held, Solo
from physim.physics.state import PlainStates
from physim.types import GRAVITY_M_S2, Quat, Triple


@dataclass(frozen=True)
class Near:
    """Two pigs near each other at a look.

    Attributes:
        tick: of the look.
        gap_m: between them, at least.
        speed_m_s: at which they approach each other, at most.
        pigs: that may be in contact before the next look; 0 where both fly until then. In
            contact a pig is up to a tick late (`solo`) and may have gone so much farther, and
            between two looks it may have been faster than at either.
        held: how each pig moves then.
    """

    tick: int
    gap_m: float
    speed_m_s: float
    pigs: int
    held: tuple[Held, Held]

    def states(self) -> PlainStates:
        """Both states (principal frame), ready for an engine."""
        return self.held[0].engine_state(), self.held[1].engine_state()


class Watch:
    """The pair of pigs of one roll."""

    def __init__(self, black: Solo, pink: Solo, look_ticks: int) -> None:
        self._both = self._black, self._pink = black, pink
        self._tick_s = black.tick_s
        self._look_ticks = look_ticks
        self._near: Near | None = None
        self._known = (-1, 0.0)  # a tick and the gap then

    def ticks(self, tick: int, still: tuple[bool, bool]) -> int:
        """How many ticks from this look on both may go on alone; 0 where they may touch.

        Commonly to the next multiple of `look_ticks`; pigs that both fly, not before one lands.

        Args:
            tick: of the look, at which both are.
            still: of each pig, whether it is at rest and stays where it is.
        """
        self._near = None
        black, pink = self._black, self._pink
        regular = self._look_ticks - tick % self._look_ticks
        in_air = int(min(black.ticks_in_air, pink.ticks_in_air, 1e6))
        if in_air > regular:
            ticks = in_air - (in_air - regular) % self._look_ticks
            time_s = ticks * self._tick_s
            if room_m(black, pink) > time_s * math.dist(black.velocity_m_s, pink.velocity_m_s):
                return ticks
            speed, pigs = closing_m_s(black, pink), 0
            enough = speed * time_s
        else:
            ticks, time_s = regular, regular * self._tick_s
            moving = [solo for solo, at_rest in zip(self._both, still, strict=True) if not at_rest]
            drift = sum(solo.speed_m_s for solo in moving)
            pigs = len(moving)
            if room_m(black, pink) > way_m(drift, time_s, pigs):
                return ticks
            speed = drift + sum(solo.turning_m_s for solo in moving)
            enough = way_m(speed, time_s, pigs)
        known_at, gap = self._known
        if known_at != tick:
            gap = gap_m(black, pink, enough)
        if gap > enough:
            return ticks
        if gap <= 0.0:
            return 0
        if in_air > 0:
            ticks, speed, pigs = min(ticks, in_air), closing_m_s(black, pink), 0
        ticks = max(1, int(min(ticks, time_for_s(speed, gap, pigs) / self._tick_s)))
        self._near = Near(tick, gap, speed, pigs, (black.hold(), pink.hold()))
        return ticks

    def met(self, tick: int) -> Near | None:
        """The look before, if the pigs may have touched since; None if they surely have not."""
        # Asked once a look: a later one, before which `ticks` was not asked, is not about it.
        near, self._near = self._near, None
        if near is None:
            return None
        speed = max(near.speed_m_s, closing_m_s(self._black, self._pink))
        time_s = (tick - near.tick) * self._tick_s
        way = way_m(speed, time_s + self._tick_s, near.pigs) if near.pigs else speed * time_s
        gap = gap_m(self._black, self._pink)
        if near.gap_m + gap <= way:
            return near  # what was found of this tick did not happen
        self._known = (tick, gap)
        return None


LEAST_GAP_M = 2e-4  # covers what a pig sinks into the table, and rounding
# An impact may make the fastest point faster. This factor on |v| + radius |w|, which is a bound
# on it that is seldom reached, covers that where pigs are far from each other; near each other
# what they did between two looks is checked afterwards (`watch`).
SPEED_UP = 1.5
_STEPS = 30  # of Gilbert's method, at most


class Mover(Protocol):
    """A pig at a look."""

    @property
    def body(self) -> Body: ...
    @property
    def centre_m(self) -> Triple: ...
    @property
    def velocity_m_s(self) -> Triple: ...
    @property
    def quat_xyzw(self) -> Quat: ...
    @property
    def turning_m_s(self) -> float: ...


def room_m(first: Mover, second: Mover) -> float:
    """Between the spheres about the two pigs; negative where they overlap."""
    apart = math.dist(first.centre_m, second.centre_m)
    return apart - first.body.radius_m - second.body.radius_m - LEAST_GAP_M


def closing_m_s(first: Mover, second: Mover) -> float:
    """A bound on the speed at which any two points of two flying pigs approach each other."""
    drift = math.dist(first.velocity_m_s, second.velocity_m_s)  # both fall alike
    return drift + first.turning_m_s + second.turning_m_s


def way_m(speed_m_s: float, time_s: float, pigs: int = 1) -> float:
    """How far points of that speed in all, of so many pigs, get towards each other."""
    return SPEED_UP * (speed_m_s + pigs * GRAVITY_M_S2 * time_s) * time_s


def time_for_s(speed_m_s: float, way: float, pigs: int) -> float:
    """How long points of that speed, of so many pigs in contact, need at least for a way [m].

    With `pigs` 0, of pigs in flight, whose points do not get faster towards each other.
    """
    if pigs == 0:
        return way / speed_m_s if speed_m_s > 0.0 else math.inf
    # SPEED_UP (v + a t) t = way, a being the gravity of so many pigs.
    gravity = pigs * GRAVITY_M_S2
    root = math.sqrt(speed_m_s**2 + 4.0 * gravity * way / SPEED_UP)
    return (root - speed_m_s) / (2.0 * gravity)


def gap_m(first: Mover, second: Mover, enough_m: float = math.inf) -> float:
    """A lower bound of the gap between two hulls [m], at least half of it or above `enough_m`."""
    here, there = first.centre_m, second.centre_m
    bound = kernels.hull_gap(
        first.body.hull_columns_m,
        first.quat_xyzw,
        second.body.hull_columns_m,
        second.quat_xyzw,
        (there[0] - here[0], there[1] - here[1], there[2] - here[2]),
        enough_m + LEAST_GAP_M,
        _STEPS,
    )
    return bound - LEAST_GAP_M

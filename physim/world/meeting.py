"""How far apart two pigs are that are simulated each alone.

As long as the spheres about the pigs are far from each other, the answer costs some square
roots. Then a lower bound of the gap between the two hulls is found by Gilbert's method.

References:
    Gilbert, "An iterative procedure for computing the minimum of a quadratic form on a convex
    set", SIAM J. Control 1966.
"""

from __future__ import annotations

import math
from typing import Protocol

from physim.values import GRAVITY_M_S2, Quat, Triple
from physim.world import kernels
from physim.world.body import Body

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

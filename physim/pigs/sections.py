"""Polygons around a solid given by its distance field.

A polygon inscribed in a round section is too small and one drawn around it too
large; corners are set half-way, so that a part is as often outside the surface as
inside and the pig's size is not biased.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from physim.values import FloatArray

Field = Callable[[FloatArray], FloatArray]

_REACH_MM = 16.0  # farther from a body's or limb's axis than any surface
_STEPS = 9  # halve the bracket at least every other step; leaves far less than 0.01 mm


def half_way(corners: int) -> float:
    """Factor on a corner's radius that puts a regular polygon half inside its circle."""
    return 1.0 + 0.5 * (1.0 - math.cos(math.pi / corners))


def cast(solid: Field, origins: FloatArray, directions: FloatArray) -> FloatArray:
    """Distances (n,) from inside `solid` to its surface along unit directions.

    References:
        Dowell and Jarratt, "A modified regula falsi method", BIT 1971 (the Illinois rule).
    """
    low = np.zeros(len(origins))
    high = np.full(len(origins), _REACH_MM)
    f_low, f_high = solid(origins), solid(origins + high[:, None] * directions)
    last = np.full(len(origins), 0)
    for _ in range(_STEPS):
        between = (low * f_high - high * f_low) / (f_high - f_low)
        value = solid(origins + between[:, None] * directions)
        side = np.where(value < 0, 1, -1)
        damp = np.where(side == last, 0.5, 1.0)  # the end that stays put a second time
        low, high = np.where(side > 0, between, low), np.where(side > 0, high, between)
        f_low, f_high = (
            np.where(side > 0, value, damp * f_low),
            np.where(side > 0, damp * f_high, value),
        )
        last = side
    return np.asarray(between)


def sections(solid: Field, centers: FloatArray, u: FloatArray, v: FloatArray, n: int) -> FloatArray:
    """(m, n, 3) corners of sections of `solid` about `centers` (m, 3), in the plane of u and v."""
    angle = 2 * math.pi * np.arange(n) / n
    spokes = np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * v
    origins = np.repeat(centers, n, axis=0)
    directions = np.tile(spokes, (len(centers), 1))
    reach = cast(solid, origins, directions) * half_way(n)
    return (origins + reach[:, None] * directions).reshape(len(centers), n, 3)

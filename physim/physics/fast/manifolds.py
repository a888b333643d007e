"""Contacts by Bullet's rules, to check the compiled solver: rolls are PyBullet's but for rounding.

The corners of a pig are split into a few hulls. Each offers its lowest corner in a step and
remembers at most four points, with what they were pressed by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from physim.compiled import compiled
from physim.physics.fast.pig_record import POINTS, Rotation
from physim.types import FloatArray, Triple

UNITS_PER_M = 100.0  # of `engine`, which loads PyBullet
MARGIN_M = 1e-5  # of Bullet's hulls
WARM = 0.1  # share of the last impulses that Bullet sets out from


@compiled
def find_manifolds(work: Any, fixed: Any, place: Triple, r: Rotation) -> int:
    """Each hull offers its lowest corner and remembers up to four; how many contacts there are."""
    hulls, starts, found = fixed.contact_hull, fixed.starts, 0
    for h in range(fixed.manifolds):
        count = still_there(work, h, work.points[h], fixed.contact_m, place, r)
        corner, lowest = int(starts[h]), 1e9
        for k in range(int(starts[h]), int(starts[h + 1])):
            height = r[6] * hulls[0, k] + r[7] * hulls[1, k] + r[8] * hulls[2, k]
            if height < lowest:
                corner, lowest = k, height
        x = hulls[0, corner] - MARGIN_M * r[6]
        y = hulls[1, corner] - MARGIN_M * r[7]
        z = hulls[2, corner] - MARGIN_M * r[8]
        height = r[6] * x + r[7] * y + r[8] * z + place[2]
        if height < fixed.contact_m:
            at, nearest = -1, fixed.contact_m * fixed.contact_m
            for k in range(count):
                a, b, c = (
                    work.local[h, k, 0] - x,
                    work.local[h, k, 1] - y,
                    work.local[h, k, 2] - z,
                )
                square = a * a + b * b + c * c
                if square < nearest:
                    at, nearest = k, square
            if at < 0:
                at = count if count < POINTS else replaced(work, h, (x, y, z), height, place, r)
                count = max(count, at + 1)
                work.impulses[h, at] = 0.0
            work.local[h, at, 0], work.local[h, at, 1] = x, y
            work.local[h, at, 2] = z
            work.below[h, at, 0] = r[0] * x + r[1] * y + r[2] * z + place[0]
            work.below[h, at, 1] = r[3] * x + r[4] * y + r[5] * z + place[1]
        work.points[h] = count
        for k in range(count):
            x, y, z = work.local[h, k, 0], work.local[h, k, 1], work.local[h, k, 2]
            work.owners[found] = POINTS * h + k
            work.places[found, 0] = r[0] * x + r[1] * y + r[2] * z
            work.places[found, 1] = r[3] * x + r[4] * y + r[5] * z
            work.places[found, 2] = r[6] * x + r[7] * y + r[8] * z
            work.places[found, 3] = work.places[found, 2] + place[2]
            found += 1
    return found


@compiled
def still_there(work: Any, h: int, count: int, contact_m: float, place: Triple, r: Rotation) -> int:
    """Drops the points of a manifold that have left the table or slid away; how many stay."""
    local, below, last = work.local[h], work.below[h], count
    for k in range(count - 1, -1, -1):
        x, y, z = local[k, 0], local[k, 1], local[k, 2]
        height = r[6] * x + r[7] * y + r[8] * z + place[2]
        a = below[k, 0] - (r[0] * x + r[1] * y + r[2] * z + place[0])
        b = below[k, 1] - (r[3] * x + r[4] * y + r[5] * z + place[1])
        if height > contact_m or a * a + b * b > contact_m * contact_m:
            last -= 1
            local[k], below[k] = local[last], below[last]
            work.impulses[h, k] = work.impulses[h, last]
    return last


@compiled
def replaced(work: Any, h: int, point: Triple, height: float, place: Triple, r: Rotation) -> int:
    """Which of four points a fifth takes the place of: the deepest stays, the area grows most."""
    local, deepest, low = work.local[h], -1, height
    for k in range(POINTS):
        depth = r[6] * local[k, 0] + r[7] * local[k, 1] + r[8] * local[k, 2] + place[2]
        if depth < low:
            deepest, low = k, depth
    best, most = 0, -1.0
    for k in range(POINTS):
        square = 0.0
        if k != deepest:
            one, two, three = (1, 3, 2) if k == 0 else (0, 3, 2)
            two, three = (3, 1) if k == 2 else ((2, 1) if k == 3 else (two, three))
            a, b, c = (
                point[0] - local[one, 0],
                point[1] - local[one, 1],
                point[2] - local[one, 2],
            )
            d, e, f = (
                local[two, 0] - local[three, 0],
                local[two, 1] - local[three, 1],
                local[two, 2] - local[three, 2],
            )
            x, y, z = b * f - c * e, c * d - a * f, a * e - b * d
            square = x * x + y * y + z * z
        if square > most:
            best, most = k, square
    return best


def as_bullet_rounds(corners_m: FloatArray) -> FloatArray:
    """The corners (n, 3) of a hull as PyBullet keeps them: in single precision, on a grid.

    Its hull computer rounds towards the middle of the hull on a grid of 1/10216 of each extent.
    """
    corners = np.asarray(corners_m * UNITS_PER_M, dtype=np.float32).astype(float)
    low, high = corners.min(axis=0), corners.max(axis=0)
    middle, cell = 0.5 * (low + high), (high - low) / 10216.0
    rounded: FloatArray = (
        middle + np.trunc((corners - middle) * (1.0 / cell)) * cell
    ) / UNITS_PER_M
    return rounded


def disc_of(hulls_m: Sequence[FloatArray]) -> float:
    """By how much Bullet multiplies its contact threshold for a compound of these hulls.

    Its angular motion disc: in the engine's unit of length, the radius of the sphere about the
    bounding box, and how far the middle of that is from the centre of mass.
    """
    points = UNITS_PER_M * np.concatenate(hulls_m)
    margin = UNITS_PER_M * MARGIN_M
    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    return float(0.5 * (np.linalg.norm(high - low) + np.linalg.norm(high + low)))

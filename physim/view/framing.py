"""From where pigs are seen best: how they lie, which is which, and on what they stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from physim.rotations import rotate, up_in_body
from physim.values import FloatArray
from physim.view.camera import View
from physim.view.pigs import PlacedPig, pig_look

X_AXIS = np.array([1.0, 0.0, 0.0])
ELEVATION_DEG, FLANK_ELEVATION_DEG, SNOUT_ELEVATION_DEG = 22.0, 46.0, 11.0
BESIDE_SNOUT_DEG = -52.0  # from the snout towards the right flank, where the dot is
PROFILE_DEG, FACE_DEG = -75.0, 12.0  # likewise, of pigs on their snouts
LEANS = 0.45  # from this sine of its tilt on, a pig on its snout is seen from the front


def framing(
    pigs: Sequence[PlacedPig], aspect: float, above: bool = False, field_deg: float = 30.0
) -> View:
    """A view that just holds all pigs, from where most of their dots and snouts is seen.

    Args:
        pigs: at least one.
        aspect: width over height of the picture.
        above: from straight above instead.
        field_deg: vertical field of view.
    """
    points = np.concatenate([_outline(pig) for pig in pigs])
    azimuth = best_azimuth_deg(pigs)
    elevation = 89.0 if above else max(_elevation_deg(pig.state.quat_xyzw) for pig in pigs)
    return fitted(View(np.zeros(3), 1.0, azimuth, elevation, field_deg), points, aspect)


def best_azimuth_deg(pigs: Sequence[PlacedPig]) -> float:
    """From which side pigs are told best: none hides another, snouts and dots are in sight."""

    def worth(azimuth_deg: float) -> float:
        angles = [math.radians(azimuth_deg - _wanted_deg(pig.state.quat_xyzw)) for pig in pigs]
        total = sum(math.cos(angle) for angle in angles) / len(pigs)
        if len(pigs) == 2:
            between = pigs[1].state.position_m - pigs[0].state.position_m
            line = math.atan2(float(between[1]), float(between[0]))
            total += 1.2 * abs(math.sin(math.radians(azimuth_deg) - line))
        return total

    if len(pigs) == 1:
        return _wanted_deg(pigs[0].state.quat_xyzw)
    return max((float(k) for k in range(0, 360, 10)), key=worth)


def _wanted_deg(quat_xyzw: FloatArray) -> float:
    """The best side of one pig: a little from the front, where its right flank can be seen.

    A pig on its snout is seen in profile, with what its forelegs stand on; one that leans, from
    the front and the side of the ear that it leans on.
    """
    _, left, _ = up_in_body(quat_xyzw)
    if _on_snout(quat_xyzw):
        turn = PROFILE_DEG if abs(left) < LEANS else -math.copysign(FACE_DEG, left)
        return heading_deg(quat_xyzw) + turn
    flank = rotate(quat_xyzw, np.array([0.0, -1.0, 0.0]))
    if math.hypot(flank[0], flank[1]) < 0.6:  # it lies on a side
        return heading_deg(quat_xyzw) + BESIDE_SNOUT_DEG
    turn = math.radians(BESIDE_SNOUT_DEG)
    way = math.cos(turn) * rotate(quat_xyzw, X_AXIS) - math.sin(turn) * flank
    return math.degrees(math.atan2(float(way[1]), float(way[0])))


def _elevation_deg(quat_xyzw: FloatArray) -> float:
    """Low, to see what touches the table; higher on a pig that shows a flank, or not, above."""
    if _on_snout(quat_xyzw):
        return SNOUT_ELEVATION_DEG
    _, left, _ = up_in_body(quat_xyzw)
    return FLANK_ELEVATION_DEG if abs(left) > 0.6 else ELEVATION_DEG


def _on_snout(quat_xyzw: FloatArray) -> bool:
    forward, left, up = up_in_body(quat_xyzw)
    return forward < -0.3 and up > 0.0 and abs(left) < 0.6


def fitted(view: View, points_m: FloatArray, aspect: float, fill: float = 0.86) -> View:
    """The view from as near as the points (n, 3) are still in its picture, up to a margin.

    Seen along the camera's axes, a point (a, b, c) is in the picture of a camera at (x, y, z) if
    |a - x| <= s (c - z), s being half the picture's width at distance 1, and likewise for b. So
    x - s z is at least max(a - s c), and x + s z at most min(a + s c).
    """
    seen = points_m @ view.axes.T
    half = fill * math.tan(math.radians(0.5 * view.field_deg))
    place = np.empty(3)
    nearest = []
    for axis, s in ((0, half * aspect), (1, half)):
        low = float((seen[:, axis] - s * seen[:, 2]).max())
        high = float((seen[:, axis] + s * seen[:, 2]).min())
        place[axis] = 0.5 * (low + high)
        nearest.append((high - low) / (2.0 * s))
    place[2] = min(nearest)
    distance = float(seen[:, 2].mean()) - float(place[2])
    target = (place + np.array([0.0, 0.0, distance])) @ view.axes
    return replace(view, target_m=target, distance_m=distance)


def _outline(pig: PlacedPig) -> FloatArray:
    points = pig_look(pig.model).points_m[::7]
    return np.asarray(rotate(pig.state.quat_xyzw, points) + pig.state.position_m)


def heading_deg(quat_xyzw: FloatArray) -> float:
    """The compass direction of the snout in the world [deg]."""
    forward = rotate(quat_xyzw, X_AXIS)
    return math.degrees(math.atan2(float(forward[1]), float(forward[0])))

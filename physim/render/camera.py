"""Cameras: where a point of the world lies in a picture, and from where pigs are seen best.

Seen best is how they lie, which is which, and on what they stand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from physim.geometry import rotate, up_in_body
from physim.render.pig_meshes import PlacedPig, pig_look
from physim.render.replay import Replay
from physim.types import ExactValue, FloatArray


@dataclass(frozen=True, eq=False)
class View(ExactValue):
    """A camera that looks at a point, upright.

    Attributes:
        target_m: (3,) what it looks at, world frame [m].
        distance_m: from there [m].
        azimuth_deg: direction from the target to the camera, 0 along +x, 90 along +y.
        elevation_deg: above the table.
        field_deg: vertical field of view.
    """

    target_m: FloatArray
    distance_m: float
    azimuth_deg: float = 30.0
    elevation_deg: float = 30.0
    field_deg: float = 30.0

    @property
    def place_m(self) -> FloatArray:
        """(3,) the camera, world frame [m]."""
        return np.asarray(self.target_m - self.distance_m * self.axes[2])

    @property
    def axes(self) -> FloatArray:
        """(3, 3) unit vectors in the world: right, up and forward in the picture, row by row."""
        azimuth, elevation = math.radians(self.azimuth_deg), math.radians(self.elevation_deg)
        flat = np.array([math.cos(azimuth), math.sin(azimuth), 0.0])
        out = math.cos(elevation) * flat + np.array([0.0, 0.0, math.sin(elevation)])
        right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
        return np.array([right, np.cross(out, right), -out])

    def focal(self, height: float) -> float:
        """Focal length in pixels of a picture of this height."""
        return 0.5 * height / math.tan(math.radians(0.5 * self.field_deg))

    def project(self, points_m: FloatArray, width: float, height: float) -> FloatArray:
        """(n, 3) of points (n, 3): pixels to the right and down, and distance along the view [m].

        The middle of the first pixel is (0.5, 0.5).
        """
        seen = (points_m - self.place_m) @ self.axes.T
        focal = self.focal(height) / seen[:, 2]
        across = 0.5 * width + seen[:, 0] * focal
        return np.stack([across, 0.5 * height - seen[:, 1] * focal, seen[:, 2]], axis=1)

    def slopes(self, width: int, height: int) -> tuple[FloatArray, FloatArray]:
        """(width,) and (height,) of the pixels' middles: right and up per unit of forward."""
        focal = self.focal(height)
        right = (np.arange(width) + 0.5 - 0.5 * width) / focal
        up = (0.5 * height - np.arange(height) - 0.5) / focal
        return np.asarray(right), np.asarray(up)


ELEVATION_DEG, FLANK_ELEVATION_DEG, SNOUT_ELEVATION_DEG = 22.0, 46.0, 11.0
BESIDE_SNOUT_DEG = -52.0  # from the snout towards the right flank, where the dot is
PROFILE_DEG, FACE_DEG = -75.0, 12.0  # from the snout, of pigs on their snouts
LIES_ON_SIDE = 0.8  # from this sine of its tilt on
LEANS = 0.45  # from this sine of its tilt on, a pig on its snout is seen from the front


def framing(
    pigs: Sequence[PlacedPig], aspect: float, above: bool = False, field_deg: float = 30.0
) -> View:
    """A view that just holds all pigs, from where most of their dots and snouts is seen.

    The picture's width is `aspect` times its height; `above` is from straight above instead.
    """
    points = np.concatenate([pig.placed(pig_look(pig.model).points_m[::7]) for pig in pigs])
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
    _, left, up = up_in_body(quat_xyzw.tolist())
    if _on_snout(quat_xyzw):
        turn = PROFILE_DEG if abs(left) < LEANS else -math.copysign(FACE_DEG, left)
    else:  # of a pig on its back the right flank is on the other side
        turn = -BESIDE_SNOUT_DEG if up < 0.0 and abs(left) < LIES_ON_SIDE else BESIDE_SNOUT_DEG
    forward = rotate(quat_xyzw, np.array([1.0, 0.0, 0.0]))
    return math.degrees(math.atan2(float(forward[1]), float(forward[0]))) + turn


def _elevation_deg(quat_xyzw: FloatArray) -> float:
    """Low, to see what touches the table; higher on a pig that shows a flank, or not, above."""
    if _on_snout(quat_xyzw):
        return SNOUT_ELEVATION_DEG
    _, left, _ = up_in_body(quat_xyzw.tolist())
    return FLANK_ELEVATION_DEG if abs(left) > 0.6 else ELEVATION_DEG


def _on_snout(quat_xyzw: FloatArray) -> bool:
    forward, left, up = up_in_body(quat_xyzw.tolist())
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


_MOMENTS_A_S = 60.0  # that the camera of a film considers
_SMOOTHING_S = 0.35  # over which its path is smoothed


class CameraPath:
    """The path of a film's camera: it holds all that is still to come, and so moves in."""

    def __init__(self, replay: Replay, aspect: float, speed: float = 1.0) -> None:
        self._times, reaches = _reaches(replay)
        self._start = _start(replay, 30.0)
        views = [
            fitted(self._start, np.concatenate(reaches[k:]), aspect, fill=0.92)
            for k in range(len(reaches))
        ]
        size = 2 * max(1, round(_SMOOTHING_S * min(1.0, speed) * _MOMENTS_A_S)) + 1
        self._targets = _smoothed(np.array([view.target_m for view in views]), size)
        distances = _smoothed(np.array([view.distance_m for view in views]), size)
        # A smooth path may have lost a pig: from farther away it is in sight again.
        needed = [
            _least_distance_m(replace(self._start, target_m=target), reach, aspect)
            for target, reach in zip(self._targets, reaches, strict=True)
        ]
        extreme = maximum_filter1d(np.maximum(distances, needed), size, mode="nearest")
        self._distances = _smoothed(extreme, size)

    def at(self, time_s: float) -> View:
        """From where the pigs are seen at that simulated time."""
        columns = (*self._targets.T, self._distances)
        x, y, z, distance = (float(np.interp(time_s, self._times, column)) for column in columns)
        return replace(self._start, target_m=np.array([x, y, z]), distance_m=distance)


def toss_view(replay: Replay, aspect: float, field_deg: float) -> View:
    """One view of all that happens from release to rest."""
    _, reaches = _reaches(replay)
    return fitted(_start(replay, field_deg), np.concatenate(reaches), aspect)


def _start(replay: Replay, field_deg: float) -> View:
    return View(np.zeros(3), 1.0, best_azimuth_deg(replay.at_rest()), 30.0, field_deg)


def _reaches(replay: Replay) -> tuple[FloatArray, list[FloatArray]]:
    """Moments [s] from release to rest, and (12, 3) how far both pigs' spheres reach then."""
    times = np.append(np.arange(0.0, replay.ends_s, 1.0 / _MOMENTS_A_S), replay.ends_s)
    axes = np.concatenate([np.eye(3), -np.eye(3)])
    reaches = []
    for time_s in times.tolist():
        spheres = [p.state.position_m + 0.85 * p.radius_m * axes for p in replay.pigs(time_s)]
        # What falls past the edge is not followed for ever.
        reaches.append(np.maximum(np.concatenate(spheres), [-np.inf, -np.inf, -0.25]))
    return times, reaches


def _least_distance_m(view: View, points_m: FloatArray, aspect: float) -> float:
    """From where on a camera on this line of sight holds the points."""
    right, up, forward = ((points_m - view.target_m) @ view.axes.T).T
    half = 0.94 * math.tan(math.radians(0.5 * view.field_deg))
    return float(np.max(np.maximum(np.abs(right) / aspect, np.abs(up)) / half - forward))


def _smoothed(path: FloatArray, size: int) -> FloatArray:
    """A path smoothed by a running mean, and that again, its ends kept."""
    once = uniform_filter1d(path, size, axis=0, mode="nearest")
    return np.asarray(uniform_filter1d(once, size, axis=0, mode="nearest"))

"""A roll as a film: what the camera does, and every frame of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from PIL import Image as Pillow

from physim.values import FloatArray
from physim.view.camera import View
from physim.view.caption import captioned
from physim.view.replay import Replay
from physim.view.scene import best_azimuth_deg, fitted, picture

HOLD_S = 1.2  # of the film, on the pigs at rest
_LOOK_S = 1 / 60  # between two moments that the camera considers
_CALM_S = 0.35  # over which its way is smoothed


@dataclass(frozen=True)
class FilmPlan:
    """What a film is like.

    Attributes:
        width, height: of the picture [pixels].
        frames_per_s: of the film.
        speed: simulated time over the film's: 0.25 is slow motion.
    """

    width: int = 480
    height: int = 360
    frames_per_s: float = 20.0
    speed: float = 1.0

    def times_s(self, ends_s: float) -> list[float]:
        """Simulated time of each frame up to the rest; the pause after it repeats the last."""
        step = self.speed / self.frames_per_s
        return [k * step for k in range(math.ceil(ends_s / step))] + [ends_s]

    @property
    def held(self) -> int:
        """Frames of the pause."""
        return max(1, round(HOLD_S * self.frames_per_s))


def frames(replay: Replay, plan: FilmPlan) -> Iterator[Pillow.Image]:
    """Every frame up to the rest, the last one with its caption; the film is to hold that."""
    path = CameraPath(replay, plan.width / plan.height, plan.speed)
    times = plan.times_s(replay.ends_s)
    for number, time_s in enumerate(times):
        last = number == len(times) - 1
        pigs = replay.at_rest() if last else replay.pigs(time_s)
        image = picture(pigs, plan.width, plan.height, path.at(time_s), replay.table)
        shown = Pillow.fromarray(image)
        yield captioned(shown, replay.roll) if last else shown


class CameraPath:
    """A camera that always holds all that is still to come, and so moves in on the rest."""

    def __init__(self, replay: Replay, aspect: float, speed: float = 1.0) -> None:
        ends_s = replay.ends_s
        times = np.append(np.arange(0.0, ends_s, _LOOK_S), ends_s)
        corners = [self._corners(replay, float(time_s)) for time_s in times]
        azimuth = best_azimuth_deg(replay.at_rest())
        start = View(np.zeros(3), 1.0, azimuth, 30.0)
        views = [
            fitted(start, np.concatenate(corners[k:]), aspect, fill=0.92)
            for k in range(0, len(times))
        ]
        self._times = times
        self._start = start
        way = np.array([[*view.target_m, math.log(view.distance_m)] for view in views])
        self._way = _calmed(way, max(1, round(_CALM_S * min(1.0, speed) / _LOOK_S)))

    def at(self, time_s: float) -> View:
        """From where the pigs are seen at that simulated time."""
        x, y, z, distance = (np.interp(time_s, self._times, column) for column in self._way.T)
        return View(
            np.array([x, y, z]),
            math.exp(distance),
            self._start.azimuth_deg,
            self._start.elevation_deg,
            self._start.field_deg,
        )

    @staticmethod
    def _corners(replay: Replay, time_s: float) -> FloatArray:
        """(12, 3) how far both pigs' spheres reach."""
        reach = np.concatenate([np.eye(3), -np.eye(3)])
        points = np.concatenate(
            [p.state.position_m + 0.85 * p.radius_m * reach for p in replay.pigs(time_s)]
        )
        # What falls past the edge is not followed for ever.
        return np.asarray(np.maximum(points, [-np.inf, -np.inf, -0.25]))


def _calmed(way: FloatArray, half: int) -> FloatArray:
    """A way smoothed by a running mean, and that again, its ends kept."""
    for _ in range(2):
        padded = np.pad(way, ((half, half), (0, 0)), mode="edge")
        sums = np.cumsum(np.concatenate([np.zeros((1, way.shape[1])), padded]), axis=0)
        size = 2 * half + 1
        way = (sums[size:] - sums[:-size]) / size
    return way

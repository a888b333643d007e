"""Where a picture is taken from, and where a point of the world lies in it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from physim.values import ExactValue, FloatArray


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

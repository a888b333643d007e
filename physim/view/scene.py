"""A still picture of pigs on the table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from physim.rotations import rotate
from physim.values import FloatArray, RigidState
from physim.view.pigs import pig_meshes
from physim.world.bullet_camera import Camera, ColoredMesh, Image, View

TABLE_COLOR = (0.62, 0.72, 0.62)
TABLE_REACH = 7.0  # the table top is seen this many times the camera's distance far
X_AXIS = np.array([1.0, 0.0, 0.0])
BESIDE_SNOUT_DEG = -52.0  # from the snout towards the right flank, where the dot is


@dataclass(frozen=True)
class PlacedPig:
    """A pig to be seen.

    Attributes:
        model: name of, or path to, its model.
        name: `black` or `pink`.
        state: where it lies, pig frame to world frame.
        radius_m: of its bounding sphere [m].
    """

    model: str
    name: str
    state: RigidState
    radius_m: float


def picture(pigs: Sequence[PlacedPig], width: int, height: int) -> Image:
    """(height, width, 3) picture of pigs on the table, framed to hold them all."""
    # The renderer's light belongs to the origin: what is far from it gets false shadows.
    pigs = _centred(pigs)
    view = framing(pigs, width / height)
    with Camera(view) as camera:
        camera.add([_table_top(view)], RigidState(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])))
        for pig in pigs:
            camera.add(pig_meshes(pig.model, pig.name), pig.state)
        return camera.look(width, height)


def _centred(pigs: Sequence[PlacedPig]) -> list[PlacedPig]:
    places = np.array([pig.state.position_m for pig in pigs])
    shift = 0.5 * (places.min(axis=0) + places.max(axis=0)) * [1.0, 1.0, 0.0]
    return [
        replace(pig, state=replace(pig.state, position_m=pig.state.position_m - shift))
        for pig in pigs
    ]


def framing(pigs: Sequence[PlacedPig], aspect: float) -> View:
    """A view that holds all pigs; of one pig, from its dot's side and a little from the front."""
    places = np.array([pig.state.position_m for pig in pigs])
    middle = 0.5 * (places.min(axis=0) + places.max(axis=0))
    spread = float(np.sqrt(((places - middle) ** 2).sum(axis=1)).max())
    radius = spread + max(pig.radius_m for pig in pigs)
    if len(pigs) == 1:
        azimuth_deg = heading_deg(pigs[0].state.quat_xyzw) + BESIDE_SNOUT_DEG
    else:
        between = places[1] - places[0]
        azimuth_deg = math.degrees(math.atan2(between[1], between[0])) + 90.0
    field_deg = 30.0
    half_rad = math.radians(field_deg / 2)
    distance = 1.05 * radius / math.sin(min(half_rad, math.atan(math.tan(half_rad) * aspect)))
    return View(middle, distance, azimuth_deg, 30.0, field_deg)


def heading_deg(quat_xyzw: FloatArray) -> float:
    """The compass direction of the snout in the world [deg]."""
    forward = rotate(quat_xyzw, X_AXIS)
    return math.degrees(math.atan2(float(forward[1]), float(forward[0])))


def _table_top(view: View) -> ColoredMesh:
    corners = (
        TABLE_REACH
        * view.distance_m
        * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], dtype=float)
    )
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    return ColoredMesh(corners, np.tile([0.0, 0.0, 1.0], (4, 1)), faces, TABLE_COLOR)

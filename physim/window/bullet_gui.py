"""PyBullet's window: a client that shows bodies and never steps physics.

Everything is drawn in units of 1/`UNITS_PER_M` m: the window's light, its shadows and the speed
of its mouse are made for objects of about a metre.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from physim.errors import DisplayError, optional
from physim.files import scratch, write_passing
from physim.physics.engine import pybullet, quiet_stdout
from physim.render.camera import View
from physim.render.pig_meshes import Color, PlacedPig, pig_look, shaded_obj
from physim.types import FloatArray, RigidState, Table

UNITS_PER_M = 20.0
FIELD_DEG = 90.0  # the window's own vertical field of view
_THICK_M = 0.02  # of the table's top
_UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


class WindowClosed(Exception):
    """The user has closed the window."""


class Window:
    """The window. Use it with `with`; only one a process at a time."""

    def __init__(self, width: int, height: int) -> None:
        self._size = (width, height)
        self._id = -1
        self._texts: dict[str, int] = {}
        self._written: dict[str, tuple[object, ...]] = {}
        self._down: set[int] = set()  # keys
        self._view: View | None = None  # as it was seen last; the user may move it
        self._aimed: View | None = None  # as `look` has set it
        self._bodies: list[int] = []
        self._marks: list[int] = []

    def __enter__(self) -> Window:
        width, height = self._size
        if pybullet is None:
            optional(
                "pybullet",
                "pybullet",
                "the window",
                " (Python 3.10 or 3.11, else a C++ compiler); `physim render` does without",
            )
        with quiet_stdout(silent=True):
            self._id = pybullet.connect(pybullet.GUI, options=f"--width={width} --height={height}")
        if self._id < 0:
            raise DisplayError("the window could not be opened; `physim render` needs no display")
        for hidden in (
            pybullet.COV_ENABLE_KEYBOARD_SHORTCUTS,  # they would act beside ours
            pybullet.COV_ENABLE_MOUSE_PICKING,
            pybullet.COV_ENABLE_SEGMENTATION_MARK_PREVIEW,
            pybullet.COV_ENABLE_DEPTH_BUFFER_PREVIEW,
            pybullet.COV_ENABLE_RGB_BUFFER_PREVIEW,
            pybullet.COV_ENABLE_GUI,
        ):
            self._call(pybullet.configureDebugVisualizer, hidden, 0)
        self._call(pybullet.configureDebugVisualizer, pybullet.COV_ENABLE_SHADOWS, 1)
        self._call(
            pybullet.configureDebugVisualizer,
            lightPosition=[-8.0, -7.0, 18.0],
            shadowMapWorldSize=14,
            shadowMapResolution=4096,
        )
        return self

    def __exit__(self, *error: object) -> None:
        if self._id >= 0 and pybullet.isConnected(self._id):
            with quiet_stdout(silent=True):
                self._call(pybullet.disconnect)
        self._id = -1

    @property
    def aspect(self) -> float:
        """Width of the picture over its height."""
        return self._size[0] / self._size[1]

    def clear(self) -> None:
        """Takes everything away but texts and sliders."""
        self.unmark()
        for body in self._bodies:
            self._call(pybullet.removeBody, body)
        self._bodies = []

    def add_table(self, table: Table, color: Color) -> None:
        """A table's top."""
        half = [0.5 * s * UNITS_PER_M for s in (table.length_m, table.width_m, _THICK_M)]
        state = RigidState(np.array([0.0, 0.0, -0.5 * _THICK_M]), _UPRIGHT)
        self._body(state, color, 0.05, shapeType=pybullet.GEOM_BOX, halfExtents=half)

    def add(self, pig: PlacedPig) -> list[int]:
        """Puts a pig where it is; returns the handles of its materials."""
        look = pig_look(pig.model)
        handles = []
        for material, (red, green, blue) in enumerate(look.colors(pig.name).tolist()):
            with scratch() as folder, quiet_stdout(silent=True):
                text = shaded_obj(look, material, UNITS_PER_M)
                path = str(write_passing(folder / "mesh.obj", text))
                shape = {"shapeType": pybullet.GEOM_MESH, "fileName": path}
                handles.append(self._body(pig.state, (red, green, blue), 0.15, **shape))
        return handles

    def move(self, handles: Sequence[int], state: RigidState) -> None:
        """Puts a body elsewhere."""
        place, quat = (state.position_m * UNITS_PER_M).tolist(), state.quat_xyzw.tolist()
        for handle in handles:
            self._call(pybullet.resetBasePositionAndOrientation, handle, place, quat)

    def mark(self, places_m: Sequence[FloatArray], color: Color) -> None:
        """Dots at these places."""
        places = [(UNITS_PER_M * place).tolist() for place in places_m]
        if places:
            colors = [color] * len(places)
            self._marks.append(self._call(pybullet.addUserDebugPoints, places, colors, 10))

    def outline(self, corners_m: FloatArray, color: Color) -> None:
        """A closed line through places (n, 3)."""
        for a, b in zip(corners_m, np.roll(corners_m, -1, axis=0), strict=True):
            ends = [(UNITS_PER_M * p).tolist() for p in (a, b)]
            self._marks.append(self._call(pybullet.addUserDebugLine, *ends, color, 3))

    def unmark(self) -> None:
        """Takes dots and lines away."""
        for mark in self._marks:
            self._call(pybullet.removeUserDebugItem, mark)
        self._marks = []

    def look(self, view: View) -> None:
        """Moves the camera, which has a field of view of its own."""
        self._call(
            pybullet.resetDebugVisualizerCamera,
            view.distance_m * UNITS_PER_M,
            view.azimuth_deg + 90.0,
            -view.elevation_deg,
            (view.target_m * UNITS_PER_M).tolist(),
        )
        self._view = self._aimed = view  # the window itself tells it only after the next frame

    def write(self, name: str, text: str, across: float, down: float, color: Color) -> None:
        """A line of text at a place of the picture, in place of the one with this name before.

        Nothing before the first `look`; write it again with each update, as the user may move the
        camera. The place is `across` (0 left, 1 right) and `down` (0 top, 1 bottom).
        """
        if self._view is None:
            self._view = self._seen() or self._aimed
        if self._view is None:
            return
        half = math.tan(math.radians(0.5 * FIELD_DEG))
        x, y = (2.0 * across - 1.0) * half * self.aspect, (1.0 - 2.0 * down) * half
        way = np.array([x, y, 1.0]) @ self._view.axes
        # Before all that could hide it.
        place = UNITS_PER_M * (self._view.place_m + 0.05 * self._view.distance_m * way)
        written = (text, *np.round(place, 3).tolist())
        if self._written.get(name) == written:
            return
        self._written[name] = written
        replaced = {"replaceItemUniqueId": self._texts[name]} if name in self._texts else {}
        self._texts[name] = self._call(
            pybullet.addUserDebugText, text or " ", place.tolist(), color, 1.0, **replaced
        )

    def slider(self, name: str, low: float, high: float, value: float) -> int:
        """A new slider; `low` above `high` makes a button, whose value counts its presses."""
        return int(self._call(pybullet.addUserDebugParameter, name, low, high, value))

    def panel(self, shown: bool) -> None:
        """Shows the panel with the sliders, or hides it; the window's own panels go with it."""
        self._call(pybullet.configureDebugVisualizer, pybullet.COV_ENABLE_GUI, int(shown))

    def remove_sliders(self) -> None:
        """Takes all sliders and buttons away."""
        self._call(pybullet.removeAllUserParameters)

    def value(self, slider: int) -> float:
        """Where a slider stands."""
        return float(self._call(pybullet.readUserDebugParameter, slider))

    def keys(self) -> list[str]:
        """The keys that were pressed since the last call: characters, `right` and `escape`.

        Raises:
            WindowClosed: there is no window any more.
        """
        if not pybullet.isConnected(self._id):
            raise WindowClosed
        self._view = None
        names = {pybullet.B3G_RIGHT_ARROW: "right", 27: "escape"}
        pressed = []
        for key, state in self._call(pybullet.getKeyboardEvents).items():
            # Of a key that was down only between two calls nothing is told but its release.
            if key not in self._down:
                pressed.append(names.get(key, chr(key) if key < 256 else ""))
                self._down.add(key)
            if state & pybullet.KEY_WAS_RELEASED:
                self._down.discard(key)
        return pressed

    def _seen(self) -> View | None:
        """The camera as it is; None where PyBullet does not tell (a window without sliders)."""
        width, height, *_, yaw, pitch, distance, target = self._call(
            pybullet.getDebugVisualizerCamera
        )
        if not distance:
            return None
        self._size = (width, max(1, height))
        place = np.array(target) / UNITS_PER_M
        return View(place, distance / UNITS_PER_M, yaw - 90.0, -pitch, FIELD_DEG)

    def _body(self, state: RigidState, color: Color, gloss: float, **shape: Any) -> int:
        """The handle of a new body without mass."""
        visual = self._call(
            pybullet.createVisualShape, rgbaColor=[*color, 1.0], specularColor=[gloss] * 3, **shape
        )
        body = self._call(
            pybullet.createMultiBody,
            baseVisualShapeIndex=visual,
            basePosition=(state.position_m * UNITS_PER_M).tolist(),
            baseOrientation=state.quat_xyzw.tolist(),
        )
        self._bodies.append(int(body))
        return int(body)

    def _call(self, function: Callable[..., Any], *values: Any, **named: Any) -> Any:
        return function(*values, **named, physicsClientId=self._id)

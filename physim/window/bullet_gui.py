"""PyBullet's window: a client that shows bodies and never steps physics.

Everything is drawn in units of 1/`UNITS_PER_M` m: the window's light, its shadows and the speed
of its mouse are made for objects of about a metre.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import TracebackType

import numpy as np

from physim.errors import DisplayError
from physim.files import scratch, write_passing
from physim.physics.engine import pybullet, quiet_stdout
from physim.render.pig_meshes import Color, ColoredMesh, shaded_obj
from physim.types import FloatArray, RigidState, Table

UNITS_PER_M = 20.0
THICK_M = 0.02  # of the table's top
# Width and height [pixels], unit vectors forward and up, distance and target in the window's units.
_Camera = tuple[int, int, FloatArray, FloatArray, float, FloatArray]
FIELD_DEG = 90.0  # the window's own vertical field of view
_UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])
_SPHERE = 0.0009  # radius of a mark [m]
_OUT_OF_SIGHT = RigidState(np.array([0.0, 0.0, -0.5 * THICK_M]), _UPRIGHT)  # inside the table's top


class WindowClosed(Exception):
    """The user has closed the window."""


class Window:
    """The window. Use it with `with`; only one a process at a time."""

    def __init__(self, width: int, height: int) -> None:
        self._size = (width, height)
        self._id = -1
        self._texts: dict[str, int] = {}
        self._said: dict[str, tuple[object, ...]] = {}
        self._down: set[int] = set()
        self._camera: _Camera | None = None  # as it was seen last; the user may move it
        self._aimed: _Camera | None = None  # as `look` has set it
        self._bodies: list[int] = []
        self._marks: dict[Color, list[int]] = {}  # all that were made, and in use or out of sight
        self._marked: dict[Color, int] = {}  # how many of them are in use
        self._lines: list[int] = []

    def __enter__(self) -> Window:
        width, height = self._size
        with quiet_stdout(silent=True):
            self._id = pybullet.connect(pybullet.GUI, options=f"--width={width} --height={height}")
        if self._id < 0:
            raise DisplayError("the window could not be opened; `physim render` needs no display")
        for setting, value in (
            (pybullet.COV_ENABLE_KEYBOARD_SHORTCUTS, 0),  # they would act beside ours
            (pybullet.COV_ENABLE_MOUSE_PICKING, 0),
            (pybullet.COV_ENABLE_SEGMENTATION_MARK_PREVIEW, 0),
            (pybullet.COV_ENABLE_DEPTH_BUFFER_PREVIEW, 0),
            (pybullet.COV_ENABLE_RGB_BUFFER_PREVIEW, 0),
            (pybullet.COV_ENABLE_GUI, 0),
            (pybullet.COV_ENABLE_SHADOWS, 1),
        ):
            pybullet.configureDebugVisualizer(setting, value, physicsClientId=self._id)
        pybullet.configureDebugVisualizer(
            lightPosition=[-8.0, -7.0, 18.0],
            shadowMapWorldSize=14,
            shadowMapResolution=4096,
            physicsClientId=self._id,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._id >= 0 and pybullet.isConnected(self._id):
            with quiet_stdout(silent=True):
                pybullet.disconnect(physicsClientId=self._id)
        self._id = -1

    def check(self) -> None:
        """Raises `WindowClosed` once the user has closed the window."""
        if not pybullet.isConnected(self._id):
            raise WindowClosed

    def clear(self) -> None:
        """Takes everything away but texts and sliders."""
        self.unmark()
        for body in self._bodies:
            pybullet.removeBody(body, physicsClientId=self._id)
        self._bodies = []

    def add_table(self, table: Table, color: Color) -> None:
        """A table's top."""
        half = [0.5 * s * UNITS_PER_M for s in (table.length_m, table.width_m, THICK_M)]
        shape = pybullet.createVisualShape(
            pybullet.GEOM_BOX,
            halfExtents=half,
            rgbaColor=[*color, 1.0],
            specularColor=[0.05, 0.05, 0.05],
            physicsClientId=self._id,
        )
        place = np.array([0.0, 0.0, -0.5 * THICK_M])
        self._bodies.append(self._body(shape, RigidState(place, _UPRIGHT)))

    def add(self, meshes: Sequence[ColoredMesh], state: RigidState) -> list[int]:
        """Puts a body of several meshes at a place; returns its handles."""
        handles = []
        for mesh in meshes:
            with scratch() as folder, quiet_stdout(silent=True):
                path = write_passing(folder / "mesh.obj", shaded_obj(mesh, UNITS_PER_M))
                shape = pybullet.createVisualShape(
                    pybullet.GEOM_MESH,
                    fileName=str(path),
                    rgbaColor=[*mesh.color, 1.0],
                    specularColor=[0.15, 0.15, 0.15],
                    physicsClientId=self._id,
                )
                handles.append(self._body(shape, state))
        self._bodies += handles
        return handles

    def move(self, handles: Sequence[int], state: RigidState) -> None:
        """Puts a body elsewhere."""
        place, quat = (state.position_m * UNITS_PER_M).tolist(), state.quat_xyzw.tolist()
        for handle in handles:
            pybullet.resetBasePositionAndOrientation(handle, place, quat, physicsClientId=self._id)

    def mark(self, places_m: Sequence[FloatArray], color: Color) -> None:
        """Small balls at these places."""
        made, used = self._marks.setdefault(color, []), self._marked.get(color, 0)
        for number, place in enumerate(places_m, start=used):
            state = RigidState(place, _UPRIGHT)
            if number < len(made):  # to move one is quick, to make one takes some frames
                self.move([made[number]], state)
                continue
            shape = pybullet.createVisualShape(
                pybullet.GEOM_SPHERE,
                radius=_SPHERE * UNITS_PER_M,
                rgbaColor=[*color, 1.0],
                physicsClientId=self._id,
            )
            made.append(self._body(shape, state))
        self._marked[color] = used + len(places_m)

    def outline(self, corners_m: FloatArray, color: Color) -> None:
        """A closed line through places (n, 3)."""
        for a, b in zip(corners_m, np.roll(corners_m, -1, axis=0), strict=True):
            ends = [(UNITS_PER_M * p).tolist() for p in (a, b)]
            self._lines.append(pybullet.addUserDebugLine(*ends, color, 3, physicsClientId=self._id))

    def unmark(self) -> None:
        """Takes balls and lines away."""
        for color, used in self._marked.items():
            self.move(self._marks[color][:used], _OUT_OF_SIGHT)
        for line in self._lines:
            pybullet.removeUserDebugItem(line, physicsClientId=self._id)
        self._marked, self._lines = {}, []

    def look(
        self, target_m: FloatArray, distance_m: float, azimuth_deg: float, up_deg: float
    ) -> None:
        """Moves the camera; angles as in `view.camera.View`."""
        pybullet.resetDebugVisualizerCamera(
            distance_m * UNITS_PER_M,
            azimuth_deg + 90.0,
            -up_deg,
            (target_m * UNITS_PER_M).tolist(),
            physicsClientId=self._id,
        )
        azimuth, rise = math.radians(azimuth_deg), math.radians(up_deg)
        flat = np.array([math.cos(azimuth), math.sin(azimuth), 0.0])
        out = math.cos(rise) * flat + np.array([0.0, 0.0, math.sin(rise)])
        up = np.cross(out, [-math.sin(azimuth), math.cos(azimuth), 0.0])
        self._aimed = (*self._size, -out, up, distance_m * UNITS_PER_M, target_m * UNITS_PER_M)
        self._camera = self._aimed  # the window itself tells it only after the next frame

    def write(self, name: str, text: str, across: float, down: float, color: Color) -> None:
        """A line of text at a place of the picture, in place of the one with this name before.

        Nothing before the first `look`; write it again with each beat, as the user may move the
        camera.

        Args:
            name: of the line.
            text: empty for none.
            across: 0 at the left edge of the picture, 1 at the right.
            down: 0 at the top, 1 at the bottom.
            color: of the letters.
        """
        place = self._place(across, down)
        if place is None:
            return
        said = (text, *np.round(place, 3).tolist())
        if self._said.get(name) == said:
            return
        self._said[name] = said
        known = self._texts.get(name)
        replace = {} if known is None else {"replaceItemUniqueId": known}
        self._texts[name] = pybullet.addUserDebugText(
            text or " ", place.tolist(), color, 1.0, physicsClientId=self._id, **replace
        )

    def slider(self, name: str, low: float, high: float, value: float) -> int:
        """A new slider; `low` above `high` makes a button, whose value counts its presses."""
        return int(pybullet.addUserDebugParameter(name, low, high, value, physicsClientId=self._id))

    def panel(self, shown: bool) -> None:
        """Shows the panel with the sliders, or hides it; the window's own panels go with it."""
        pybullet.configureDebugVisualizer(
            pybullet.COV_ENABLE_GUI, int(shown), physicsClientId=self._id
        )

    def remove_sliders(self) -> None:
        """Takes all sliders and buttons away."""
        pybullet.removeAllUserParameters(physicsClientId=self._id)

    def value(self, slider: int) -> float:
        """Where a slider stands."""
        return float(pybullet.readUserDebugParameter(slider, physicsClientId=self._id))

    def keys(self) -> list[str]:
        """The keys that were pressed since the last call: characters, `left` and `right`."""
        self.check()
        self._camera = None
        names = {
            pybullet.B3G_LEFT_ARROW: "left",
            pybullet.B3G_RIGHT_ARROW: "right",
            27: "escape",
        }
        pressed = []
        for key, state in pybullet.getKeyboardEvents(physicsClientId=self._id).items():
            # Of a key that was down only between two calls nothing is told but its release.
            if key not in self._down:
                pressed.append(names.get(key, chr(key) if key < 256 else ""))
                self._down.add(key)
            if state & pybullet.KEY_WAS_RELEASED:
                self._down.discard(key)
        return pressed

    def _place(self, across: float, down: float) -> FloatArray | None:
        """Where a text has to be in the world to be seen at a place of the picture."""
        if self._camera is None:
            self._camera = self._seen() or self._aimed
        if self._camera is None:
            return None
        width, height, forward, up, distance, target = self._camera
        right = np.cross(forward, up)
        right /= math.sqrt(float(right @ right))
        over = np.cross(right, forward)
        half = math.tan(math.radians(0.5 * FIELD_DEG))
        near = 0.05 * distance  # before all that could hide it
        x = (2.0 * across - 1.0) * half * width / max(1, height)
        y = (1.0 - 2.0 * down) * half
        return np.asarray(target - distance * forward + near * (forward + x * right + y * over))

    def _seen(self) -> _Camera | None:
        """The camera as it is; None where PyBullet does not tell (a window without sliders)."""
        camera = pybullet.getDebugVisualizerCamera(physicsClientId=self._id)
        forward = np.array(camera[5])
        length = math.sqrt(float(forward @ forward))
        if not length:
            return None
        return (
            *camera[:2],
            forward / length,
            np.array(camera[4]),
            camera[10],
            np.array(camera[11]),
        )

    def _body(self, shape: int, state: RigidState) -> int:
        return int(
            pybullet.createMultiBody(
                0,
                -1,
                shape,
                basePosition=(state.position_m * UNITS_PER_M).tolist(),
                baseOrientation=state.quat_xyzw.tolist(),
                physicsClientId=self._id,
            )
        )

"""The sliders and buttons beside the stage, and what a show needs of a window."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from physim.roll import Setup
from physim.values import FloatArray, RigidState, Table
from physim.world.shaded import Color, ColoredMesh


class Stage(Protocol):
    """What a show needs of a window (`bullet_window.Window`)."""

    def clear(self) -> None: ...
    def add_table(self, table: Table, color: Color) -> None: ...
    def add(self, meshes: list[ColoredMesh], state: RigidState) -> list[int]: ...
    def move(self, handles: list[int], state: RigidState) -> None: ...
    def mark(self, places_m: list[FloatArray], color: Color) -> None: ...
    def outline(self, corners_m: FloatArray, color: Color) -> None: ...
    def unmark(self) -> None: ...
    def look(
        self, target_m: FloatArray, distance_m: float, azimuth_deg: float, up_deg: float
    ) -> None: ...
    def write(self, name: str, text: str, across: float, down: float, color: Color) -> None: ...
    def slider(self, name: str, low: float, high: float, value: float) -> int: ...
    def panel(self, shown: bool) -> None: ...
    def remove_sliders(self) -> None: ...
    def value(self, slider: int) -> float: ...
    def keys(self) -> list[str]: ...


class Knobs:
    """The sliders of surface and height, and buttons for the most common keys."""

    BUTTONS = (("roll again", "r"), ("same roll", "t"), ("bank", "b"), ("pause", " "))

    def __init__(self, stage: Stage, free: bool) -> None:
        self._stage = stage
        self._free = free
        self._sliders: dict[str, int] = {}
        self._first: dict[str, float] = {}
        self._now: dict[str, float] = {}
        self._buttons: dict[int, tuple[str, float]] = {}
        self.used = False
        """Whether the roll on the stage was made with a slider moved."""

    def applied(self, setup: Setup) -> Setup:
        """The setup with what the sliders say; they are made where there are none yet."""
        if not self._buttons:
            for name, key in self.BUTTONS:
                self._buttons[self._stage.slider(name, 1, 0, 0)] = (key, 0.0)
        if not self._free:
            return setup
        if not self._sliders:
            surface = setup.table.surface
            self._make("friction", 0.0, 2.0, surface.lateral_friction)
            self._make("restitution", 0.0, 0.95, surface.restitution)
            self._make("height [mm], 0: the toss's own", 0.0, 600.0, 0.0)
        friction, restitution, height_mm = self._now.values()
        moved = [abs(self._now[name] - self._first[name]) > 1e-3 for name in self._now]
        self.used = any(moved)
        surface = setup.table.surface
        if moved[0]:
            surface = replace(surface, lateral_friction=friction)
        if moved[1]:
            surface = replace(surface, restitution=restitution)
        toss = setup.toss.at_height(1e-3 * height_mm) if moved[2] and height_mm >= 1 else setup.toss
        return replace(setup, toss=toss, table=replace(setup.table, surface=surface))

    def turned(self) -> bool:
        """Whether a slider was moved since the last setup."""
        before = dict(self._now)
        self._now = {name: self._stage.value(slider) for name, slider in self._sliders.items()}
        return any(abs(self._now[name] - before[name]) > 1e-6 for name in before)

    def pressed(self) -> list[str]:
        """The keys that the buttons stand for, of those pressed since the last call."""
        keys = []
        for button, (key, count) in list(self._buttons.items()):
            value = self._stage.value(button)
            if value > count:
                keys.append(key)
            self._buttons[button] = (key, value)
        return keys

    def forget(self) -> None:
        """Takes the sliders away: the next setup has others."""
        self._stage.remove_sliders()
        self._sliders, self._first, self._now, self._buttons = {}, {}, {}, {}

    def _make(self, name: str, low: float, high: float, value: float) -> None:
        self._sliders[name] = self._stage.slider(name, low, high, value)
        self._first[name] = self._now[name] = value

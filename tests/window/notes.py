"""A window that only takes notes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from physim.render.camera import View
from physim.render.pig_meshes import Color, PlacedPig, pig_look
from physim.types import FloatArray, RigidState, Table
from physim.window.bullet_gui import Window


class Notes(Window):
    """No window."""

    aspect = 1.5

    def __init__(self) -> None:
        self.pressed: list[str] = []
        self.bodies: dict[int, RigidState] = {}
        self.texts: dict[str, str] = {}
        self.sliders: dict[int, float] = {}
        self.names: dict[str, int] = {}
        self.marks = 0
        self.looks: list[View] = []
        self.clears = 0

    def clear(self) -> None:
        self.bodies.clear()
        self.clears += 1

    def add_table(self, table: Table, color: Color) -> None:
        pass

    def add(self, pig: PlacedPig) -> list[int]:
        look = pig_look(pig.model)
        assert np.bincount(look.materials, minlength=len(look.names)).all()
        number = len(self.bodies)
        self.bodies[number] = pig.state
        return [number]

    def move(self, handles: Sequence[int], state: RigidState) -> None:
        for handle in handles:
            self.bodies[handle] = state

    def mark(self, places_m: Sequence[FloatArray], color: Color) -> None:
        self.marks += len(places_m)

    def outline(self, corners_m: FloatArray, color: Color) -> None:
        assert corners_m.shape[1] == 3

    def unmark(self) -> None:
        self.marks = 0

    def look(self, view: View) -> None:
        self.looks.append(view)

    def write(self, name: str, text: str, across: float, down: float, color: Color) -> None:
        assert text.isascii()  # the window's letters
        self.texts[name] = text

    def slider(self, name: str, low: float, high: float, value: float) -> int:
        number = len(self.names)
        self.names[name] = number
        self.sliders[number] = value
        return number

    def panel(self, shown: bool) -> None:
        self.shows_panel = shown

    def remove_sliders(self) -> None:
        self.names.clear()
        self.sliders.clear()

    def value(self, slider: int) -> float:
        return self.sliders[slider]

    def keys(self) -> list[str]:
        pressed, self.pressed = self.pressed, []
        return pressed

"""A stage that only takes notes."""

from __future__ import annotations

from physim.render.pig_meshes import Color, ColoredMesh
from physim.types import FloatArray, RigidState, Table


class Notes:
    """A stage without a window."""

    def __init__(self) -> None:
        self.pressed: list[str] = []
        self.bodies: dict[int, RigidState] = {}
        self.texts: dict[str, str] = {}
        self.sliders: dict[int, float] = {}
        self.names: dict[str, int] = {}
        self.marks = 0
        self.looks: list[tuple[float, ...]] = []
        self.clears = 0

    def clear(self) -> None:
        self.bodies.clear()
        self.clears += 1

    def add_table(self, table: Table, color: Color) -> None:
        pass

    def add(self, meshes: list[ColoredMesh], state: RigidState) -> list[int]:
        assert all(len(mesh.faces) for mesh in meshes)
        number = len(self.bodies)
        self.bodies[number] = state
        return [number]

    def move(self, handles: list[int], state: RigidState) -> None:
        for handle in handles:
            self.bodies[handle] = state

    def mark(self, places_m: list[FloatArray], color: Color) -> None:
        self.marks += len(places_m)

    def outline(self, corners_m: FloatArray, color: Color) -> None:
        assert corners_m.shape[1] == 3

    def unmark(self) -> None:
        self.marks = 0

    def look(
        self, target_m: FloatArray, distance_m: float, azimuth_deg: float, up_deg: float
    ) -> None:
        self.looks.append((*target_m.tolist(), distance_m, azimuth_deg, up_deg))

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

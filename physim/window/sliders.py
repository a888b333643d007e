"""The sliders and buttons beside the stage, and what a show needs of a window.

One recorded roll on a stage: its time, the camera, and the marks at rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from physim.render.camera import View, framing
from physim.render.film import toss_view
from physim.render.pictures import near
from physim.render.pig_meshes import Color, ColoredMesh, colored_meshes
from physim.render.replay import Replay
from physim.render.scene import table_color
from physim.simulator import Setup
from physim.types import FloatArray, RigidState, Table
from physim.window.bullet_gui import FIELD_DEG
from physim.window.overlay import CONTACT, SUPPORT, support_polygon


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


SPEEDS = (1.0, 0.25, 0.05)
STEP_S = 1 / 240  # a single step of the film
CLOSE_UP_S = 1.6  # on each pig at rest, where they lie far apart
INK: Color = (0.08, 0.07, 0.09)
FAINT: Color = (0.25, 0.23, 0.27)
WAIT = "the pigs are on their way ..."
_MIDDLE = (0.3, 0.5)


class Screening:
    """Shows one roll after the other; call `beat` again and again."""

    def __init__(self, stage: Stage, aspect: float) -> None:
        """Takes an empty stage, and the width of its picture over the height."""
        self._stage = stage
        self._aspect = aspect
        self._cast: tuple[object, ...] = ()  # what is on the stage
        self._handles: list[list[int]] = []
        self._close_up = -1
        self._last_s = 0.0
        self._idle_beats = 0
        self._rested_s = 0.0
        self.replay: Replay | None = None
        self.time_s = 0.0
        """Simulated time that is shown."""
        self.paused = False
        self.speed = SPEEDS[0]

    @property
    def rests(self) -> bool:
        """Whether the pigs have been seen to come to rest."""
        return self.replay is not None and self.time_s >= self.replay.ends_s

    def wait(self, view: View) -> None:
        """Says that a roll is on its way; without a graphics card each mesh takes seconds."""
        self._look(view)
        self._stage.write("wait", WAIT, *_MIDDLE, INK)

    def show(self, replay: Replay) -> None:
        """Begins a roll."""
        self.replay = replay
        self._dress(replay)
        self.again()

    def again(self) -> None:
        """Begins the same roll once more."""
        if self.replay is None:
            return
        # It stays there until the pigs rest: a camera that moves takes all texts along, and
        # each of them costs the window a frame.
        self._look(toss_view(self.replay, self._aspect, FIELD_DEG))
        self._stage.unmark()
        self.time_s, self._rested_s, self._close_up = 0.0, 0.0, -1
        self._idle_beats = 2  # to write all texts takes time, which is not the roll's

    def beat(self, now_s: float) -> None:
        """Brings the pigs to this moment of the wall clock."""
        passed_s = 0.0 if self._idle_beats else now_s - self._last_s
        self._last_s = now_s
        self._idle_beats = max(0, self._idle_beats - 1)
        replay = self.replay
        if replay is None:
            return
        if not self.paused:
            if self.rests:
                self._rested_s += passed_s
            self.time_s = min(self.time_s + passed_s * self.speed, replay.ends_s)
        pigs = replay.at_rest() if self.rests else replay.pigs(self.time_s)
        for handles, pig in zip(self._handles, pigs, strict=True):
            self._stage.move(handles, pig.state)
        if self.rests:
            self._rest(replay)

    def pause(self) -> None:
        """Stops the time, or lets it go on."""
        self.paused = not self.paused

    def step(self) -> None:
        """A single step of the film."""
        self.paused = True
        if self.replay is not None:
            self.time_s = min(self.time_s + STEP_S, self.replay.ends_s)

    def slower(self) -> None:
        """The next slower speed; after the slowest the first one."""
        self.speed = SPEEDS[(SPEEDS.index(self.speed) + 1) % len(SPEEDS)]

    def _look(self, view: View) -> None:
        self._stage.look(view.target_m, view.distance_m, view.azimuth_deg, view.elevation_deg)

    def _dress(self, replay: Replay) -> None:
        """Puts table and pigs on the stage, if others stand there."""
        cast = (replay.models, replay.table)
        if cast == self._cast:
            return
        self._cast = cast
        self.wait(toss_view(replay, self._aspect, FIELD_DEG))
        self._stage.clear()
        self._stage.add_table(replay.table, table_color(replay.table))
        self._handles = [
            self._stage.add(colored_meshes(pig.model, pig.name), pig.state)
            for pig in replay.pigs(0.0)
        ]
        self._stage.write("wait", "", *_MIDDLE, INK)

    def _rest(self, replay: Replay) -> None:
        """Marks what touches, and goes near to each pig once."""
        pigs = replay.at_rest()
        step = int(self._rested_s / CLOSE_UP_S)
        if self._close_up < 0:
            places = [c.position_m for pig in replay.roll.pigs for c in pig.contacts]
            self._stage.mark(places, _share(CONTACT))
            for model, pig in zip(replay.setup.pigs, pigs, strict=True):
                polygon = support_polygon(model, pig.state)
                if len(polygon) > 2:
                    flat = np.column_stack([polygon, np.full(len(polygon), 2e-4)])
                    self._stage.outline(flat, _share(SUPPORT))
        if step == self._close_up or step > 3 or (step > 0 and near(pigs)):
            return
        self._close_up = step
        seen = pigs if step in (0, 3) else [pigs[step - 1]]
        view = framing(seen, self._aspect, field_deg=FIELD_DEG)
        self._look(replace(view, distance_m=1.15 * view.distance_m))


def pose_lines(replay: Replay) -> dict[str, str]:
    """A line a pig: how it lies, and how clearly."""
    return {
        pig.name: f"{pig.name}: {pig.pose.value.replace('_', ' ')}, margin {pig.margin:.2f}"
        for pig in replay.roll.pigs
    }


def _share(color: tuple[int, int, int]) -> Color:
    red, green, blue = color
    return red / 255, green / 255, blue / 255

"""Recorded rolls in a window: their time, the camera, the marks at rest, and the keys for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from physim.render.camera import View, framing, toss_view
from physim.render.pictures import CONTACT, SUPPORT, Ink, headline, near, support_polygon
from physim.render.pig_meshes import Color
from physim.render.replay import Replay, ReplaySource
from physim.render.scene import table_color
from physim.window.bullet_gui import FIELD_DEG, Window

SPEEDS = (1.0, 0.25, 0.05)
STEP_S = 1 / 240  # a single step of the film
CLOSE_UP_S = 1.6  # on each pig at rest, where they lie far apart
INK: Color = (0.08, 0.07, 0.09)
FAINT: Color = (0.25, 0.23, 0.27)
WAIT = "the pigs are on their way ..."
_LINE = 0.04  # of the picture's height


class RollSession:
    """Shows rolls of a source. Use it with `with` in an open window; call `update` all the time.

    Attributes:
        replay: the roll that is shown.
        time_s: simulated time that is shown.
        paused: whether it stands still.
        speed: simulated time over the clock's.
        over: whether the user has ended it.
    """

    def __init__(self, window: Window, source: ReplaySource) -> None:
        """Takes a window and a source that need not be open yet."""
        self.window, self.source = window, source
        self.replay: Replay | None = None
        self.time_s, self.speed = 0.0, SPEEDS[0]
        self.paused = self.over = False
        self._in_window: tuple[object, ...] = ()
        self._handles: list[list[int]] = []
        self._close_up = -1
        self._last_s = self._rested_s = 0.0
        self._idle_updates = 0
        self._told = True

    def __enter__(self) -> RollSession:
        self.source.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.source.__exit__(*error)

    @property
    def rests(self) -> bool:
        """Whether the pigs have been seen to come to rest."""
        return self.replay is not None and self.time_s >= self.replay.ends_s

    def show(self, index: int) -> None:
        """Begins a roll."""
        self.replay = self.source.replay(index)
        self._told = False
        self._furnish(self.replay)
        self._again()

    def update(self, now_s: float) -> None:
        """Does what was pressed, and brings the pigs to this moment of the wall clock."""
        actions = self.actions()
        for key in self.pressed():
            if key in actions:
                actions[key]()
        if self.replay is None or self.over:
            return
        self._advance(self.replay, now_s)
        if self.rests and not self._told:
            self._told = True
            self.on_rest(self.replay)
        self.write_lines(self.replay)

    def pressed(self) -> list[str]:
        """The keys that were pressed since the last call."""
        return self.window.keys()

    def actions(self) -> dict[str, Callable[[], object]]:
        """What each key does."""
        return {
            " ": self._pause,
            ".": self._step,
            "right": self._step,
            "s": self._slower,
            "t": self._again,
            "q": self._quit,
            "escape": self._quit,
        }

    def on_rest(self, replay: Replay) -> None:
        """Is called once a roll, when the pigs have been seen to come to rest."""

    def write_lines(self, replay: Replay) -> None:
        """Writes what stands in the window."""

    def write(self, lines: Mapping[str, str], across: float, down: float, color: Color) -> None:
        """Named lines below each other."""
        for number, (name, line) in enumerate(lines.items()):
            self.window.write(name, line, across, down + _LINE * number, color)

    def result_lines(self, replay: Replay) -> dict[str, str]:
        """What the roll came to and how each pig lies, once they rest."""
        lines = {"outcome": headline(replay.roll)} | {
            pig.name: f"{pig.name}: {pig.pose.value.replace('_', ' ')}, margin {pig.margin:.2f}"
            for pig in replay.roll.pigs
        }
        return lines if self.rests else dict.fromkeys(lines, "")

    def wait(self, view: View) -> None:
        """Says that a roll is on its way; without a graphics card each mesh takes seconds."""
        self.window.look(view)
        self.window.write("wait", WAIT, 0.3, 0.5, INK)

    def _pause(self) -> None:
        self.paused = not self.paused

    def _step(self) -> None:
        self.paused = True
        if self.replay is not None:
            self.time_s = min(self.time_s + STEP_S, self.replay.ends_s)

    def _slower(self) -> None:
        self.speed = SPEEDS[(SPEEDS.index(self.speed) + 1) % len(SPEEDS)]

    def _quit(self) -> None:
        self.over = True

    def _again(self) -> None:
        """Begins the same roll once more."""
        if self.replay is None:
            return
        # It stays there until the pigs rest: a camera that moves takes all texts along, and
        # each of them costs the window a frame.
        self.window.look(toss_view(self.replay, self.window.aspect, FIELD_DEG))
        self.window.unmark()
        self.time_s, self._rested_s, self._close_up = 0.0, 0.0, -1
        self._idle_updates = 2  # to write all texts takes time, which is not the roll's

    def _advance(self, replay: Replay, now_s: float) -> None:
        passed_s = 0.0 if self._idle_updates else now_s - self._last_s
        self._last_s = now_s
        self._idle_updates = max(0, self._idle_updates - 1)
        if not self.paused:
            if self.rests:
                self._rested_s += passed_s
            self.time_s = min(self.time_s + passed_s * self.speed, replay.ends_s)
        pigs = replay.at_rest() if self.rests else replay.pigs(self.time_s)
        for handles, pig in zip(self._handles, pigs, strict=True):
            self.window.move(handles, pig.state)
        if self.rests:
            self._show_rest(replay)

    def _furnish(self, replay: Replay) -> None:
        """Puts table and pigs into the window, if others are there."""
        if self._in_window == (replay.models, replay.table):
            return
        self._in_window = (replay.models, replay.table)
        self.wait(toss_view(replay, self.window.aspect, FIELD_DEG))
        self.window.clear()
        self.window.add_table(replay.table, table_color(replay.table))
        self._handles = [self.window.add(pig) for pig in replay.pigs(0.0)]
        self.window.write("wait", "", 0.3, 0.5, INK)

    def _show_rest(self, replay: Replay) -> None:
        """Marks what touches, and goes near to each pig once."""
        pigs = replay.at_rest()
        if self._close_up < 0:
            places = [c.position_m for pig in replay.roll.pigs for c in pig.contacts]
            self.window.mark(places, _share(CONTACT))
            for model, pig in zip(replay.setup.pigs, pigs, strict=True):
                polygon = support_polygon(model, pig.state)
                if len(polygon) > 2:
                    flat = np.column_stack([polygon, np.full(len(polygon), 2e-4)])
                    self.window.outline(flat, _share(SUPPORT))
        step = int(self._rested_s / CLOSE_UP_S)
        if step == self._close_up or step > 3 or (step > 0 and near(pigs)):
            return
        self._close_up = step
        seen = pigs if step in (0, 3) else [pigs[step - 1]]
        view = framing(seen, self.window.aspect, field_deg=FIELD_DEG)
        self.window.look(replace(view, distance_m=1.15 * view.distance_m))


def _share(color: Ink) -> Color:
    red, green, blue = color
    return red / 255, green / 255, blue / 255

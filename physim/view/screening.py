"""One recorded roll on a stage: its time, the camera, and the marks at rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from physim.view.camera import View
from physim.view.film import toss_view
from physim.view.framing import framing
from physim.view.knobs import Stage
from physim.view.pigs import colored_meshes
from physim.view.reading import CONTACT, SUPPORT, support_polygon
from physim.view.replay import Replay
from physim.view.scene import table_color
from physim.view.sheet import near
from physim.world.bullet_window import FIELD_DEG
from physim.world.shaded import Color

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

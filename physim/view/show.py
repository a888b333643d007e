"""What goes on in the window: rolls, one after the other, and what keys and sliders do to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from physim.batch.plan import BatchPlan
from physim.pigs.library import model_names
from physim.roll import Setup
from physim.seeding import MAX_SEED
from physim.tosses.library import toss_names
from physim.values import PIG_NAMES
from physim.view.camera import View
from physim.view.caption import headline
from physim.view.film import toss_view
from physim.view.framing import framing
from physim.view.knobs import Knobs, Stage
from physim.view.pigs import colored_meshes
from physim.view.reading import CONTACT, SUPPORT, support_polygon
from physim.view.replay import Replay, RunTheatre, Theatre
from physim.view.scene import table_color
from physim.view.session import Session
from physim.view.sheet import near
from physim.world.bullet_window import FIELD_DEG, Color
from physim.world.scene import surface_names

SPEEDS = (1.0, 0.25, 0.05)
STEP_S = 1 / 240  # a single step of the film
CLOSE_UP_S = 1.6  # on each pig at rest, where they lie far apart
INK: Color = (0.08, 0.07, 0.09)
FAINT: Color = (0.25, 0.23, 0.27)
HELP = (
    "r roll again, t same roll, n next, p previous, b bank, space pause, . step, s slow",
    "m model, o toss, u surface, g sliders (they act on the next roll), q quit",
)


class Show:
    """Rolls in a window. Use it with `with`; call `beat` again and again."""

    def __init__(
        self, stage: Stage, plan: BatchPlan, index: int, run: Path | None, aspect: float
    ) -> None:
        self._stage = stage
        self._plan = plan
        self._run = run
        self._aspect = aspect
        self._theatre: Theatre | None = None
        self._cast: tuple[object, ...] = ()  # what is on the stage
        self._handles: list[list[int]] = []
        self._knobs = Knobs(stage, free=run is None)
        self._close_up = -1
        self._note = ""
        self.index = index
        self.session = Session()
        self.replay: Replay | None = None
        self.time_s = 0.0
        """Simulated time that is shown."""
        self.paused = False
        self._shows_panel = False
        self.speed = SPEEDS[0]
        self.over = False
        self._last_s = 0.0
        self._idle_beats = 0
        self._rested_s = 0.0
        self._counts = True
        self._judged = False

    def __enter__(self) -> Show:
        self._open()
        self._begin(new=True)
        return self

    def __exit__(self, *error: object) -> None:
        self._close()

    @property
    def setup(self) -> Setup:
        """What the roll on the stage was made with."""
        if self.replay is None:
            raise RuntimeError("a show is opened by `with`")
        return self.replay.setup

    def beat(self, now_s: float) -> None:
        """Brings the stage to this moment of the wall clock."""
        for key in [*self._stage.keys(), *self._knobs.pressed()]:
            self.press(key)
        passed_s = 0.0 if self._idle_beats else now_s - self._last_s
        self._last_s = now_s
        self._idle_beats = max(0, self._idle_beats - 1)
        replay = self.replay
        if self.over or replay is None:
            return
        if not self.paused:
            if self.time_s >= replay.ends_s:
                self._rested_s += passed_s
            self.time_s = min(self.time_s + passed_s * self.speed, replay.ends_s)
        self._draw(replay)

    def press(self, key: str) -> None:
        """Does what a key says."""
        action = self._actions().get(key)
        if action is not None:
            action()

    def _actions(self) -> dict[str, Callable[[], None]]:
        return {
            " ": self._pause,
            ".": self._step,
            "right": self._step,
            "s": self._slower,
            "r": lambda: self._roll(1),
            "n": lambda: self._roll(1, counts=False),
            "p": lambda: self._roll(-1, counts=False),
            "t": lambda: self._begin(new=False),
            "b": self._bank,
            "g": self._panel,
            "m": lambda: self._next("model", list(model_names())),
            "o": lambda: self._next("toss", toss_names()),
            "u": lambda: self._next("surface", surface_names()),
            "q": self._quit,
            "escape": self._quit,
        }

    def _quit(self) -> None:
        self.over = True

    def _pause(self) -> None:
        self.paused = not self.paused

    def _step(self) -> None:
        self.paused = True
        if self.replay is not None:
            self.time_s = min(self.time_s + STEP_S, self.replay.ends_s)

    def _slower(self) -> None:
        self.speed = SPEEDS[(SPEEDS.index(self.speed) + 1) % len(SPEEDS)]

    def _panel(self) -> None:
        self._shows_panel = not self._shows_panel
        self._stage.panel(self._shows_panel)

    def _bank(self) -> None:
        self.session.bank()

    def _roll(self, by: int, counts: bool = True) -> None:
        """The roll that many indices on."""
        last = self._plan.n - 1 if self._run is not None else MAX_SEED
        wanted = self.index + by
        if not 0 <= wanted <= last:
            self._note = f"there is no roll {wanted}"
            return
        self.index = wanted
        self._counts = counts
        if self._knobs.turned():
            self._open()
        self._begin(new=True)

    def _next(self, name: str, names: list[str]) -> None:
        """The next model, toss or surface."""
        if self._run is not None:
            self._note = f"the {name} is the dataset's"
            return
        now = getattr(self._plan, name) or self.setup.table.surface.name
        which = (names.index(now) + 1) % len(names) if now in names else 0
        changed: dict[str, Any] = {name: names[which]}
        if name == "model":
            changed |= {"black": None, "pink": None}
        self._plan = replace(self._plan, **changed)
        self._knobs.forget()
        self._open()
        self._begin(new=True)

    def _open(self) -> None:
        self._close()
        if self._run is not None:
            theatre: Theatre = RunTheatre(self._run)
            self._plan = theatre.plan
            self._knobs.applied(theatre.plan.setup())  # buttons only
        else:
            theatre = Theatre(self._plan, self._knobs.applied(self._plan.setup()))
        self._theatre = theatre.__enter__()

    def _close(self) -> None:
        if self._theatre is not None:
            self._theatre.__exit__(None, None, None)
        self._theatre = None

    def _begin(self, new: bool) -> None:
        """Shows the roll of the index, a new one or once more."""
        if self._theatre is None:
            raise RuntimeError("a show is opened by `with`")
        if new:
            self.replay = self._theatre.replay(self.index)
            self._judged = False
            self._note = ""
            self._dress(self.replay)
        if self.replay is not None:
            # It stays there until the pigs rest: a camera that moves takes all texts along, and
            # each of them costs the window a frame.
            self._look(toss_view(self.replay, self._aspect, FIELD_DEG))
        self._stage.unmark()
        self.time_s, self._rested_s, self._close_up = 0.0, 0.0, -1
        self._idle_beats = 2  # to write all texts takes time, which is not the roll's

    def _look(self, view: View) -> None:
        self._stage.look(view.target_m, view.distance_m, view.azimuth_deg, view.elevation_deg)

    def _dress(self, replay: Replay) -> None:
        """Puts table and pigs on the stage, if others stand there."""
        cast = (replay.models, replay.table)
        if cast == self._cast:
            return
        self._cast = cast
        self._stage.clear()
        self._stage.add_table(replay.table, table_color(replay.table))
        self._handles = [
            self._stage.add(colored_meshes(pig.model, pig.name), pig.state)
            for pig in replay.pigs(0.0)
        ]

    def _draw(self, replay: Replay) -> None:
        rests = self.time_s >= replay.ends_s
        pigs = replay.at_rest() if rests else replay.pigs(self.time_s)
        for handles, pig in zip(self._handles, pigs, strict=True):
            self._stage.move(handles, pig.state)
        if rests:
            self._rest(replay)
        self._write(replay, rests)

    def _rest(self, replay: Replay) -> None:
        """Counts the roll, marks what touches, and goes near to each pig once."""
        if not self._judged:
            self._judged = True
            self.session.add(replay.roll, turn=self._counts)
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

    def _write(self, replay: Replay, rests: bool) -> None:
        plan, roll = self._plan, replay.roll
        models = " and ".join(dict.fromkeys(replay.models))
        state = f"speed {self.speed:g}"
        if self.paused:
            state = f"{self.time_s:.3f} s, paused"
        elif rests:
            state = f"{self.time_s:.3f} s"
        turned = ", changed" if self._knobs.used else ""
        lines = {
            "roll": f"seed {plan.seed}, roll {self.index}: {models}, {plan.toss}, "
            f"{replay.table.surface.name}{turned}; {state}",
            "outcome": headline(roll) if rests else "",
            "turn": f"turn {self.session.turn_total}, banked {self.session.banked}",
            "note": self._note,
        }
        for name, pig in zip(PIG_NAMES, roll.pigs, strict=True):
            text = f"{name}: {pig.pose.value.replace('_', ' ')}, margin {pig.margin:.2f}"
            lines[name] = text if rests else ""
        order = ("roll", "outcome", *PIG_NAMES, "turn", "note")
        for number, name in enumerate(order):
            self._stage.write(name, lines[name], 0.02, 0.05 + 0.045 * number, INK)
        for number, line in enumerate(self.session.tally()):
            self._stage.write(f"tally {number}", line, 0.66, 0.05 + 0.04 * number, FAINT)
        for number, line in enumerate(HELP):
            self._stage.write(f"help {number}", line, 0.02, 0.93 + 0.04 * number, FAINT)


def _share(color: tuple[int, int, int]) -> Color:
    red, green, blue = color
    return red / 255, green / 255, blue / 255

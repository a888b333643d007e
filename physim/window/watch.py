"""`physim watch`: rolls in a window, one after the other, and what keys and sliders do to them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from physim.dataset.plan import BatchPlan
from physim.physics.surfaces import surface_names
from physim.pigs.model_file import model_names, own_names
from physim.render.camera import View
from physim.render.replay import DatasetReplaySource, Replay, ReplaySource
from physim.seeding import MAX_SEED
from physim.simulator import Setup
from physim.statistics.counts import NAMED_POSES
from physim.statistics.tables import load_table, pool_poses
from physim.tosses.release import toss_names
from physim.types import Outcome, Pose, Roll, Status
from physim.window.bullet_gui import FIELD_DEG, Window
from physim.window.session import FAINT, INK, RollSession
from physim.window.window_process import WindowProcess, serve

HELP = (
    "r roll again, t same roll, n next, p previous, b bank, space pause, . step, s slow",
    "m model, o toss, u surface, g sliders (they act on the next roll), q quit",
)
REFERENCE = "kern2006"


def watch(plan: dict[str, Any], index: int, run: Path | None, width: int, height: int) -> None:
    """Opens the window and waits until it is closed.

    Args:
        plan: what `BatchPlan` takes; not used with `run`.
        index: of the first roll.
        run: a dataset whose rolls are shown, or None.
        width: of the window [pixels].
        height: [pixels].

    Raises:
        DisplayError: no display, or it went away.
        PhysimError: an unusable name or dataset.
    """
    dataset = None if run is None else str(run)
    asked = {"plan": plan, "index": index, "run": dataset, "size": [width, height]}
    with WindowProcess("physim.window.watch", asked) as window:
        window.check_end()


class WatchSession(RollSession):
    """The rolls of a plan, or of a dataset, with a score and a tally of what was seen."""

    _sliders: Sliders  # from `__enter__` on: they need the window

    def __init__(self, window: Window, source: ReplaySource, index: int) -> None:
        """Takes the index of the first roll."""
        super().__init__(window, source)
        self.index = index
        self.score = WatchScore()
        self._fixed = isinstance(source, DatasetReplaySource)
        self._shows_panel = False
        self._counts = True
        self._note = ""

    def __enter__(self) -> WatchSession:
        self.wait(View(np.zeros(3), 0.5, 30.0, 30.0, FIELD_DEG))
        super().__enter__()
        self._sliders = Sliders(self.window, self.source.setup, movable=not self._fixed)
        self.show(self.index)
        return self

    def pressed(self) -> list[str]:
        """Keys, and buttons as the keys that they stand for."""
        return [*self.window.keys(), *self._sliders.pressed()]

    def actions(self) -> dict[str, Callable[[], object]]:
        """What each key does."""
        return super().actions() | {
            "r": lambda: self._roll(1),
            "n": lambda: self._roll(1, counts=False),
            "p": lambda: self._roll(-1, counts=False),
            "b": self.score.bank,
            "g": self._panel,
            "m": lambda: self._next("model", [*model_names(), *own_names()]),
            "o": lambda: self._next("toss", toss_names()),
            "u": lambda: self._next("surface", surface_names()),
        }

    def on_rest(self, replay: Replay) -> None:
        """Counts the roll."""
        self.score.add(replay.roll, turn=self._counts)

    def write_lines(self, replay: Replay) -> None:
        """Writes what was rolled and how, the score, the tally and the keys."""
        plan, surface = self.source.plan, replay.table.surface.name
        models = " and ".join(dict.fromkeys(replay.models))
        changed = ", changed" if self._sliders.used else ""
        state = f"{self.time_s:.3f} s" if self.paused or self.rests else f"speed {self.speed:g}"
        state += ", paused" if self.paused else ""
        roll = f"seed {plan.seed}, roll {self.index}: {models}, {plan.toss}, {surface}{changed}"
        turn = f"turn {self.score.turn_total}, banked {self.score.banked}"
        lines = {"roll": f"{roll}; {state}", **self.result_lines(replay), "turn": turn}
        self.write({**lines, "note": self._note}, 0.02, 0.05, INK)
        tally = {f"tally {number}": line for number, line in enumerate(self.score.tally())}
        self.write(tally, 0.66, 0.05, FAINT)
        self.write({f"help {number}": line for number, line in enumerate(HELP)}, 0.02, 0.93, FAINT)

    def _panel(self) -> None:
        self._shows_panel = not self._shows_panel
        self.window.panel(self._shows_panel)

    def _roll(self, by: int, counts: bool = True) -> None:
        """The roll that many indices on."""
        last = self.source.plan.n - 1 if self._fixed else MAX_SEED
        wanted = self.index + by
        if not 0 <= wanted <= last:
            self._note = f"there is no roll {wanted}"
            return
        self.index, self._counts, self._note = wanted, counts, ""
        if self._sliders.moved():
            self._open(ReplaySource(self.source.plan, self._sliders.setup()))
        self.show(self.index)

    def _next(self, name: str, names: list[str]) -> None:
        """The next model, toss or surface."""
        if self._fixed:
            self._note = f"the {name} is the dataset's"
            return
        self._note, plan = "", self.source.plan
        now = getattr(plan, name) or self.source.setup.table.surface.name
        which = (names.index(now) + 1) % len(names) if now in names else 0
        changed: dict[str, Any] = {name: names[which]}
        if name == "model":
            changed |= {"black": None, "pink": None}
        self._open(ReplaySource(replace(plan, **changed)))
        self._sliders = Sliders(self.window, self.source.setup, movable=True)
        self.show(self.index)

    def _open(self, source: ReplaySource) -> None:
        self.source.__exit__(None, None, None)
        self.source = source
        source.__enter__()


class Sliders:
    """The sliders of surface and height, and buttons for the most common keys.

    Attributes:
        used: whether the last setup was made with a slider moved.
    """

    BUTTONS: Mapping[str, str] = {"roll again": "r", "same roll": "t", "bank": "b", "pause": " "}

    def __init__(self, window: Window, base: Setup, movable: bool) -> None:
        """Puts them into an open window, in place of others; the sliders only if `movable`.

        The rolls are made with `base` where no slider is moved.
        """
        self._window, self._base, self.used = window, base, False
        window.remove_sliders()
        self._buttons = {window.slider(name, 1, 0, 0): key for name, key in self.BUTTONS.items()}
        self._presses = dict.fromkeys(self._buttons, 0.0)
        ranges = {
            "friction": (2.0, base.table.surface.lateral_friction),
            "restitution": (0.95, base.table.surface.restitution),
            "height [mm], 0: the toss's own": (600.0, 0.0),
        }
        shown = ranges if movable else {}
        self._sliders = [window.slider(name, 0.0, *of) for name, of in shown.items()]
        self._first = self._now = [value for _, value in shown.values()]

    def moved(self) -> bool:
        """Whether a slider was moved since the last call."""
        before, self._now = self._now, [self._window.value(slider) for slider in self._sliders]
        return not np.allclose(before, self._now, rtol=0.0, atol=1e-6)

    def setup(self) -> Setup:
        """What the next rolls are made with."""
        friction, restitution, height_mm = self._now
        moved = [abs(now - first) > 1e-3 for now, first in zip(self._now, self._first, strict=True)]
        self.used = any(moved)
        surface, toss = self._base.table.surface, self._base.toss
        if moved[0]:
            surface = replace(surface, lateral_friction=friction)
        if moved[1]:
            surface = replace(surface, restitution=restitution)
        if moved[2] and height_mm >= 1:
            toss = toss.at_height(1e-3 * height_mm)
        return replace(self._base, toss=toss, table=replace(self._base.table, surface=surface))

    def pressed(self) -> list[str]:
        """The keys of the buttons that were pressed since the last call."""
        presses = {button: self._window.value(button) for button in self._buttons}
        before, self._presses = self._presses, presses
        return [self._buttons[b] for b in presses if presses[b] > before[b]]


@dataclass
class WatchScore:
    """What was rolled while someone watched, and the points of a turn.

    Attributes:
        rolls: that were counted.
        poses: pigs by pose, of rolls in which the pigs lie alone.
        turn_total: points since the last bank; lost with a pig out.
        banked: points that are safe from a pig out; an oinker takes them too.
    """

    rolls: int = 0
    poses: Counter[Pose] = field(default_factory=Counter)
    turn_total: int = 0
    banked: int = 0

    def add(self, roll: Roll, turn: bool = True) -> None:
        """Counts a roll, and adds its points to the turn."""
        self.rolls += 1
        if roll.status is Status.OK and not roll.touching:
            self.poses.update(pig.pose for pig in roll.pigs)
        if not turn or roll.score is None:
            return
        self.turn_total = self.turn_total + roll.score if roll.score else 0
        if roll.outcome in (Outcome.OINKER, Outcome.PIGGYBACK):
            self.banked = 0

    def bank(self) -> None:
        """Makes the turn's points safe; a new turn begins."""
        self.banked += self.turn_total
        self.turn_total = 0

    def tally(self) -> list[str]:
        """A line a pose: how often, in percent, and how often real pigs do so."""
        real = pool_poses(load_table(REFERENCE))
        pigs, all_real = max(1, self.poses.total()), sum(real.values())
        lines = [f"{self.rolls} roll{'' if self.rolls == 1 else 's'}, pigs (real pigs)"]
        for pose in NAMED_POSES:
            count, real_share = self.poses[pose], 100 * real[pose] / all_real
            name = pose.value.replace("_", " ")
            lines.append(f"{name}: {count}, {100 * count / pigs:.1f} % ({real_share:.1f} %)")
        return lines


def _session(window: Window, asked: Mapping[str, Any], say: Callable[[str], None]) -> WatchSession:
    del say
    if asked["run"] is not None:
        return WatchSession(window, DatasetReplaySource(asked["run"]), asked["index"])
    return WatchSession(window, ReplaySource(BatchPlan(n=1, **asked["plan"])), asked["index"])


if __name__ == "__main__":
    sys.exit(serve(_session))

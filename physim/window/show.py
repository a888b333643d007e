"""What goes on in the window: rolls, one after the other, and what keys and sliders do to them.

`physim watch`: rolls in a window until it is closed.

What was rolled while someone watched: a tally, and the points of a turn.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from physim.dataset.plan import BatchPlan
from physim.physics.surfaces import surface_names
from physim.pigs.model_file import model_names, own_names
from physim.render.camera import View
from physim.render.pictures import headline
from physim.render.replay import Replay, RunTheatre, Theatre
from physim.seeding import MAX_SEED
from physim.simulator import Setup
from physim.statistics.counts import NAMED_POSES
from physim.statistics.tables import load_table, pool_poses
from physim.tosses.library import toss_names
from physim.types import PIG_NAMES, Outcome, Pose, Roll, Status
from physim.window.bullet_gui import FIELD_DEG
from physim.window.child import OPEN, check_ending, frames, serve, start, stop
from physim.window.sliders import FAINT, INK, Knobs, Screening, Stage, pose_lines

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
        self._theatre: Theatre | None = None
        self._knobs = Knobs(stage, free=run is None)
        self._note = ""
        self.index = index
        self.session = Session()
        self.screening = Screening(stage, aspect)
        self._shows_panel = False
        self.over = False
        self._counts = True
        self._judged = False

    def __enter__(self) -> Show:
        self.screening.wait(View(np.zeros(3), 0.5, 30.0, 30.0, FIELD_DEG))
        self._open()
        self._begin()
        return self

    def __exit__(self, *error: object) -> None:
        self._close()

    @property
    def setup(self) -> Setup:
        """What the roll on the stage was made with."""
        return self.replay.setup

    @property
    def replay(self) -> Replay:
        """The roll on the stage."""
        replay = self.screening.replay
        if replay is None:
            raise RuntimeError("a show is opened by `with`")
        return replay

    def beat(self, now_s: float) -> None:
        """Brings the stage to this moment of the wall clock."""
        for key in [*self._stage.keys(), *self._knobs.pressed()]:
            self.press(key)
        if self.over:
            return
        self.screening.beat(now_s)
        if self.screening.rests and not self._judged:
            self._judged = True
            self.session.add(self.replay.roll, turn=self._counts)
        self._write(self.replay)

    def press(self, key: str) -> None:
        """Does what a key says."""
        action = self._actions().get(key)
        if action is not None:
            action()

    def _actions(self) -> dict[str, Callable[[], None]]:
        return {
            " ": self.screening.pause,
            ".": self.screening.step,
            "right": self.screening.step,
            "s": self.screening.slower,
            "r": lambda: self._roll(1),
            "n": lambda: self._roll(1, counts=False),
            "p": lambda: self._roll(-1, counts=False),
            "t": self.screening.again,
            "b": self.session.bank,
            "g": self._panel,
            "m": lambda: self._next("model", [*model_names(), *own_names()]),
            "o": lambda: self._next("toss", toss_names()),
            "u": lambda: self._next("surface", surface_names()),
            "q": self._quit,
            "escape": self._quit,
        }

    def _quit(self) -> None:
        self.over = True

    def _panel(self) -> None:
        self._shows_panel = not self._shows_panel
        self._stage.panel(self._shows_panel)

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
        self._begin()

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
        self._begin()

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

    def _begin(self) -> None:
        """Shows the roll of the index."""
        if self._theatre is None:
            raise RuntimeError("a show is opened by `with`")
        self._judged = False
        self._note = ""
        self.screening.show(self._theatre.replay(self.index))

    def _write(self, replay: Replay) -> None:
        plan, roll = self._plan, replay.roll
        models = " and ".join(dict.fromkeys(replay.models))
        screening, rests = self.screening, self.screening.rests
        state = f"speed {screening.speed:g}"
        if screening.paused:
            state = f"{screening.time_s:.3f} s, paused"
        elif rests:
            state = f"{screening.time_s:.3f} s"
        turned = ", changed" if self._knobs.used else ""
        lines = {
            "roll": f"seed {plan.seed}, roll {self.index}: {models}, {plan.toss}, "
            f"{replay.table.surface.name}{turned}; {state}",
            "outcome": headline(roll) if rests else "",
            "turn": f"turn {self.session.turn_total}, banked {self.session.banked}",
            "note": self._note,
        }
        for name, line in pose_lines(replay).items():
            lines[name] = line if rests else ""
        order = ("roll", "outcome", *PIG_NAMES, "turn", "note")
        for number, name in enumerate(order):
            self._stage.write(name, lines[name], 0.02, 0.05 + 0.045 * number, INK)
        for number, line in enumerate(self.session.tally()):
            self._stage.write(f"tally {number}", line, 0.66, 0.05 + 0.04 * number, FAINT)
        for number, line in enumerate(HELP):
            self._stage.write(f"help {number}", line, 0.02, 0.93 + 0.04 * number, FAINT)


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
    asked = {
        "plan": plan,
        "index": index,
        "run": None if run is None else str(run),
        "size": [width, height],
    }
    process = start("physim.render.watch")
    try:
        said, _ = process.communicate(json.dumps(asked))
    finally:
        stop(process)
    opened = said.startswith(OPEN)
    check_ending(process.returncode, said.removeprefix(OPEN).strip(), opened)


def _show(out: TextIO) -> None:
    """The window's process: reads on stdin what is asked for."""
    asked = json.loads(sys.stdin.read())
    from physim.dataset.plan import BatchPlan
    from physim.window.bullet_gui import Window

    run = None if asked["run"] is None else Path(asked["run"])
    width, height = asked["size"]
    plan = BatchPlan(n=1, **asked["plan"])
    with Window(width, height) as window:
        print(OPEN, file=out, flush=True)
        with Show(window, plan, asked["index"], run, width / height) as show:
            for now_s in frames():
                show.beat(now_s)
                if show.over:
                    break


if __name__ == "__main__":
    sys.exit(serve(_show))


REFERENCE = "kern2006"


@dataclass
class Session:
    """Counts and points so far.

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
        """The turn's points are safe; a new turn begins."""
        self.banked += self.turn_total
        self.turn_total = 0

    def tally(self) -> list[str]:
        """A line a pose: how often, in percent, and how often real pigs do so."""
        real = pool_poses(load_table(REFERENCE))
        pigs, all_real = sum(self.poses.values()), sum(real.values())
        lines = [f"{self.rolls} roll{'' if self.rolls == 1 else 's'}, pigs (real pigs)"]
        for pose in NAMED_POSES:
            share = f"{100 * self.poses[pose] / pigs:.1f}" if pigs else "-"
            name = pose.value.replace("_", " ")
            lines.append(
                f"{name}: {self.poses[pose]}, {share} % ({100 * real[pose] / all_real:.1f} %)"
            )
        return lines

"""A window beside a game: each roll is shown in it when it is thrown.

What goes on in the window beside a game: its rolls, one when it is thrown.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TextIO

from physim.errors import DisplayError
from physim.render.pictures import headline
from physim.render.replay import Replay, Theatre
from physim.window.child import OPEN, check_ending, frames, serve, start, stop
from physim.window.sliders import FAINT, INK, Screening, Stage, pose_lines

SIZE = (1000, 700)  # pixels: a terminal has room beside it
_SEEN = "seen"
_END_S = 5.0  # after which a process that does not end is ended


class GameWindow:
    """The window's process, seen from the game. Use it with `with`."""

    def __init__(self, plan: Mapping[str, Any], size: tuple[int, int] = SIZE) -> None:
        """Takes what `BatchPlan` takes, seed included, as values for JSON, and width and height."""
        self._plan, self._size = dict(plan), size
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> GameWindow:
        """Opens the window.

        Raises:
            DisplayError: no display.
            PhysimError: an unusable name in the plan.
        """
        try:
            self._process = self._opened()
        except DisplayError as error:
            raise DisplayError(f"{error}; without --watch a game needs none") from None
        return self

    def __exit__(self, *error: object) -> None:
        self._close()

    def _opened(self) -> subprocess.Popen[str]:
        process = start("physim.render.game_window")
        try:
            said = _asked(process, {"plan": self._plan, "size": self._size})
            if said.strip() != OPEN:
                said += _rest_of(process)
                check_ending(process.wait(), said.strip(), opened=False)
        except BaseException:
            stop(process)
            raise
        return process

    def show(self, index: int, title: str) -> bool:
        """Shows a roll, and waits until the pigs have been seen to come to rest.

        Args:
            index: of the roll.
            title: stands above it.

        Returns:
            Whether it was seen; otherwise the window is no longer there.
        """
        if self._process is None:
            return False
        if _asked(self._process, {"index": index, "title": title}).strip() == _SEEN:
            return True
        self._close()
        return False

    def _close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        with suppress(subprocess.TimeoutExpired, OSError):
            process.stdin.close()  # the end of it is the end of the window
            process.wait(_END_S)
        stop(process)


def _asked(process: subprocess.Popen[str], what: Mapping[str, Any]) -> str:
    """The line that the process answers with; empty if it has ended."""
    assert process.stdin is not None and process.stdout is not None
    with suppress(OSError):
        process.stdin.write(json.dumps(what) + "\n")
        process.stdin.flush()
    return process.stdout.readline()


def _rest_of(process: subprocess.Popen[str]) -> str:
    """What else a process that ends has said."""
    assert process.stdout is not None
    return process.stdout.read()


def _show(out: TextIO) -> None:
    """The window's process: reads on stdin what is asked for, a line a roll."""
    asked = json.loads(sys.stdin.readline())
    from physim.dataset.plan import BatchPlan
    from physim.render.replay import Theatre
    from physim.window.bullet_gui import Window

    width, height = asked["size"]
    with (
        Theatre(BatchPlan(n=1, **asked["plan"])) as theatre,
        Window(width, height) as window,
    ):
        print(OPEN, file=out, flush=True)
        show = GameShow(window, theatre, width / height, lambda: print(_SEEN, file=out, flush=True))
        lines = SimpleQueue[str]()
        # Waiting for a line would keep the window from being drawn.
        threading.Thread(target=_read, args=(lines,), daemon=True).start()
        for now_s in frames():
            with suppress(Empty):
                line = lines.get_nowait()
                if not line:  # the game has ended
                    break
                show.show(**json.loads(line))
            show.beat(now_s)
            if show.over:
                break


def _read(lines: SimpleQueue[str]) -> None:
    """Puts each line of stdin there, and an empty one at its end."""
    line = "\n"
    while line:
        line = sys.stdin.readline()
        lines.put(line)


if __name__ == "__main__":
    sys.exit(serve(_show))


HELP = "space pause, . step, s slow, t same roll, q closes the window; you play in the terminal"


class GameShow:
    """Rolls in a window; the game decides which. Call `beat` again and again."""

    def __init__(
        self, stage: Stage, theatre: Theatre, aspect: float, seen: Callable[[], None]
    ) -> None:
        """Takes an empty stage, an open theatre, width over height, and whom to tell.

        `seen` is called once a roll, when the pigs have been seen to come to rest.
        """
        self._stage, self._theatre, self._seen = stage, theatre, seen
        self._screening = Screening(stage, aspect)
        self._title, self._told = "", True
        self.over = False

    def show(self, index: int, title: str) -> None:
        """Begins a roll, under a title."""
        self._title = title.encode("ascii", "replace").decode()  # the window has no other letters
        self._told = False
        self._screening.show(self._theatre.replay(index))

    def beat(self, now_s: float) -> None:
        """Brings the stage to this moment of the wall clock."""
        pressed = self._stage.keys()
        for key in pressed:
            self._actions().get(key, lambda: None)()
        self._screening.beat(now_s)
        if self._screening.replay is not None:  # before it the window has no camera to write for
            self._write(self._screening.replay)
        if self._screening.rests and not self._told:
            self._told = True
            self._seen()

    def _actions(self) -> dict[str, Callable[[], None]]:
        screening = self._screening
        return {
            " ": screening.pause,
            ".": screening.step,
            "right": screening.step,
            "s": screening.slower,
            "t": screening.again,
            "q": self._quit,
            "escape": self._quit,
        }

    def _quit(self) -> None:
        self.over = True

    def _write(self, replay: Replay) -> None:
        lines = {"title": self._title, "outcome": headline(replay.roll), **pose_lines(replay)}
        for number, (name, line) in enumerate(lines.items()):
            known = name == "title" or self._screening.rests
            self._stage.write(name, line if known else "", 0.02, 0.05 + 0.045 * number, INK)
        self._stage.write("help", HELP, 0.02, 0.95, FAINT)

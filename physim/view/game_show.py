"""What goes on in the window beside a game: its rolls, one when it is thrown."""

from __future__ import annotations

from collections.abc import Callable

from physim.view.caption import headline
from physim.view.knobs import Stage
from physim.view.replay import Replay, Theatre
from physim.view.screening import FAINT, INK, Screening, pose_lines

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

"""A window beside a game: each roll is shown in it when it is thrown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from physim.dataset.plan import BatchPlan
from physim.errors import DisplayError
from physim.render.replay import Replay, ReplaySource
from physim.window.bullet_gui import Window
from physim.window.session import FAINT, INK, RollSession
from physim.window.window_process import WindowProcess, serve

SIZE = (1000, 700)  # pixels: a terminal has room beside it
HELP = "space pause, . step, s slow, t same roll, q closes the window; you play in the terminal"
_SEEN = "seen"


class GameWindow(WindowProcess):
    """The window's process, seen from the game. Use it with `with`."""

    def __init__(self, plan: Mapping[str, Any], size: tuple[int, int] = SIZE) -> None:
        """Takes what `BatchPlan` takes, seed included, as values for JSON, and width and height."""
        super().__init__("physim.window.game_window", {"plan": dict(plan), "size": size})

    def __enter__(self) -> GameWindow:
        try:
            super().__enter__()
        except DisplayError as error:
            raise DisplayError(f"{error}; without --watch a game needs none") from None
        return self

    def show(self, index: int, title: str) -> bool:
        """Shows a roll under a title, and waits until the pigs have been seen to come to rest.

        False says that it was not seen: the window is no longer there.
        """
        if self.ask({"index": index, "title": title}) == _SEEN:
            return True
        self.__exit__()
        return False


class GameSession(RollSession):
    """Rolls in a window; the game decides which."""

    def __init__(self, window: Window, source: ReplaySource, seen: Callable[[], None]) -> None:
        """Takes whom to tell once a roll, when the pigs have been seen to come to rest."""
        super().__init__(window, source)
        self._seen = seen
        self._title = ""

    def show(self, index: int, title: str = "") -> None:
        """Begins a roll, under a title."""
        self._title = title.encode("ascii", "replace").decode()  # the window has no other letters
        super().show(index)

    def on_rest(self, replay: Replay) -> None:
        """Tells the game."""
        self._seen()

    def write_lines(self, replay: Replay) -> None:
        """Writes title, result and help."""
        self.write({"title": self._title, **self.result_lines(replay)}, 0.02, 0.05, INK)
        self.write({"help": HELP}, 0.02, 0.95, FAINT)


def _session(window: Window, asked: Mapping[str, Any], say: Callable[[str], None]) -> GameSession:
    source = ReplaySource(BatchPlan(n=1, **asked["plan"]))
    return GameSession(window, source, lambda: say(_SEEN))


if __name__ == "__main__":
    sys.exit(serve(_session))

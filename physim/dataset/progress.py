"""How far a command is: one line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TextIO

_TERMINAL_S, _LOG_S = 0.2, 10.0  # between two texts
_ENOUGH = 20  # new rolls, before a rate means anything


class ProgressLine:
    """Rolls done, rolls per second and the time left. Call it with done and total.

    A stream that is closed or full silences it: a batch does not stop for that.

    Args:
        stream: where it is shown.
        things: what is counted.
        after_s: for how long it stays silent at first.
    """

    def __init__(self, stream: TextIO | None, things: str = "rolls", after_s: float = 0.0) -> None:
        self._stream, self._things = stream, things
        self._terminal = stream is not None and stream.isatty()
        self._wait_s = _TERMINAL_S if self._terminal else _LOG_S
        self._silent_until_s = self._next_s = time.monotonic() + after_s
        self._began_s = 0.0
        self._first: int | None = None
        self._width = 0

    def begin(self, text: str) -> None:
        """Says on a terminal what goes on until the first roll is there."""
        if self._terminal:
            self._write(text)

    def note(self, text: str) -> None:
        """Shows what is at work, where there is no total to count towards."""
        now = time.monotonic()
        if now >= self._next_s:
            self._next_s = now + self._wait_s
            self._write(text)

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first, self._began_s = done, now
            if 0 < done < total:
                self._write(f"{done:,} of {total:,} {self._things} were there already")
            return
        if done >= total and now >= self._silent_until_s:
            self._next_s = now
        new, seconds = done - self._first, max(now - self._began_s, 1e-9)
        text = f"{done:,} of {total:,} {self._things}"
        if new >= _ENOUGH or done >= total:
            left = timedelta(seconds=round((total - done) * seconds / max(new, 1)))
            text += f", {new / seconds:,.1f}/s, {str(left).removeprefix('0:')} left"
        self.note(text)

    def restart(self, things: str = "rolls") -> None:
        """Ends the line, and begins one of other things."""
        self.close()
        self._things, self._first = things, None

    def close(self) -> None:
        """Ends the line that was rewritten."""
        if self._width:
            self._write("", "\n")

    def _write(self, text: str, end: str = "") -> None:
        line = "\r" + text.ljust(self._width) if self._terminal else text + "\n"
        self._width = len(text) if self._terminal else 0
        try:
            if self._stream is not None:
                self._stream.write(end or line)
                self._stream.flush()
        except (OSError, ValueError):
            self._stream = None

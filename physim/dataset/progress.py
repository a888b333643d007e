"""How far a command is: one line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TextIO

_TERMINAL_S = 0.2
_LOG_S = 10.0
_ENOUGH = 20  # new rolls, before a rate means anything


class ProgressLine:
    """Rolls done, rolls per second and the time left. Call it with done and total.

    A stream that is closed or full silences it: a batch does not stop for that.
    """

    def __init__(self, stream: TextIO | None, things: str = "rolls", after_s: float = 0.0) -> None:
        """Takes where it is shown, what is counted, and for how long it stays silent at first."""
        self._stream, self._things = stream, things
        self._silent_until_s = time.monotonic() + after_s if after_s else 0.0
        self._terminal = stream is not None and stream.isatty()
        self._began_s = self._shown_s = 0.0
        self._first: int | None = None
        self._told = False  # whether a first result was shown
        self._width = 0

    def begin(self, text: str) -> None:
        """Says on a terminal what goes on until the first roll is there."""
        if self._terminal:
            self._write(text)

    def note(self, text: str) -> None:
        """Shows what is at work, where there is no total to count towards."""
        now = time.monotonic()
        wait_s = (_TERMINAL_S if self._terminal else _LOG_S) if self._told else 0.0
        if now >= max(self._silent_until_s, self._shown_s + wait_s):
            self._told, self._shown_s = True, now
            self._write(text)

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first, self._began_s, self._shown_s = done, now, now
            if done and done < total:
                self._write(f"{done:,} of {total:,} {self._things} were there already")
            return
        if now < self._silent_until_s:
            return
        wait_s = (_TERMINAL_S if self._terminal else _LOG_S) if self._told else 0.0
        self._told = True
        if now - self._shown_s < wait_s and done < total:
            return
        self._shown_s = now
        new = done - self._first
        text = f"{done:,} of {total:,} {self._things}"
        if new >= _ENOUGH or done >= total:
            rate = new / max(now - self._began_s, 1e-9)
            text += f", {rate:,.1f}/s, {_clock((total - done) / rate) if rate else '?'} left"
        self._write(text)

    def close(self) -> None:
        """Ends the line that was rewritten."""
        if self._width:
            self._put("\n")
            self._width = 0

    def _write(self, text: str) -> None:
        if self._terminal:
            self._put("\r" + text.ljust(self._width))
            self._width = len(text)
        else:
            self._put(text + "\n")

    def _put(self, text: str) -> None:
        if self._stream is None:
            return
        with suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()
            return
        self._stream = None


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

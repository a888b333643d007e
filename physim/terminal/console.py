"""Where people read and type: a terminal, or plain lines through pipes.

The one door to the terminal library.
"""

from __future__ import annotations

import io
import os
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession


COLUMNS = 80


class Console(Protocol):
    """Tells and asks."""

    def say(self, text: str = "") -> None:
        """One line, seen at once."""
        ...

    def ask(self, prompt: str, status: str = "", words: Sequence[str] = ()) -> str:
        """A line that somebody types.

        Args:
            prompt: stands before it.
            status: of the game, where there is room for it.
            words: that may be completed.

        Raises:
            EOFError: there is no more input.
        """
        ...


class Lines:
    """Plain lines: through pipes, and in a terminal that cannot move its cursor."""

    def __init__(self, stdin: TextIO, stdout: TextIO) -> None:
        self._stdin, self._stdout = stdin, stdout
        self._typed = stdin.isatty()

    def say(self, text: str = "") -> None:
        _write(self._stdout, text)

    def ask(self, prompt: str, status: str = "", words: Sequence[str] = ()) -> str:
        del status, words
        if self._typed:  # what comes through a pipe was written without seeing the question
            self._stdout.write(prompt)
            self._stdout.flush()
        try:
            line = self._stdin.readline()
            if not line:
                raise EOFError
        except (EOFError, KeyboardInterrupt):
            if self._typed:  # what comes next begins a line
                self.say()
            raise
        line = line.rstrip("\r\n")
        if not self._typed:
            self.say(f"> {line}")
        return line


class Terminal:
    """A terminal: lines that can be edited and completed, the game's status below them."""

    def __init__(self, stdout: TextIO) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.output import create_output
        from prompt_toolkit.shortcuts import CompleteStyle

        self._stdout = stdout
        self._session: PromptSession[str] = PromptSession(
            output=create_output(stdout),  # heeds NO_COLOR
            complete_style=CompleteStyle.READLINE_LIKE,  # keeps no lines free for a menu
            complete_while_typing=False,
        )

    def say(self, text: str = "") -> None:
        _write(self._stdout, text)

    def ask(self, prompt: str, status: str = "", words: Sequence[str] = ()) -> str:
        from prompt_toolkit.completion import WordCompleter

        completer = WordCompleter(list(words), WORD=True)
        toolbar = _FIT.fill(status) or None
        return self._session.prompt(prompt, completer=completer, bottom_toolbar=toolbar)


def open_console(stdout: TextIO) -> Console:
    """The console of this process, with its results on `stdout`."""
    stdin = sys.stdin
    if stdin is None or stdin.closed:
        stdin = io.StringIO()
    elif isinstance(stdin, io.TextIOWrapper):
        stdin.reconfigure(errors="replace")  # a strange byte is a wrong move, not a failure
    if stdin.isatty() and stdout.isatty() and os.environ.get("TERM", "dumb") not in _CANNOT:
        return Terminal(stdout)
    return Lines(stdin, stdout)


def _write(stream: TextIO, text: str) -> None:
    """A line, or as many as it takes in 80 columns."""
    if len(text) >= COLUMNS and "\n" not in text:
        text = _FIT.fill(text)
    stream.write(text + "\n")
    stream.flush()


_FIT = textwrap.TextWrapper(
    COLUMNS - 1, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
)
_CANNOT = ("dumb", "unknown", "")

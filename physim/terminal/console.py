"""Where people read and type: a terminal, or plain lines through pipes.

The one door to the terminal library.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
from collections.abc import Collection
from contextlib import suppress
from typing import TextIO

_CANNOT = ("dumb", "unknown", "")  # terminals that cannot move their cursor
_COLUMNS, _FEWEST_COLUMNS = 79, 20
_DEEP = 10  # an indentation that goes on with the last column of a help text
_GAP = re.compile(r"(?<=\S) {2,}(?!.*\S {2,})")  # before the last column of a help text


def width(text: str) -> int:
    """Columns that a text takes: two for a wide letter, none for one that is joined to another."""
    if text.isascii():
        return len(text)
    from prompt_toolkit.utils import get_cwidth

    return get_cwidth(text)


def fitted(line: str, columns: int) -> list[str]:
    """A line in as many as it takes; words are broken only where they are wider than a line."""
    if width(line) <= columns:
        return [line]
    own = line[: len(line) - len(line.lstrip())]
    if len(own) < _DEEP:
        indent = max(own, "  ")
    else:
        own = indent = "    "
    lines, current = [], own
    for word in line.split():
        joint = "" if not current.strip() else " "
        if joint and width(current + joint + word) > columns:
            lines.append(current)
            current, joint = indent, ""
        current += joint
        for letter in word:
            if width(current + letter) > columns:
                lines.append(current)
                current = indent
            current += letter
    return [*lines, current]


class Console:
    """Tells and asks.

    In a terminal, lines can be edited and completed, and the game's status stands below them.
    Elsewhere, and in a terminal that cannot move its cursor, there are plain lines.

    Attributes:
        terminal: whether it can be edited.
        typed: whether people type, rather than a script through a pipe.
    """

    def __init__(self, stdout: TextIO) -> None:
        """Takes stdin as this process has it, and where to write."""
        stdin = sys.stdin
        if stdin is None or stdin.closed:
            stdin = io.StringIO()
        elif isinstance(stdin, io.TextIOWrapper):
            stdin.reconfigure(errors="replace")  # a strange byte is a wrong move, not a failure
        self._stdin, self._stdout, self.typed = stdin, stdout, stdin.isatty()
        self.terminal = (
            self.typed and stdout.isatty() and os.environ.get("TERM", "dumb") not in _CANNOT
        )
        if self.terminal:
            from prompt_toolkit import PromptSession
            from prompt_toolkit.output import create_output
            from prompt_toolkit.shortcuts import CompleteStyle

            self._session: PromptSession[str] = PromptSession(
                enable_suspend=True,  # Ctrl-Z is the shell's
                output=create_output(stdout),  # heeds NO_COLOR
                complete_style=CompleteStyle.READLINE_LIKE,  # keeps no lines free for a menu
                complete_while_typing=False,
            )

    def say(self, text: str = "") -> None:
        """Writes a line, or as many as it takes in this terminal, seen at once."""
        columns = self.columns
        for line in text.split("\n"):
            parts = [line] if width(line) <= columns else _GAP.split(line, maxsplit=1)
            told = [*fitted(parts[0], columns)]
            for part in parts[1:]:
                told += fitted(f"    {part}", columns)
            self._stdout.write("\n".join(told) + "\n")
        self._stdout.flush()

    @property
    def columns(self) -> int:
        """That a line may take; of a terminal that is wider than 80, no more than of one of 80."""
        if not self._stdout.isatty():
            return _COLUMNS
        wide = shutil.get_terminal_size().columns
        with suppress(OSError, ValueError):
            wide = os.get_terminal_size(self._stdout.fileno()).columns or wide
        return min(_COLUMNS, max(_FEWEST_COLUMNS, wide - 1))

    def ask(self, prompt: str, status: str = "", words: Collection[str] = ()) -> str:
        """A line that somebody types after the prompt; EOFError where there is no more input.

        Args:
            prompt: stands before it.
            status: of the game, where there is room for it.
            words: that may be completed.
        """
        if self.terminal:
            from prompt_toolkit.completion import WordCompleter

            completer = WordCompleter(list(words), WORD=True)
            toolbar = "\n".join(fitted(status, self.columns)) or None
            return self._session.prompt(prompt, completer=completer, bottom_toolbar=toolbar)
        if self.typed:  # what comes through a pipe was written without seeing the question
            self._stdout.write(prompt)
            self._stdout.flush()
        try:
            line = self._stdin.readline()
            if not line:
                raise EOFError
        except (EOFError, KeyboardInterrupt):
            if self.typed:  # what comes next begins a line
                self.say()
            raise
        line = line.rstrip("\r\n")
        if not self.typed:
            self.say(f"> {line}")
        return line

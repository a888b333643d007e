"""Where people read and type: a terminal, or plain lines through pipes.

The one door to the terminal library.
"""

from __future__ import annotations

import io
import os
import sys
import textwrap
from collections.abc import Collection
from typing import TextIO

_CANNOT = ("dumb", "unknown", "")  # terminals that cannot move their cursor
_FIT = textwrap.TextWrapper(
    79, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
)


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
        """Writes a line, or as many as it takes in 80 columns, seen at once."""
        if len(text) > _FIT.width and "\n" not in text:
            text = _FIT.fill(text)
        self._stdout.write(text + "\n")
        self._stdout.flush()

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
            toolbar = _FIT.fill(status) or None
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

"""Standard streams that may be closed, full or gone: no command fails for what it cannot say."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO


def open_missing() -> None:
    """Opens the null device in place of each closed standard stream.

    Otherwise the next file that is opened would take its number, and get what is printed.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # the lowest free number is this one
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdout is None:
        sys.stdout = _stream(1)
    if sys.stderr is None:
        sys.stderr = _stream(2)


def say(text: str) -> None:
    """One line on stderr, if it can be written to."""
    with suppress(OSError, ValueError):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


def drop_unwritable() -> None:
    """What is still buffered for a closed or full stream must not fail again at exit."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, number)
            os.close(nowhere)
        except ValueError:  # closed by Python code; nothing is left to write
            pass


def _stream(number: int) -> TextIO:
    return os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace", closefd=False)

"""A stdout that holds results and nothing else.

Standard streams that may be closed, full or gone: no command fails for what it cannot say.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO


@contextmanager
def resumable(out: object) -> Iterator[None]:
    """Meanwhile an interrupt says that what was finished is kept in `out`, and how to go on."""
    try:
        yield
    except KeyboardInterrupt as stop:
        kept = f"what was finished is kept in {out}: run the same command to go on"
        raise type(stop)(f"interrupted; {kept if out else 'nothing was kept'}") from None


@contextmanager
def clean_stdout() -> Iterator[TextIO]:
    """The real stdout; what libraries print meanwhile, from C too, goes to stderr."""
    sys.stdout.flush()
    ours = os.dup(1)
    os.dup2(2, 1)
    results = stream(ours, STDOUT)
    try:
        yield results
        results.flush()
    finally:
        sys.stdout.flush()
        with suppress(OSError):  # a closed pipe was reported already
            results.close()
        os.dup2(ours, 1)
        os.close(ours)


def print_json(value: Any, to: TextIO, *, indent: int | None = 2) -> None:
    """One JSON value and a newline, seen by the reader at once."""
    json.dump(value, to, indent=indent, allow_nan=False)
    to.write("\n")
    to.flush()


STDOUT, STDERR = "stdout", "stderr"


def own_streams() -> None:
    """Puts streams of our own in place of the standard ones: they name themselves in an error.

    The null device takes the place of each that is closed. Otherwise the next file that is
    opened would take its number, and get what is printed.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # the lowest free number is this one
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    sys.stdout = _own(sys.stdout, 1, STDOUT)
    sys.stderr = _own(sys.stderr, 2, STDERR)


def stream(number: int, name: str, **how: Any) -> TextIO:
    """A stream that writes whatever its encoding: a letter that it does not know as its code.

    Args:
        number: of the open file.
        name: that an `OSError` of it carries as its file's.
        how: as for `io.TextIOWrapper`.
    """
    how = {"encoding": "utf-8", "errors": "backslashreplace"} | how
    return io.TextIOWrapper(io.BufferedWriter(_Raw(number, name)), **how)


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


class _Raw(io.FileIO):
    """An open file of another owner that names itself in an error."""

    def __init__(self, number: int, name: str) -> None:
        super().__init__(number, "w", closefd=False)
        self._told_as = name

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError as error:
            error.filename = self._told_as
            raise


def _own(given: TextIO | None, number: int, name: str) -> TextIO:
    """Our own stream in place of Python's; what somebody else has put there stays."""
    if given is None:
        return stream(number, name)
    if given not in (sys.__stdout__, sys.__stderr__) or not isinstance(given, io.TextIOWrapper):
        return given
    given.flush()
    return stream(
        number,
        name,
        encoding=given.encoding,
        line_buffering=given.line_buffering,
        write_through=given.write_through,
    )

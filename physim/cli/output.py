"""A stdout that holds results and nothing else."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO


@contextmanager
def clean_stdout() -> Iterator[TextIO]:
    """The real stdout; what libraries print meanwhile, from C too, goes to stderr."""
    sys.stdout.flush()
    ours = os.dup(1)
    os.dup2(2, 1)
    stream = os.fdopen(os.dup(ours), "w", encoding="utf-8", errors="backslashreplace")
    try:
        yield stream
        stream.flush()
    finally:
        sys.stdout.flush()
        os.dup2(ours, 1)
        os.close(ours)
        with suppress(OSError):  # a closed pipe was reported already
            stream.close()


def print_json(value: Any, stream: TextIO, *, indent: int | None = 2) -> None:
    """One JSON value and a newline, seen by the reader at once."""
    json.dump(value, stream, indent=indent, allow_nan=False)
    stream.write("\n")
    stream.flush()

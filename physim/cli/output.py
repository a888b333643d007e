"""A stdout that holds results and nothing else."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from physim.cli.streams import STDOUT, stream


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

"""What is told on Ctrl-C by commands that keep their rolls in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def kept_rolls(out: Path) -> Iterator[None]:
    """Meanwhile an interrupt says that what was rolled is kept."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise type(stop)(
            f"interrupted; what was finished is kept in {out}: run the same command to go on"
        ) from None

"""What several tests ask of datasets and of processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from physim.dataset.parquet import read_columns


def rows_in(folder: Path) -> list[tuple[Any, ...]]:
    """All rows, floats to the last bit."""
    columns = read_columns(folder)
    return [tuple(map(repr, row)) for row in zip(*columns.values(), strict=True)]


def files_in(folder: Path) -> dict[str, bytes]:
    """The parts by name."""
    return {
        path.name: path.read_bytes() for path in sorted((folder / "rolls").glob("part-*.parquet"))
    }


def wait_until(there: Callable[[], Any], timeout_s: float = 60.0) -> None:
    end = time.monotonic() + timeout_s
    while not there():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)

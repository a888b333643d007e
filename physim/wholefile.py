"""Files that are whole or not there, whenever the process or the machine stops."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

UNFINISHED = ".unfinished"


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file so that a kill or a full disk leaves the old one or the new one.

    Raises:
        OSError: a full disk, or a folder that cannot be written to.
    """
    unfinished = path.with_name(f".{path.name}{UNFINISHED}")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        _sync_folder(path.parent)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()
        raise


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""Files that are whole or not there, and a folder with one writer at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from physim import wholefile
from physim.errors import DatasetError

_LOCK_NAME = ".lock"


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file so that a kill at any moment leaves the old one or the new one.

    Raises:
        DatasetError: a full disk, or a folder that cannot be written to.
    """
    try:
        wholefile.write_whole(path, content)
    except OSError as error:
        raise DatasetError(
            f"{path}: cannot be written ({error.strerror}); finished parts are kept: "
            "free some space or choose another folder, and run the same command again"
        ) from error


def make_folder(folder: Path) -> None:
    """Makes a folder if need be.

    Raises:
        DatasetError: none can be made there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatasetError(
            f"{folder}: cannot be used as a dataset folder ({error.strerror}); choose another one"
        ) from error


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Makes the folder if need be, and keeps other runs out of it.

    Raises:
        DatasetError: no folder can be made there, or another run is writing to it.
    """
    with ExitStack() as held:
        make_folder(folder)
        try:
            lock = held.enter_context((folder / _LOCK_NAME).open("a"))
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for left_over in folder.rglob(f".*{wholefile.UNFINISHED}"):
                left_over.unlink()
        except BlockingIOError:
            raise DatasetError(
                f"{folder}: another run is writing to it; wait for it to end or choose another "
                "folder"
            ) from None
        except OSError as error:
            raise DatasetError(
                f"{folder}: cannot be used as a dataset folder ({error.strerror}); choose "
                "another one"
            ) from error
        yield

"""Files that are whole or not there, and a folder with one writer at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from physim import files
from physim.errors import DatasetError
from physim.files import locked, real_path, told

_LOCK_NAME = ".lock"


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file so that a kill at any moment leaves the old one or the new one.

    Raises:
        DatasetError: a full disk, or a folder that cannot be written to.
    """
    remedy = (
        "finished parts are kept: free some space or choose another folder, and run the same "
        "command again"
    )
    with told(DatasetError, f"{path}: cannot be written", remedy):
        files.write_whole(path, content)


def make_folder(folder: Path) -> None:
    """Makes a folder if need be.

    Raises:
        DatasetError: none can be made there.
    """
    with usable(folder):
        real_path(folder).mkdir(parents=True, exist_ok=True)


def usable(folder: Path) -> AbstractContextManager[None]:
    """Meanwhile a refusal is told as one of this folder for datasets."""
    return told(DatasetError, f"{folder}: cannot be used as a dataset folder", "choose another one")


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Makes the folder if need be, and keeps other runs out of it.

    Raises:
        DatasetError: no folder can be made there, or another run is writing to it.
    """
    with ExitStack() as held:
        make_folder(folder)
        with usable(folder):
            lock = held.enter_context((folder / _LOCK_NAME).open("a"))
            if not locked(lock.fileno()):
                raise DatasetError(
                    f"{folder}: another run is writing to it; wait for it to end or choose "
                    "another folder"
                )
            for left_over in folder.rglob(f".*{files.UNFINISHED}"):
                left_over.unlink()
        yield

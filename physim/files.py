"""Files: read and replaced so that each is whole or not there; and a system's refusal, told.

Also where the data folders `meshes/` and `calibration/` are, and the user's own models.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from physim.errors import ConfigError, PhysimError, shown_name

MAX_BYTES = 100_000_000  # of a file that is read whole; none of ours comes near
UNFINISHED = ".unfinished"
_LONGEST_NAME = 255  # bytes, of all usual file systems
_ROOM = "free some space"
_SCRATCH = "physim-scratch-"
_PASSING = (_SCRATCH, "pymp-", "listener-")  # temporary files, also Python's for its processes
_scratch_folders: set[Path] = set()  # that this process has had
_OPEN_FILES = "raise the limit of open files (`ulimit -n`), or ask for fewer workers"
_REMEDIES = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: "raise the limit of a file's size (`ulimit -f`)",
    errno.EMFILE: _OPEN_FILES,
    errno.ENFILE: _OPEN_FILES,
    errno.EAGAIN: "raise the limit of processes (`ulimit -u`), or ask for fewer workers",
    errno.ENOMEM: "free some memory or raise its limit (`ulimit -v`), or ask for fewer workers",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ELOOP: "its links lead round in a circle: remove them",
    errno.ENOLCK: "choose a folder on a file system that can lock files",
}
_PACKAGE = Path(__file__).resolve().parent


def refusal(error: OSError, what: str, remedy: str = "") -> str:
    """What a system refused ("a.png: cannot be written"), why, and what to do, as one message.

    The remedy stands beside that of the refusal's own kind, if it has one.
    """
    cause = error.strerror or " ".join(str(error).split()) or type(error).__name__
    own = _REMEDIES.get(error.errno or 0, "")
    if own not in remedy:
        remedy = f"{own}; {remedy}" if remedy else own
    passing = tuple(str(Path(tempfile.gettempdir(), start)) for start in _PASSING)
    if str(error.filename).startswith(passing):
        what = f"{what}: {shown_name(error.filename)}"
        remedy = "leave the temporary files alone, or set TMPDIR to a folder that has room"
    return f"{what} ({cause})" + (f"; {remedy}" if remedy else "")


@contextmanager
def told(kind: type[PhysimError], what: str, remedy: str = "") -> Iterator[None]:
    """Meanwhile a system's refusal is raised as a `kind`, with the text of `refusal`."""
    try:
        yield
    except OSError as error:
        raise kind(refusal(error, what, remedy)) from error


def read_plain(
    path: Path, kind: type[PhysimError], remedy: str, most_bytes: int = MAX_BYTES
) -> bytes:
    """The content of a plain file; another one, such as a pipe, would let the reader wait for ever.

    Raises:
        kind: no such file, no plain file, a larger one, or it may not be read; with the remedy.
    """
    name = str(path) if len(str(path)) <= _LONGEST_NAME else shown_name(path)
    with told(kind, f"{name}: cannot be read", remedy):
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise kind(f"{name}: no plain file; {remedy}")
        if status.st_size > most_bytes:
            raise kind(f"{name}: larger than {most_bytes:,} bytes; {remedy}")
        return path.read_bytes()


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file so that a kill or a full disk leaves the old one or the new one."""
    with replaced(path) as unfinished, unfinished.open("wb") as file:
        file.write(content)


@contextmanager
def replaced(path: Path, like: Path | None = None) -> Iterator[Path]:
    """An empty file beside the one to be, which takes its place in the end.

    What a link leads to is replaced, not the link; another name of the same file (a hard link)
    keeps the old content. The new file has the mode and attributes of the old one, and its owner
    where that is allowed; or those of the file `like`. Devices, pipes and what a shell has open are
    written to and stay.

    Raises:
        OSError: a file that is read-only, or a folder that cannot be written to.
    """
    target = real_path(path)
    old = writable(target)
    if _is_open(target) or (old is not None and not stat.S_ISREG(old.st_mode)):
        with scratch() as folder:
            yield folder / "content"
            # A pipe that nobody reads is refused.
            handle = os.open(target, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
            os.set_blocking(handle, True)
            with os.fdopen(handle, "wb") as sink:
                sink.write((folder / "content").read_bytes())
        return
    model = like or (None if old is None else target)
    # Each writer has its own: two at once would mix theirs.
    unfinished = beside(target, f".{secrets.token_hex(4)}{UNFINISHED}")
    unfinished.touch(0o666 if model is None else 0o600, exist_ok=False)
    try:
        if model is not None:
            _take_after(unfinished, model)
        yield unfinished
        _sync(unfinished, os.O_WRONLY)
        unfinished.replace(target)
        _sync(target.parent, os.O_RDONLY)
    finally:
        with suppress(OSError):
            unfinished.unlink()


def real_path(path: Path) -> Path:
    """Where a path leads, its links followed; the file need not be there.

    Links to what a process has open, such as /dev/stdout, are not: their text may name no file.
    """
    target = path
    for _ in range(40):  # links one after the other, as in Linux
        if _is_open(target) or not target.is_symlink():
            return target
        target = target.parent / target.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def writable(target: Path) -> os.stat_result | None:
    """The status of a file that may be replaced, not read-only; None where there is none."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "it is read-only", str(target))
    return status


def beside(path: Path, ending: str) -> Path:
    """A hidden file beside another one, named after it as far as names may be long."""
    name = f".{path.name}{ending}"
    if len(os.fsencode(name)) > _LONGEST_NAME:
        name = f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:32]}{ending}"
    return path.with_name(name)


def locked(handle: int) -> bool:
    """Locks an open file for this process alone; False where another one has it."""
    import fcntl  # no module of Windows, where much else works

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for passing files, which goes in the end; a ConfigError where there is no place."""
    remedy = "set TMPDIR to a folder that can be written to and whose name is UTF-8"
    with told(ConfigError, "no folder for temporary files", remedy):
        folder = tempfile.TemporaryDirectory(prefix=_SCRATCH, ignore_cleanup_errors=True)
    with folder as name:
        _scratch_folders.add(Path(name))
        if name.encode(errors="replace").decode() != name:  # the engine could not open its files
            raise ConfigError(f"{Path(name).parent}: cannot be used; {remedy}")
        yield Path(name)


def remove_scratch() -> None:
    """Removes all such folders of this process, before it ends without leaving them."""
    for folder in tuple(_scratch_folders):
        shutil.rmtree(folder, ignore_errors=True)


def write_passing(path: Path, text: str) -> Path:
    """Writes a file in such a folder; a ConfigError where there is no room."""
    what = f"{path}: no temporary file can be written; TMPDIR may name another place"
    with told(ConfigError, what):
        path.write_text(text)
    return path


def _is_open(target: Path) -> bool:
    """Whether it is one of the open files of a process, as /proc names them."""
    return os.path.realpath(target.parent).startswith("/proc/")


def _take_after(path: Path, model: Path) -> None:
    """Gives a file the owner, the group, the mode and the attributes (access lists) of another.

    What the system does not allow is left: until then nobody else may read it.
    """
    status = model.stat()
    for owner in ((-1, status.st_gid), (status.st_uid, -1)):
        with suppress(PermissionError, AttributeError):  # Windows has none
            os.chown(path, *owner)
    with suppress(OSError):
        shutil.copystat(model, path)


def _sync(path: Path, access: int) -> None:
    """Waits until a file is on the disk, where the file system can tell."""
    try:
        handle = os.open(path, access)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno in (errno.EIO, errno.ENOSPC, errno.EDQUOT):
            raise
    finally:
        os.close(handle)


def data_folder(name: str) -> Path:
    """The folder `meshes` or `calibration`: inside a wheel's package, or beside a checkout's."""
    packaged = _PACKAGE / "data" / name
    return packaged if packaged.is_dir() else _PACKAGE.parent / name


def own_models() -> Path:
    """The folder of the models that the user added by name; need not be there."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "physim" / "models"

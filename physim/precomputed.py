"""Results that take long and depend on a model's files alone, kept in a file beside those.

A result is found by a hash of all that it was computed from and carries one of itself: one of other
files or another method, or one that was edited, is computed anew. `physim model build` writes the
file; loading a model reads it. What is kept elsewhere, such as compiled code, is sealed likewise.
The hashes guard against accidents; a model is trusted as its maker is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from physim.errors import ModelError
from physim.files import read_plain, write_whole

FILE_NAME = "computed.json"
METHODS = 2  # raise when anything that is kept comes to be computed otherwise, and build the models
_LARGEST = 10_000_000  # bytes; ours have 20,000
_SEAL = hashlib.sha256().digest_size

_known: dict[str, Any] = {}
_own: ContextVar[Mapping[str, Any]] = ContextVar("_own")  # of the model at hand
_record: dict[str, Any] | None = None  # of all results, while one is made


def result(method: str, inputs: bytes, compute: Callable[[], Any]) -> Any:
    """What `compute` gives of all `inputs`, or gave to whoever wrote a file that was read.

    The values are plain JSON; floats come back with every bit.
    """
    key = f"{method} {METHODS} {hashlib.sha256(inputs).hexdigest()}"
    if _record is not None:
        _record[key] = compute()
        return _record[key]
    own = _own.get({})
    if key in own:
        return own[key]
    return _known[key] if key in _known else compute()


def read(path: Path) -> dict[str, Any]:
    """The results of a file, which are made known too; one that is missing or broken holds none."""
    if _record is not None:
        return {}
    try:
        entries = json.loads(read_plain(path, ModelError, "build the model", _LARGEST))
        found = {key: value for key, (value, seal) in entries.items() if seal == _seal(key, value)}
    except (ModelError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
    _known.update(found)
    return found


@contextmanager
def with_results(results: Mapping[str, Any]) -> Iterator[None]:
    """Meanwhile these results are taken before those of any file that was read."""
    token = _own.set(results)
    try:
        yield
    finally:
        _own.reset(token)


@contextmanager
def recorded() -> Iterator[dict[str, Any]]:
    """Collects the results that are asked for meanwhile, all of them computed anew."""
    global _record  # noqa: PLW0603
    _record = {}
    try:
        yield _record
    finally:
        _record = None


def text(results: dict[str, Any]) -> str:
    """The file of these results, one a line."""
    lines = [
        f"{json.dumps(key)}: {json.dumps([value, _seal(key, value)])}"
        for key, value in sorted(results.items())
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def made_from(folders: Iterable[Path], libraries: Mapping[str, str]) -> bytes:
    """Hashes the Python files of folders (not those below) and the versions of libraries.

    Raises:
        OSError: there are no such files, as in an archive, or they cannot be read.
    """
    files = sorted({path for folder in folders for path in folder.glob("*.py")})
    if not files:
        raise FileNotFoundError("no source files")
    sources = [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]
    return hashlib.sha256(repr((sorted(libraries.items()), sources)).encode()).digest()


def versions(libraries: Iterable[str]) -> dict[str, str]:
    """The versions of these libraries as they are installed."""
    from importlib import metadata  # here: loading it takes longer than most commands have

    found = {}
    for library in libraries:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            found[library] = "(not installed)"
    return found


def read_sealed(path: Path, made_from: bytes) -> bytes | None:
    """The content that `write_sealed` wrote there for the same sources; None if there is none."""
    try:
        kept = path.read_bytes() if path.is_file() else b""  # a pipe would wait
    except OSError:
        return None
    seal, content = kept[:_SEAL], kept[_SEAL:]
    return content if seal == hashlib.sha256(made_from + content).digest() else None


def write_sealed(path: Path, made_from: bytes, content: bytes) -> None:
    """Keeps a content; raises as `write_whole`."""
    write_whole(path, hashlib.sha256(made_from + content).digest() + content)


def _seal(key: str, value: Any) -> str:
    """A hash of a result, to the last bit."""
    return hashlib.sha256(json.dumps([key, value]).encode()).hexdigest()

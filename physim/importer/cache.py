"""Results that take seconds, kept in the user's cache folder by what they were made from."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import platform
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import physim
from physim import kept

T = TypeVar("T")
MOST_KEPT = 200  # files, of some 20 kB each
_LIBRARIES = ("coacd", "manifold3d", "numpy", "scipy", "trimesh")


def cached(
    name: str, inputs: Any, compute: Callable[[], T], keep: Callable[[T], bool] = lambda _: True
) -> T:
    """What `compute` gives, or gave before for the same inputs, by the same sources and libraries.

    Args:
        name: of the kind of result.
        inputs: everything else that it depends on; can be pickled.
        compute: gives it.
        keep: whether a result is worth keeping.
    """
    digest = hashlib.sha256(pickle.dumps((name, inputs), protocol=4))
    try:
        path = folder() / f"{name}-{digest.hexdigest()[:32]}"
        made_from = _made_from() + digest.digest()
    except (RuntimeError, OSError):  # a user without a home, or sources in an archive
        return compute()
    content = kept.read_sealed(path, made_from)
    if content is not None:
        return cast(T, pickle.loads(content))
    made = compute()
    if keep(made):
        with contextlib.suppress(OSError):  # a cache is no must
            path.parent.mkdir(parents=True, exist_ok=True)
            kept.write_sealed(path, made_from, pickle.dumps(made))
            _forget(path.parent)
    return made


def folder() -> Path:
    """`physim` in the user's cache folder; a relative path is none, as the XDG rules say."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "physim" / "importer"


def _forget(folder: Path) -> None:
    """Removes the oldest files where there are many, such as those of other versions."""
    files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for path in files[:-MOST_KEPT]:
        path.unlink()


@cache
def _made_from() -> bytes:
    """A hash of all that the importer's results are made from."""
    top = Path(physim.__file__).parent
    versions = {"python": platform.python_version(), **kept.versions(_LIBRARIES)}
    return kept.made_from({top, top / "importer", top / "pigs"}, versions)

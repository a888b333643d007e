"""Results that take seconds, kept in the user's cache folder by their content."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from physim import __version__
from physim.files import write_whole

T = TypeVar("T")
METHODS = 1  # raise when a kept result comes to be computed otherwise


def cached(
    name: str, inputs: Any, compute: Callable[[], T], keep: Callable[[T], bool] = lambda _: True
) -> T:
    """What `compute` gives, or gave before for the same inputs.

    Args:
        name: of the kind of result.
        inputs: everything that it depends on; can be pickled.
        compute: gives it.
        keep: whether a result is worth keeping.
    """
    content = pickle.dumps((__version__, METHODS, inputs), protocol=4)
    try:
        path = folder() / f"{name}-{hashlib.sha256(content).hexdigest()[:32]}"
    except RuntimeError:  # a user without a home
        return compute()
    try:
        found: T = pickle.loads(path.read_bytes())
        return found
    except Exception:  # missing, damaged or of other code
        made = compute()
    if keep(made):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, pickle.dumps(made))
        except OSError:  # a cache is no must
            pass
    return made


def folder() -> Path:
    """`physim` in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "physim" / "importer"

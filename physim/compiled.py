"""Compiles the innermost loops by Numba.

Numba may not reorder or fuse operations. Functions that it computes in another way than Python
(`math.hypot`, `**`) are avoided in what is compiled. Compiled code is kept in Numba's folder for
it, for the sources, libraries and processor that it was made from; where that folder cannot be
written to, each process compiles for itself.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np

from physim.precomputed import made_from, read_sealed, write_sealed

Function = TypeVar("Function", bound=Callable[..., Any])

llvmlite: Any = import_module("llvmlite")  # without types
_PATIENCE_S = 3.0
_UNKNOWN = (AttributeError, TypeError)  # of a Numba whose cache is made otherwise
dumps: Any = None
FunctionCache: Any = object
with contextlib.suppress(ImportError):
    # Private names of Numba: without either of them nothing is kept, so the one that is used to
    # tell comes last.
    from numba.core.serialize import dumps  # noqa: I001
    from numba.core.caching import FunctionCache


def compiled(function: Function) -> Function:
    """Compiles a function of plain numbers, tuples and arrays at its first call.

    It may use what is in its own folder and in those above it, up to this file's: the sources that
    its kept code is compared with.
    """
    dispatcher = numba.njit(function, error_model="numpy")
    # No folder for the cache, no sources, or another Numba than the ones known.
    with contextlib.suppress(RuntimeError, OSError, *_UNKNOWN):
        dispatcher._cache = _Cache(function)
    return cast(Function, dispatcher)


class _Cache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, in a file of ours."""

    _cache_file: Any

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        del self._cache_file  # Numba's; where it has another name, ours would not be asked
        name = f"{function.__module__}.{function.__qualname__}.{sys.implementation.cache_tag}.nbi"
        self._cache_file = _File(
            Path(self.cache_path) / name, _made_from(Path(function.__code__.co_filename).parent)
        )

    def load_overload(self, *what: Any) -> Any:
        """The compiled code that was kept, or None."""
        with contextlib.suppress(*_UNKNOWN):
            return super().load_overload(*what)
        return None

    def save_overload(self, *what: Any) -> None:
        """Keeps compiled code where that is possible."""
        with contextlib.suppress(OSError, *_UNKNOWN):
            super().save_overload(*what)


class _File:
    """The compiled code of one function, by signature and processor.

    Numba itself compares only the source file in which the function stands.
    """

    def __init__(self, path: Path, made_from: bytes) -> None:
        self._path = path
        self._made_from = made_from

    def load(self, key: Any) -> Any:
        return self._entries().get(key)

    def save(self, key: Any, data: Any) -> None:
        content = dumps({**self._entries(), key: data})
        write_sealed(self._path, self._made_from, content)

    def _entries(self) -> dict[Any, Any]:
        content = read_sealed(self._path, self._made_from)
        return {} if content is None else cast(dict[Any, Any], pickle.loads(content))


@cache
def _made_from(folder: Path) -> bytes:
    """A hash of all that compiled functions of this folder may be made from."""
    versions = {
        library.__name__: library.__version__ for library in (numba, import_module("llvmlite"), np)
    }
    top = Path(__file__).parent
    folders = {top, folder, *(above for above in folder.parents if top in above.parents)}
    return made_from(folders, {"python": sys.version, **versions})


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Says what is going on where the first calls of compiled functions take long.

    They do where no compiled code is kept yet. Worker processes say nothing.
    """
    text = "physim: compiling the physics, once for this version: about half a minute"
    timer = threading.Timer(_PATIENCE_S, lambda: print(text, file=sys.stderr, flush=True))
    timer.daemon = True
    if multiprocessing.parent_process() is None:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


@compiled
def _same(number: float) -> float:
    return number


def load() -> None:
    """Loads the compiler now, which the first call of a compiled function would do."""
    _same(0.0)

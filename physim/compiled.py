"""Compiles the innermost loops where Numba is installed (the extra `fast`).

The same source runs either way, on plain numbers and arrays, and gives the same bits: Numba is
used without any licence to reorder or fuse operations, and functions that it computes in
another way than Python (`math.hypot`, `**`) are avoided in what is compiled. The tests compare
the bits. Compiled code is kept in Numba's cache; the very first run compiles it, which takes
some seconds.

`PHYSIM_COMPILED=0` in the environment leaves everything to Python, and so does a Numba that
cannot be loaded, such as one that is older than the NumPy beside it. Where no folder can be written
to for the cache (Numba's `NUMBA_CACHE_DIR` names one), each process compiles for itself.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])

njit: Callable[..., Any] | None = None
if os.environ.get("PHYSIM_COMPILED", "1") != "0":
    with contextlib.suppress(ImportError):
        from numba import njit

COMPILED = njit is not None
"""Whether the innermost loops are compiled."""


def compiled(function: Function) -> Function:
    """Compiles a function of plain numbers, tuples and arrays at its first call."""
    if njit is None:
        return function
    try:
        return cast(Function, njit(cache=True)(function))
    except RuntimeError:  # no folder for the cache
        return cast(Function, njit(function))


@compiled
def _same(number: float) -> float:
    return number


def load() -> None:
    """Loads the compiler now, which the first call of a compiled function would do."""
    _same(0.0)

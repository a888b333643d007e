"""Compiles the innermost loops where Numba is installed (`pip install 'physim[fast]'`).

The same source runs either way, on plain numbers and arrays, and gives the same bits: Numba is
used without any licence to reorder or fuse operations, and functions that it computes in
another way than Python (`math.hypot`, `**`) are avoided in what is compiled. The tests compare
the bits. Compiled code is kept in Numba's cache, where there is a folder for it; the very first
run compiles it, which takes some seconds.

`PHYSIM_COMPILED=0` in the environment leaves everything to Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def _njit() -> Any:
    if os.environ.get("PHYSIM_COMPILED", "1") == "0":
        return None
    try:
        from numba import njit
    except ImportError:  # not installed, or not made for this NumPy
        return None
    return njit


_NJIT = _njit()
COMPILED = _NJIT is not None
"""Whether the innermost loops are compiled."""


def compiled(function: Function) -> Function:
    """Compiles a function of plain numbers, tuples and arrays at its first call."""
    if _NJIT is None:
        return function
    try:
        return cast(Function, _NJIT(cache=True)(function))
    except RuntimeError:  # no folder that a cache can be written to
        return cast(Function, _NJIT()(function))

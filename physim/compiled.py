"""Compiles the innermost loops where Numba is installed (`pip install 'physim[fast]'`).

The same source runs either way, on Python's floats alone, and gives the same bits: Numba is
used without any licence to reorder or fuse operations, and functions that it computes in
another way than Python (`math.hypot`, `**`) are avoided in what is compiled. The tests compare
the bits. Compiled code is kept in Numba's cache; the very first run compiles it, which takes
some seconds.

`PHYSIM_COMPILED=0` in the environment leaves everything to Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])

COMPILED = os.environ.get("PHYSIM_COMPILED", "1") != "0" and find_spec("numba") is not None
"""Whether the innermost loops are compiled."""


def compiled(function: Function) -> Function:
    """Compiles a function of plain numbers, tuples and arrays at its first call."""
    if not COMPILED:
        return function
    from numba import njit

    return cast(Function, njit(cache=True)(function))

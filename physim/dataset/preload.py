"""Loads what rolls need; importing it, in a process that is physim's own, does the work.

SciPy is not among it: rolls of prepared models do not need it. Numba would load it for the sake of
its BLAS, which no compiled loop uses, and which takes as long as all of Numba.
"""

from __future__ import annotations

import sys
from typing import Any, cast


def _load() -> None:
    from physim import compiled, simulator
    from physim.physics.fast import world

    del simulator, world
    compiled.load()  # Numba loads most of itself at the first call of anything compiled


if "scipy" in sys.modules:
    _load()
else:
    cast(dict[str, Any], sys.modules)["scipy"] = None  # an import fails as if it were not installed
    try:
        _load()
    finally:
        del sys.modules["scipy"]

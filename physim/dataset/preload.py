"""Loads what rolls need; importing it, in a process that is physim's own, does the work.

SciPy is not among it: rolls of prepared models do not need it. Numba would load it for the sake of
its BLAS, which no compiled loop uses, and which takes as long as all of Numba.
"""

from __future__ import annotations

import sys
from typing import Any, cast

_modules = cast(dict[str, Any], sys.modules)
_hidden = "scipy" not in _modules
if _hidden:
    _modules["scipy"] = None  # an import fails as if it were not installed
try:
    import physim.compiled
    import physim.simulator
    from physim.physics.fast import world  # noqa: F401

    physim.compiled.load()  # Numba loads most of itself at the first call of anything compiled
finally:
    if _hidden:
        del _modules["scipy"]

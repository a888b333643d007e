"""The only import of PyBullet, and what every user of it here shares.

Bullet has lengths of its own (collision margin 0.001, sleeping and clamping limits)
made for objects of a metre. The engine's unit of length is therefore 1 cm
(`UNITS_PER_M`), and gravity 981: a pig is 4 units long and its hulls carry a margin
of 0.01 mm. Times stay in s; masses are in grams.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Sequence

from physim.values import FloatArray

LOCK = threading.RLock()
"""Held while something is done that concerns the whole process, so that threads cannot mix it."""


@contextlib.contextmanager
def quiet_stdout(silent: bool = False) -> Iterator[None]:
    """Keeps what C code prints off stdout, so that `--json` output stays clean.

    Args:
        silent: False sends it to stderr; True drops it, and what goes to stderr too.
    """
    with LOCK:
        sys.stdout.flush()
        saved = os.dup(1), os.dup(2)
        elsewhere = os.open(os.devnull, os.O_WRONLY) if silent else os.dup(2)
        try:
            os.dup2(elsewhere, 1)
            if silent:
                os.dup2(elsewhere, 2)
            yield
        finally:
            os.dup2(saved[0], 1)
            os.dup2(saved[1], 2)
            for descriptor in (*saved, elsewhere):
                os.close(descriptor)


with quiet_stdout(silent=True):  # the import prints the time it was compiled
    import pybullet

UNITS_PER_M = 100.0
GRAMS_PER_KG = 1000.0
MARGIN_M = 0.001 / UNITS_PER_M  # Bullet's collision margin of a convex hull

__all__ = [
    "GRAMS_PER_KG",
    "LOCK",
    "MARGIN_M",
    "UNITS_PER_M",
    "obj_text",
    "pybullet",
    "quiet_stdout",
]


def obj_text(parts: Sequence[FloatArray]) -> str:
    """A Wavefront OBJ with one `o` group a part, of which Bullet takes the convex hulls.

    The faces only list every vertex; that they enclose nothing does not matter to a hull.
    """
    lines: list[str] = []
    first = 1
    for number, vertices in enumerate(parts):
        lines.append(f"o part{number}")
        lines += [f"v {x:.17g} {y:.17g} {z:.17g}" for x, y, z in vertices.tolist()]
        last = first + len(vertices)
        lines += [f"f {first} {i} {min(i + 1, last - 1)}" for i in range(first, last)]
        first = last
    return "\n".join(lines) + "\n"

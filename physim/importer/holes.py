"""Small holes of a mesh, closed by a fan of triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from physim.importer.problems import place
from physim.importer.solids import IntArray
from physim.values import FloatArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from physim.importer.repair import Repaired

SMALL = 0.12  # of the longest side: a hole that is wider is refused
MOST_HOLES = 500


def fill_holes(
    vertices: FloatArray,
    faces: IntArray,
    ends: IntArray,
    turned: NDArray[np.bool_],
    size: float,
    out: Repaired,
) -> tuple[FloatArray, IntArray] | None:
    """The mesh with its small holes closed; None where there is another one.

    Args:
        vertices: (n, 3).
        faces: (m, 3).
        ends: (b, 2) vertices of each open side, lower first.
        turned: (b,) whether its face runs from the higher to the lower.
        size: longest side of the mesh, same unit.
        out: takes the notes.
    """
    loops = _loops(np.where(turned[:, None], ends[:, ::-1], ends))
    if loops is None or len(loops) > MOST_HOLES:
        where = place(vertices[ends].mean(axis=(0, 1)))
        out.refuse("holes", where, "the mesh is open in many places; close it in the 3D program")
        return None
    points, added = [vertices], [faces]
    for loop in loops:
        rim = vertices[loop]
        wide = float(np.ptp(rim, axis=0).max())
        where = f"{place(rim.mean(axis=0))}, {wide:.1f} mm wide"
        if wide > SMALL * size:
            out.refuse("hole", where, "too wide to be closed safely; close it in the 3D program")
            return None
        out.note("hole", where, "closed")
        middle = sum(len(p) for p in points)
        points.append(rim.mean(axis=0)[None])
        onward = np.roll(loop, -1)
        added.append(np.stack([onward, loop, np.full(len(loop), middle)], axis=1))
    return np.concatenate(points), np.concatenate(added)


def _loops(sides: IntArray) -> list[IntArray] | None:
    """Rims of the holes, each along its faces' sides; None where rims cross."""
    neighbours: dict[int, list[int]] = {}
    for a, b in sides.tolist():
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    if any(len(near) != 2 for near in neighbours.values()):
        return None
    onward = dict(sides.tolist())
    loops = []
    left = set(neighbours)
    while left:
        loop = [min(left)]
        before = -1
        while True:
            near = [n for n in neighbours[loop[-1]] if n != before]
            ahead = onward.get(loop[-1])
            step = ahead if ahead in near else near[0]
            if step == loop[0]:
                break
            before = loop[-1]
            loop.append(step)
            if len(loop) > len(neighbours):
                return None
        left -= set(loop)
        loops.append(np.array(loop, dtype=np.int64))
    return loops

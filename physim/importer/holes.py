"""What keeps a mesh open: edges that another vertex parts are stitched, small holes are filled."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from physim.importer.solids import IntArray, place
from physim.importer.winding import unbalanced
from physim.types import FloatArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from physim.importer.repair import Repaired

SMALL = 0.12  # of the longest side: a hole that is wider is refused
MOST_HOLES = 500
_ROUNDS = 20  # of stitching; each treats one side of a face


def stitched(vertices: FloatArray, faces: IntArray, near: float) -> tuple[IntArray, int]:
    """The faces with every vertex put in that lies on one of their sides (T-junctions).

    Sides at which the faces do not run as often one way as the other are in question, and the
    ends of such sides. Of a body that stands alone these are the open ones.

    Args:
        vertices: (n, 3).
        faces: (m, 3).
        near: how far from a side such a vertex may be, same unit.

    Returns:
        (k, 3) the faces; how many vertices were put in.
    """
    count = 0
    for _ in range(_ROUNDS):
        sides = unbalanced(faces)  # also of one body's edge on which another's lies parted
        onward = np.roll(faces, -1, axis=1).T.reshape(-1)[sides]
        ends = np.stack([faces.T.reshape(-1)[sides], onward], axis=1)
        owner = sides % len(faces)
        chains: dict[int, list[int]] = {}
        for face, chain in zip(owner.tolist(), _parting(vertices, ends, near), strict=True):
            if len(chain) > 2:
                chains.setdefault(face, chain)
        if not chains:
            break
        count += sum(len(chain) - 2 for chain in chains.values())
        added = []
        for face, chain in chains.items():
            apex = int(faces[face].sum()) - chain[0] - chain[-1]
            added += [(a, b, apex) for a, b in pairwise(chain) if apex not in (a, b)]
        faces = np.concatenate([np.delete(faces, list(chains), axis=0), np.array(added)])
    return faces, count


def _parting(vertices: FloatArray, ends: IntArray, distance: float) -> list[list[int]]:
    """Of each side (k, 2): its ends, with the ends of the others that lie on it."""
    from scipy.spatial import cKDTree

    if not len(ends):
        return []
    points = np.unique(ends)
    tree = cKDTree(vertices[points])
    first, last = vertices[ends[:, 0]], vertices[ends[:, 1]]
    length = np.linalg.norm(last - first, axis=1)
    near = tree.query_ball_point((first + last) / 2.0, length / 2.0 + distance)
    chains = []
    for k, candidates in enumerate(near):
        on = points[candidates]
        along = (last[k] - first[k]) / max(length[k], 1e-300)
        way = (vertices[on] - first[k]) @ along
        off = np.linalg.norm(vertices[on] - first[k] - np.outer(way, along), axis=1)
        between = (off <= distance) & (way > distance) & (way < length[k] - distance)
        on = on[between][np.argsort(way[between])]
        chains.append([int(ends[k, 0]), *on.tolist(), int(ends[k, 1])])
    return chains


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
        size: longest side of the mesh's largest piece, same unit.
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
        wide = _width(rim)
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


def _width(rim: FloatArray) -> float:
    """How wide a hole is across, the way that is the narrower: a slit is as wide as it gapes."""
    spokes = rim - rim.mean(axis=0)
    area = 0.5 * float(np.linalg.norm(np.cross(spokes, np.roll(spokes, -1, axis=0)), axis=1).sum())
    longest = float(np.ptp(rim, axis=0).max())
    return min(longest, 2.0 * area / max(longest, 1e-300))


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

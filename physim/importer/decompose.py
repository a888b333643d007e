"""Approximate convex decomposition by CoACD: the importer's only door to it.

References:
    Wei et al., "Approximate convex decomposition for 3D meshes with collision-aware concavity
    and tree search", ACM TOG 2022.
"""

from __future__ import annotations

import numpy as np

from physim.importer.solids import IntArray, Solid
from physim.values import FloatArray

THRESHOLD = 0.05  # of concavity; the least that CoACD takes is 0.01
MOST_FACES = 800  # its time grows faster than the faces
SEED = 0


def decompose(vertices: FloatArray, faces: IntArray, most: int) -> list[FloatArray]:
    """The corners (k, 3) of at most `most` convex pieces, together about the mesh.

    Deterministic on one machine. Meant for a child process: it may take long, or crash.
    """
    import coacd

    coacd.set_log_level("off")
    pieces = coacd.run_coacd(
        coacd.Mesh(vertices, faces),
        threshold=THRESHOLD,
        max_convex_hull=most,
        preprocess_mode="off",
        resolution=200,
        mcts_nodes=10,
        mcts_iterations=10,
        mcts_max_depth=2,
        seed=SEED,
    )
    return [np.asarray(corners, dtype=np.float64) for corners, _ in pieces]


def coarse(solid: Solid, size: float) -> Solid:
    """With few enough faces to be decomposed in seconds."""
    tolerance = 1e-4 * size
    fewer = solid
    while fewer.faces > MOST_FACES and tolerance < 0.02 * size:
        fewer = solid.simplified(tolerance)
        tolerance *= 1.5
    return fewer


def slabs(solid: Solid, count: int) -> list[FloatArray]:
    """The fall-back: the corners of `count` slices across its longest side."""
    low, high = solid.bounds
    axis = int(np.argmax(high - low))
    cuts = np.linspace(low[axis], high[axis], count + 1)
    pieces = []
    left = solid
    for cut in cuts[1:-1]:
        end = high + 1.0
        end[axis] = cut
        slice_, left = left.halves(Solid.box(low - 1.0, end))
        pieces += slice_.separate() if slice_.faces else []
    pieces += left.separate() if left.faces else []
    return [piece.mesh()[0] for piece in pieces]

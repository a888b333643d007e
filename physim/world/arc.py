"""How high a pig must be lifted to be tilted from one attitude to another."""

from __future__ import annotations

import numpy as np

from physim.compiled import compiled
from physim.values import FloatArray, Triple


@compiled
def highest_m(hull: FloatArray, begin: Triple, end: Triple, points: int) -> float:
    """The greatest height of the centre of mass above the table, at some points of the way.

    Args:
        hull: (3, n) corners about the centre of mass [m].
        begin: (3,) unit vector that points down at first, seen from the pig.
        end: at last; the way follows the chord between them.
        points: evenly spaced on the chord, both ends included.
    """
    share = np.arange(points) * (1.0 / (points - 1))
    x = (1.0 - share) * begin[0] + share * end[0]
    y = (1.0 - share) * begin[1] + share * end[1]
    z = (1.0 - share) * begin[2] + share * end[2]
    length = np.sqrt(x * x + y * y + z * z)
    x, y, z = x / length, y / length, z / length
    heights = hull[0] * x.reshape(-1, 1) + hull[1] * y.reshape(-1, 1) + hull[2] * z.reshape(-1, 1)
    return float(heights.max())

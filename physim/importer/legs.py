"""Four legs, found in the sections of a standing shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from physim.importer.solids import Solid, area
from physim.values import FloatArray

SECTIONS = np.arange(0.02, 0.56, 0.03)  # heights at which a shape is cut, as shares of its own
_LEAST_AREA = 5e-4  # of the box's: smaller outlines are no legs
_MOST_AREA = 0.2


@dataclass(frozen=True)
class Legs:
    """Where four legs are, in the axes of the shape.

    Attributes:
        low, high: heights between which the sections show just four legs.
        middles: (4, 2) of the legs' lowest sections: front left, front right, hind left, right.
        front_x, hind_x: where the front legs end forward and the hind legs backward.
        clarity: the share of the height over which there are four legs.
    """

    low: float
    high: float
    middles: FloatArray
    front_x: float
    hind_x: float
    clarity: float

    @property
    def middle(self) -> FloatArray:
        """(2,) the point between the four."""
        front, hind = self.middles[:2, 0].mean(), self.middles[2:, 0].mean()
        left, right = self.middles[[0, 2], 1].mean(), self.middles[[1, 3], 1].mean()
        return np.array([0.5 * (front + hind), 0.5 * (left + right)])


def legs_of(solid: Solid) -> Legs | None:
    """The legs of a shape that stands along z with its length along x; None if it has not four."""
    (x0, y0, z0), (x1, y1, z1) = solid.bounds
    box = (x1 - x0) * (y1 - y0)
    found: list[tuple[float, FloatArray, float, float]] = []
    for share in SECTIONS:
        height = z0 + share * (z1 - z0)
        outlines = [o for o in solid.outlines(height) if area(o) > _LEAST_AREA * box]
        if len(outlines) != 4 or max(area(o) for o in outlines) > _MOST_AREA * box:
            if found:
                break  # the belly
            continue
        middles = _corners(np.array([0.5 * (o.min(axis=0) + o.max(axis=0)) for o in outlines]))
        if middles is None:
            if found:
                break
            continue
        every = np.concatenate(outlines)
        found.append((height, middles, float(every[:, 0].max()), float(every[:, 0].min())))
    if not found:
        return None
    low, high = found[0][0], found[-1][0]
    clarity = (high - low) / (z1 - z0) + float(SECTIONS[1] - SECTIONS[0])
    return Legs(low, high, found[0][1], found[0][2], found[0][3], clarity)


def _corners(middles: FloatArray) -> FloatArray | None:
    """Four points, one a corner: front left, front right, hind left, hind right."""
    order = np.argsort(-middles[:, 0])
    front, hind = middles[order[:2]], middles[order[2:]]
    front, hind = (pair[np.argsort(-pair[:, 1])] for pair in (front, hind))
    across = min(front[0, 1], hind[0, 1]) - max(front[1, 1], hind[1, 1])
    along = front[:, 0].min() - hind[:, 0].max()
    if across <= 0 or along <= 0:
        return None
    return np.concatenate([front, hind])

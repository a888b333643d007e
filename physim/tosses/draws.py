"""The random numbers of one roll: a fixed count, handed out by name.

A toss model asks for what it needs in a fixed order. That every roll draws the
same `DRAWS` numbers, whatever the toss, keeps streams comparable when a model
gains a parameter.
"""

from __future__ import annotations

import math

import numpy as np

from physim.values import FloatArray

DRAWS = 48


class Draws:
    """Hands out the roll's `DRAWS` uniform numbers one after the other."""

    def __init__(self, rng: np.random.Generator) -> None:
        """Draws all numbers at once from `rng`."""
        self._numbers: list[float] = rng.random(DRAWS).tolist()
        self._next = 0

    def uniform(self) -> float:
        """A number in [0, 1)."""
        number = self._numbers[self._next]
        self._next += 1
        return number

    def normal(self, mean: float = 0.0, spread: float = 1.0) -> float:
        """A normal number; uses two uniform ones (Box and Muller 1958)."""
        radius = math.sqrt(-2.0 * math.log(1.0 - self.uniform()))
        return mean + spread * radius * math.cos(2.0 * math.pi * self.uniform())

    def normals(self, count: int, spread: float) -> FloatArray:
        """(count,) centred normal numbers."""
        return np.array([self.normal(0.0, spread) for _ in range(count)])

    def uniforms(self, count: int) -> FloatArray:
        """(count,) numbers in [0, 1)."""
        return np.array([self.uniform() for _ in range(count)])

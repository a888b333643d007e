"""Loads all that the rolls of a worker need; importing it does the work.

Numba loads most of itself at the first call of anything compiled.
"""

from physim import compiled, roll
from physim.batch import table
from physim.world import settle, world

__all__ = ["compiled", "roll", "settle", "table", "world"]

compiled.load()

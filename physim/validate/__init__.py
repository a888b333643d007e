"""The simulator beside the real rolls."""

GROUPS = (
    *("poses", "pairs", "height", "settled", "rare"),
    *("step", "solver", "settle", "engine", "hand", "surfaces"),
)
"""The checks, in their order."""

ROLLS, REAL_ROLLS = 100_000, 6_000
"""Of the main sample, and of the real rolls: the limits of the checks suit so many."""

SEEDS = 20
"""So many seeds that follow the given one are used too."""

"""The simulator beside the real rolls."""

GROUPS = (
    *("poses", "pairs", "height", "settled", "rare"),
    *("step", "solver", "settle", "engine", "hand", "surfaces"),
)
"""The checks, in their order."""

SEEDS = 20
"""So many seeds that follow the given one are used too."""

"""One independent random stream a roll, keyed by (seed, index)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_SEED = 2**63 - 1  # of seeds and indices: what a signed 64-bit column of a dataset holds


def stream(seed: int, index: int) -> Generator:
    """The generator of one roll, made without drawing those before it.

    Args:
        seed: the run's root seed; a non-negative integer that can be written down.
        index: the roll's number in the run, from 0.

    References:
        NumPy's `SeedSequence(entropy, spawn_key)`; PCG64 bit generator.
    """
    import numpy as np  # here: the command line needs `MAX_SEED` alone, at once

    sequence = np.random.SeedSequence(seed, spawn_key=(index,))
    return np.random.Generator(np.random.PCG64(sequence))

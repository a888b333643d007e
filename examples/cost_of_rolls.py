"""What rolls cost: with their number, the workers, and the parts and corners of a pig.

    python examples/cost_of_rolls.py [ROLLS]

Wall-clock time for batches; processor time of one core for shapes, by the simulated second,
since other shapes come to rest after other times.
"""

import os
import sys
import time
from dataclasses import replace

import numpy as np

import physim
from physim.types import ConvexPart, PigModel


def main(rolls: int) -> None:
    """Prints three small tables."""
    print(f"{'rolls':>8}{'workers':>9}{'s':>8}{'rolls/s':>9}")
    runs = {(max(1, rolls // 10), 1), (rolls, 1), (rolls, 2), (rolls, os.cpu_count() or 1)}
    for n, workers in sorted(runs):
        start = time.perf_counter()
        physim.batch(n, seed=1, workers=workers)
        spent = time.perf_counter() - start
        print(f"{n:8}{workers:9}{spent:8.2f}{n / spent:9.1f}")

    print(f"\n{'parts':>8}{'corners':>9}{'ms a simulated second':>23}")
    setup = physim.Setup.named()
    for pig in (setup.black, *shapes(setup.black)):
        corners = sum(len(part.vertices_m) for part in pig.parts)
        cost = milliseconds(replace(setup, black=pig, pink=pig), max(1, rolls // 4))
        print(f"{len(pig.parts):8}{corners:9}{cost:23.1f}")


def shapes(pig: PigModel) -> list[PigModel]:
    """Ellipsoids in place of the pig's parts: all or the largest, of few corners or many."""
    by_size = sorted(pig.parts, key=lambda part: -np.prod(np.ptp(part.vertices_m, axis=0)))
    return [
        replace(pig, parts=tuple(ellipsoid(part, corners) for part in by_size[:parts]))
        for parts, corners in ((1, 24), (4, 24), (16, 12), (16, 24), (16, 96))
    ]


def ellipsoid(part: ConvexPart, corners: int) -> ConvexPart:
    """One that fills the part's box, its corners spread evenly."""
    k = np.arange(corners)
    z, turn = np.linspace(-1.0, 1.0, corners), np.pi * (1.0 + 5.0**0.5) * k
    ring = np.sqrt(1.0 - z * z)
    ball = np.stack([ring * np.cos(turn), ring * np.sin(turn), z], axis=1)
    low, high = part.vertices_m.min(axis=0), part.vertices_m.max(axis=0)
    return ConvexPart(part.label, 0.5 * (low + high) + 0.5 * (high - low) * ball)


def milliseconds(setup: physim.Setup, rolls: int) -> float:
    """Processor time of a simulated second, flight and naming included."""
    with physim.Simulator(setup) as simulator:
        simulator.roll(1, 0)  # the first roll also warms up
        start = time.process_time()
        simulated_s = sum(roll.time_s for roll in simulator.rolls(1, range(rolls)))
        return 1e3 * (time.process_time() - start) / simulated_s


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)

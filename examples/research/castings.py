"""Two castings: pigs that differ in where their centres of mass lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from physim.calibrate.priors import COM, Parameter, setup
from physim.calibrate.target import HeightCounts, Objective
from physim.simulator import Setup
from physim.statistics.counts import NAMED_POSES
from physim.types import PIG_NAMES

# The black pig's shift of the centre of mass less the pink one's: two castings differ.
APART = {
    name.replace("_mm", "_difference_mm"): Parameter(
        name.replace("_mm", "_difference_mm"), "mm", -0.6, 0.6, 0.0, 0.15, "two castings differ"
    )
    for name in COM
}


class EachPig(Objective):
    """The distance from real rolls, each of the two pigs compared apart."""

    def tables(self, sample: HeightCounts) -> dict[str, list[list[int]]]:
        tables = super().tables(sample)
        del tables["poses"]
        for pig in PIG_NAMES:
            by_height = [sample.poses(height, pig) for height in self.real.heights_mm]
            tables[f"poses of {pig}"] = [[row[pose] for pose in NAMED_POSES] for row in by_height]
        return tables


def casting(values: Mapping[str, float], side: float) -> dict[str, float]:
    """The values of the pig that has this share of the castings' difference."""
    shift = {name: side * values.get(name.replace("_mm", "_difference_mm"), 0.0) for name in COM}
    return {
        **{name: value for name, value in values.items() if name not in APART},
        **{name: values.get(name, 0.0) + shift[name] for name in COM},
    }


def castings(base: Setup, values: Mapping[str, float]) -> Setup:
    """The setup of two castings: the black pig has half of the difference, the pink one less."""
    black, pink = (setup(base, casting(values, side)) for side in (0.5, -0.5))
    return replace(black, pink=pink.pink)

"""How much the frequencies of the Big Pigs depend on what is assumed of them.

python examples/big_pigs.py [ROLLS] [COMBINATIONS] [FOLDER]

Each assumption is moved to both ends of its range while the others stay; then all of them are
drawn at once, so many times. The lines of the table are Markdown (docs/big.md). Rolls are kept in
FOLDER, so the same command goes on where it was stopped.
"""

import math
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull

from physim.simulator import Setup
from physim.statistics.counts import NAMED_POSES
from physim.tosses.release import Trapdoor
from physim.types import PigModel
from physim.validate.datasets import Folder, SetupPlan

SEED = 61
MANY = 500  # rolls of a line: fewer are made sooner without other processes
AIR_KG_M3, DRAG_COEFFICIENT = 1.2, 1.0  # of a blunt body: 0.8 to 1.2


@dataclass(frozen=True)
class Assumption:
    """What is assumed, and the range in which it may lie.

    Attributes:
        name: in the table.
        low, high: the ends of the range.
        unit: of both.
        logarithmic: whether values are drawn evenly in ratio.
    """

    name: str
    low: float
    high: float
    unit: str
    logarithmic: bool = False

    def at(self, share: float) -> float:
        """The value at this share of the range."""
        if self.logarithmic:
            return self.low * (self.high / self.low) ** share
        return self.low + share * (self.high - self.low)


ASSUMPTIONS = (
    Assumption("mass", 20.0, 72.0, "g", logarithmic=True),
    Assumption("restitution", 0.30, 0.57, "of the pair"),
    Assumption("friction", 0.4, 1.0, "of the pair"),
    Assumption("stiffness", 1000.0, 8000.0, "N/m", logarithmic=True),
    Assumption("height", 0.5, 1.5, "times the toss's"),
)


def changed(base: Setup, values: dict[str, float]) -> Setup:
    """The setup with other values of some assumptions."""
    pig, surface, toss = base.black, base.table.surface, base.toss
    assert isinstance(toss, Trapdoor)
    mass_kg = 1e-3 * values.get("mass", 1e3 * pig.mass_kg)
    pig = replace(
        pig,
        mass_kg=mass_kg,
        inertia_kg_m2=pig.inertia_kg_m2 * (mass_kg / pig.mass_kg),
        restitution=values["restitution"] / surface.restitution
        if "restitution" in values
        else pig.restitution,
        lateral_friction=values["friction"] / surface.lateral_friction
        if "friction" in values
        else pig.lateral_friction,
        contact_stiffness_n_m=values.get("stiffness", pig.contact_stiffness_n_m),
    )
    factor = values.get("height", 1.0)
    toss = replace(toss, heights_m=tuple(factor * height for height in toss.heights_m))
    return replace(base, black=pig, pink=pig, toss=toss)


def drag_per_m(pig: PigModel) -> float:
    """Drag over m v^2 [1/m]; the mean area seen is a quarter of the hull's surface (Cauchy)."""
    area_m2 = 0.25 * float(ConvexHull(pig.vertices_m).area)
    return 0.5 * AIR_KG_M3 * DRAG_COEFFICIENT * area_m2 / pig.mass_kg


def with_drag(setup: Setup) -> Setup:
    """From so much less height that pigs land as fast as air would let them from the full one."""
    toss, drag = setup.toss, drag_per_m(setup.black)
    assert isinstance(toss, Trapdoor)
    heights = tuple(-math.expm1(-2.0 * drag * height) / (2.0 * drag) for height in toss.heights_m)
    return replace(setup, toss=replace(toss, heights_m=heights))


def variants(combinations: int) -> dict[str, Setup]:
    """What is rolled, by the name in the table."""
    base = Setup.named("big", toss="trapdoor_big", surface="floor")
    toy = Setup.named("standard")
    rigid = replace(
        base.black,
        contact_stiffness_n_m=0.0,
        restitution=toy.black.restitution,
        lateral_friction=toy.black.lateral_friction,
    )
    found = {
        "standard pigs": toy,
        "the same, evenly filled, 3.95 times as large": replace(base, black=rigid, pink=rigid),
        "Big Pigs": base,
        "rigid": changed(base, {"stiffness": 0.0}),
        "thrown by hand": Setup.named("big", toss="hand_big", surface="floor"),
    }
    for one in ASSUMPTIONS:
        for value in (one.low, one.high):
            found[f"{one.name} {value:g} {one.unit}"] = changed(base, {one.name: value})
    for mass in (20.0, 40.0, 72.0):
        heavy = changed(base, {"mass": mass})
        found[f"air drag on {mass:g} g ({100 * _lost(heavy):.0f} % less energy)"] = with_drag(heavy)
    rng = np.random.default_rng(SEED)
    for number in range(combinations):
        values = {one.name: one.at(float(rng.random())) for one in ASSUMPTIONS}
        found[f"combination {number + 1}"] = changed(base, values)
    return found


def _lost(setup: Setup) -> float:
    """Share of the energy of impact that air takes, over the heights."""
    before, after = setup.toss, with_drag(setup).toss
    assert isinstance(before, Trapdoor) and isinstance(after, Trapdoor)
    return 1.0 - sum(after.heights_m) / sum(before.heights_m)


def _row(name: str, numbers: list[float], form: Callable[[float], str]) -> str:
    return f"| {name} | " + " | ".join(map(form, numbers)) + " |"


def main(rolls: int, combinations: int, folder: Path) -> None:
    """Rolls all variants with one seed and prints how the pigs lie, in percent."""
    source = Folder(folder, None if rolls >= MANY else 1, sys.stderr)
    heads = [*(pose.value for pose in NAMED_POSES), "touching", "other", "off or unsettled"]
    print("| % | " + " | ".join(heads) + " |\n|" + "---|" * (len(heads) + 1))
    swept: list[list[float]] = []
    for number, (name, setup) in enumerate(variants(combinations).items()):
        plan = SetupPlan.make(f"{number:02d}", setup, seed=SEED, rolls=rolls)
        columns = source(plan).columns
        counted = (columns["status"] == "ok") & ~columns["touching"].astype(bool)
        poses = np.concatenate([columns[f"{pig}_pose"][counted] for pig in ("black", "pink")])
        named = [float((poses == pose.value).sum()) for pose in NAMED_POSES]
        shares = [100.0 * count / max(sum(named), 1.0) for count in named]
        rest = (columns["touching"].astype(bool), poses == "other", columns["status"] != "ok")
        print(
            _row(name, shares + [100.0 * float(one.mean()) for one in rest], "{:.1f}".format),
            flush=True,
        )
        if number >= 2:
            swept.append(shares)
    print(_row("least of the Big Pigs'", np.min(swept, axis=0).tolist(), "{:.1f}".format))
    print(_row("most of the Big Pigs'", np.max(swept, axis=0).tolist(), "{:.1f}".format))
    error = 100.0 * math.sqrt(0.25 / (2 * rolls))
    print(f"\n{rolls} rolls a line, seed {SEED}; standard error at most {error:.1f} points")


if __name__ == "__main__":
    given = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="physim-big-") as scratch:
        main(
            int(given[0]) if given else 100,
            int(given[1]) if len(given) > 1 else 8,
            Path(given[2] if len(given) > 2 else scratch),
        )

"""How often a pig lands on its back, by surface.

python examples/compare_surfaces.py [ROLLS]
"""

import sys

import physim
from physim.statistics.tests import clopper_pearson
from physim.types import Pose


def main(rolls: int) -> None:
    """Rolls on each surface with the same seed, so that the tosses are the same."""
    for surface in ("laminate", "felt"):
        counts = physim.batch(rolls, seed=1, surface=surface, workers=1).counts
        backs = counts.poses[Pose.RAZORBACK]
        between = clopper_pearson(backs, counts.pigs)
        print(
            f"{surface:9} {backs / counts.pigs:.3f} "
            f"(95 % interval {between.low:.3f} to {between.high:.3f})"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)

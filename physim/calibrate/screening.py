"""Before any roll: where a pig can lie at all, and how often if it were laid down without speed.

The quasi-static rests of a candidate (`rests`) take a fraction of a second. A pig that cannot lie
in each of the six poses, or that often lies as no rule says, is refused without rolling it; and a
search over shapes may start where these shares come nearest to the real frequencies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from physim.calibrate.sample import Sample
from physim.simulator import RestTable
from physim.statistics.counts import NAMED_POSES
from physim.types import Pose

# Share of other rests in a pig that is rolled. A rest of some percent without speed is one that
# almost no pig finds in motion, and the objective counts those that do: this only spares rolls of
# pigs that could not be the toy.
MOST_OTHER = 0.05
# Rest probabilities without dynamics predict frequencies to 3 or 4 points at best (Baktash et al.
# 2025), as well as a sample of so many pigs would: sqrt(.3 x .7 / 170) = .035.
WORTH_PIGS = 170
_LEAST_SHARE = 1e-4  # a pose that is there, however unlikely


@dataclass(frozen=True)
class Screening:
    """The quasi-static rests of a candidate.

    Attributes:
        shares: probability of each pose after a fall without speed, the mean of the two pigs.
        missing: named poses in which one of the pigs cannot lie.
        most_other: probability of rests that no rule names above which it is no pig.
    """

    shares: Mapping[Pose, float]
    missing: tuple[Pose, ...]
    most_other: float = MOST_OTHER

    @classmethod
    def of(cls, tables: Iterable[RestTable], base: Screening | None = None) -> Screening:
        """Of the pigs with these rests.

        Args:
            tables: of each pig.
            base: of the pigs that candidates change; more than of those is not asked of one.
        """
        tables = tuple(tables)
        shares = dict.fromkeys(Pose, 0.0)
        for table in tables:
            for named in table.rests:
                shares[named.pose] += named.rest.probability / len(tables)
        lies = [{named.pose for named in table.rests} for table in tables]
        missing = tuple(pose for pose in NAMED_POSES if not all(pose in one for one in lies))
        if base is None:
            return cls(shares, missing)
        lost = tuple(pose for pose in missing if pose not in base.missing)
        return cls(shares, lost, max(MOST_OTHER, 2.0 * base.shares[Pose.OTHER]))

    @property
    def problem(self) -> str:
        """Why the candidate is not rolled; empty if it is."""
        if self.missing:
            return "it cannot lie as " + ", ".join(pose.value for pose in self.missing)
        if self.shares[Pose.OTHER] > self.most_other:
            return f"it lies as no rule says with probability {self.shares[Pose.OTHER]:.3f}"
        return ""

    @property
    def severity(self) -> float:
        """How far from being rolled, to rank those that are not: 0 to 7."""
        return len(self.missing) + self.shares[Pose.OTHER]

    def deviance(self, real: Sample) -> float:
        """From real rolls, as if `WORTH_PIGS` of those had been seen."""
        poses = real.poses()
        pigs = sum(poses[pose] for pose in NAMED_POSES)
        total = sum(max(self.shares[pose], _LEAST_SHARE) for pose in NAMED_POSES)
        terms = (
            frequency * math.log(frequency * total / max(self.shares[pose], _LEAST_SHARE))
            for pose in NAMED_POSES
            if (frequency := poses[pose] / pigs) > 0
        )
        return 2 * WORTH_PIGS * sum(terms)

"""What was rolled while someone watched: a tally, and the points of a turn."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from physim.statistics.pairs import NAMED_POSES
from physim.statistics.tables import load_table, pool_poses
from physim.values import Outcome, Pose, Roll, Status

REFERENCE = "kern2006"


@dataclass
class Session:
    """Counts and points so far.

    Attributes:
        rolls: that were counted.
        poses: pigs by pose, of rolls in which the pigs lie alone.
        turn_total: points since the last bank; lost with a pig out.
        banked: points that are safe from a pig out; an oinker takes them too.
    """

    rolls: int = 0
    poses: Counter[Pose] = field(default_factory=Counter)
    turn_total: int = 0
    banked: int = 0

    def add(self, roll: Roll, turn: bool = True) -> None:
        """Counts a roll, and adds its points to the turn."""
        self.rolls += 1
        if roll.status is Status.OK and not roll.touching:
            self.poses.update(pig.pose for pig in roll.pigs)
        if not turn or roll.score is None:
            return
        self.turn_total = self.turn_total + roll.score if roll.score else 0
        if roll.outcome in (Outcome.OINKER, Outcome.PIGGYBACK):
            self.banked = 0

    def bank(self) -> None:
        """The turn's points are safe; a new turn begins."""
        self.banked += self.turn_total
        self.turn_total = 0

    def tally(self) -> list[str]:
        """A line a pose: how often, in percent, and how often real pigs do so."""
        real = pool_poses(load_table(REFERENCE))
        pigs, all_real = sum(self.poses.values()), sum(real.values())
        lines = [f"{self.rolls} roll{'' if self.rolls == 1 else 's'}, pigs (real pigs)"]
        for pose in NAMED_POSES:
            share = f"{100 * self.poses[pose] / pigs:.1f}" if pigs else "-"
            name = pose.value.replace("_", " ")
            lines.append(
                f"{name}: {self.poses[pose]}, {share} % ({100 * real[pose] / all_real:.1f} %)"
            )
        return lines

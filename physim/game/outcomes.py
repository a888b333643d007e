"""Sources of throws, and how often each throw comes up.

A source is an iterator of `Throw`: `map(read_throw, lines)` of a script or of what a person types,
`draws` of a distribution, `map(throw_of_roll, rolls)` of physics. The game needs no engine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from physim.errors import ConfigError
from physim.rules.ruleset import Effect, RuleSet
from physim.rules.score import Throw
from physim.types import Roll

_BLOCK = 4096  # throws drawn at a time; part of what a seed means
ENDS_TURN = (Effect.LOSES_TURN, Effect.LOSES_SCORE, Effect.ELIMINATES)


@dataclass(frozen=True)
class Distribution:
    """Throws of a source with their weights, at least one above 0."""

    name: str
    throws: tuple[Throw, ...]  # no two of one label
    weights: tuple[float, ...]  # counts where the source is a sample
    sample_size: int | None = None  # rolls that were counted; None for probabilities

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """(n,) of the throws, in their order; they add up to 1."""
        weights = np.asarray(self.weights, dtype=float)
        probabilities: NDArray[np.float64] = weights / weights.sum()
        return probabilities

    @cached_property
    def pairs(self) -> list[tuple[Throw, float]]:
        """Each throw and its probability."""
        return list(zip(self.throws, self.probabilities.tolist(), strict=True))

    def resampled(self, rng: np.random.Generator) -> Distribution:
        """As many rolls drawn anew from a sample (the bootstrap)."""
        counts = rng.multinomial(self.sample_size or 0, self.probabilities)
        return Distribution(self.name, self.throws, tuple(map(float, counts)), self.sample_size)


def draws(distribution: Distribution, rng: np.random.Generator) -> Iterator[Throw]:
    """Independent throws without an end."""
    upper = np.cumsum(distribution.probabilities)
    while True:
        # As `rng.choice` does it, without its checks.
        indices = np.searchsorted(upper / upper[-1], rng.random(_BLOCK), side="right")
        yield from map(distribution.throws.__getitem__, indices.tolist())


def throw_of_roll(roll: Roll) -> Throw:
    """A roll of physics as the game sees it."""
    black, pink = roll.pigs
    return Throw(roll.outcome, roll.score, (black.pose, pink.pose))


@dataclass(frozen=True)
class ThrowOdds:
    """A distribution under a rule set: one throw, those that are rolled again left out."""

    pairs: tuple[tuple[int, float], ...]  # points after which a turn goes on, and probabilities
    loses_turn: float
    loses_score: float
    eliminates: float
    rolls_again: float  # of all throws

    @property
    def nothing(self) -> float:
        """Probability of 0 points in a turn that goes on: a pig off the table in some rules."""
        return sum(probability for points, probability in self.pairs if points == 0)

    @property
    def scoring(self) -> list[tuple[int, float]]:
        """Points above 0, ascending, and their probabilities."""
        return [(points, probability) for points, probability in self.pairs if points > 0]

    @property
    def expected_points(self) -> float:
        """Points of one throw on average, 0 where it ends the turn."""
        return sum(points * probability for points, probability in self.pairs)

    @property
    def ends_turn(self) -> float:
        """Probability that a throw takes the turn's points."""
        return self.loses_turn + self.loses_score + self.eliminates


def odds(distribution: Distribution, rules: RuleSet) -> ThrowOdds:
    """What one throw does under these rules.

    Raises:
        ConfigError: no game would end: no throw of the distribution scores, or their points never
            add up to a target that must be reached exactly.
    """
    by_points: dict[int, float] = {}
    by_effect = dict.fromkeys(Effect, 0.0)
    for throw, probability in distribution.pairs:
        effect = rules.effect(throw.outcome)
        by_effect[effect] += probability
        if effect in (Effect.SCORES, Effect.NOTHING) and probability > 0:
            points = throw.points or 0
            by_points[points] = by_points.get(points, 0.0) + probability
    counts = 1.0 - by_effect[Effect.ROLLS_AGAIN]
    if not any(by_points) or counts <= 0:
        raise ConfigError(
            f"{distribution.name}: none of its throws scores points, so no game would end; "
            "take a source with more rolls"
        )
    # Banked points and what calls move are multiples of this.
    step = math.gcd(*by_points)
    if rules.reach == "exactly" and rules.target % step:
        raise ConfigError(
            f"{distribution.name}: all of its points are multiples of {step}, so nobody would ever "
            f"stand at exactly {rules.target}; take a target that is one, or reach=at_least"
        )
    return ThrowOdds(
        tuple((points, by_points[points] / counts) for points in sorted(by_points)),
        by_effect[Effect.LOSES_TURN] / counts,
        by_effect[Effect.LOSES_SCORE] / counts,
        by_effect[Effect.ELIMINATES] / counts,
        by_effect[Effect.ROLLS_AGAIN],
    )

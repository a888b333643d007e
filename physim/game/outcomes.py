"""Where throws come from: a protocol, and the sources that need nothing but values.

Live physics is one of them: whoever has a simulator hands its rolls over, so that the game needs
no engine.

How often each throw comes up: counted, or known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from physim.errors import ConfigError, GameError
from physim.rules.ruleset import Effect, Reach, RuleSet
from physim.rules.throws import Throw, read_throw
from physim.types import Roll

_BLOCK = 4096  # throws drawn at a time; part of what a seed means


class Outcomes(Protocol):
    """A source of throws."""

    def next_throw(self) -> Throw:
        """The next one.

        Raises:
            GameError: there is none any more.
        """
        ...


class Script:
    """Throws that are written down, each a `Throw` or a text that `read_throw` understands."""

    def __init__(self, throws: Iterable[Throw | str]) -> None:
        self._throws = iter(throws)

    def next_throw(self) -> Throw:
        for throw in self._throws:
            return read_throw(throw) if isinstance(throw, str) else throw
        raise GameError("the script has no further throw; add some, or take another source")


class Drawn:
    """Independent draws from a distribution: a batch's counts, or a table of real rolls."""

    def __init__(self, distribution: Distribution, rng: np.random.Generator) -> None:
        self._throws = _draws(distribution, rng)

    def next_throw(self) -> Throw:
        return next(self._throws)


class Rolled:
    """Rolls that somebody else makes, one when it is asked for."""

    def __init__(self, rolls: Iterable[Roll]) -> None:
        self._rolls = iter(rolls)

    def next_throw(self) -> Throw:
        for roll in self._rolls:
            return throw_of_roll(roll)
        raise GameError("no rolls are left; start another run of them")


class Typed:
    """What a person says that real pigs did."""

    def __init__(self, ask: Callable[[], str]) -> None:
        """Takes a function that returns a line and raises EOFError when there is no more."""
        self._ask = ask

    def next_throw(self) -> Throw:
        """Raises ConfigError for a line that is no throw; the next call asks again."""
        try:
            return read_throw(self._ask())
        except EOFError:
            raise GameError("the input has ended before the game") from None


def throw_of_roll(roll: Roll) -> Throw:
    """A roll of physics as the game sees it."""
    black, pink = roll.pigs
    return Throw(roll.outcome, roll.score, (black.pose, pink.pose))


def _draws(distribution: Distribution, rng: np.random.Generator) -> Iterator[Throw]:
    throws, upper = distribution.throws, np.cumsum(distribution.probabilities)
    while True:
        # As `rng.choice` does it, without its checks.
        indices = np.searchsorted(upper / upper[-1], rng.random(_BLOCK), side="right")
        yield from map(throws.__getitem__, indices.tolist())


ENDS_TURN = (Effect.LOSES_TURN, Effect.LOSES_SCORE, Effect.ELIMINATES)


@dataclass(frozen=True)
class Distribution:
    """Throws with their weights, at least one above 0.

    Attributes:
        name: of the source.
        throws: no two of one label.
        weights: of each throw; counts where the source is a sample.
        sample_size: rolls that were counted; None where the weights are probabilities.
    """

    name: str
    throws: tuple[Throw, ...]
    weights: tuple[float, ...]
    sample_size: int | None = None

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """(n,) of the throws, in their order; they add up to 1."""
        weights = np.asarray(self.weights, dtype=float)
        probabilities: NDArray[np.float64] = weights / weights.sum()
        return probabilities

    def resampled(self, rng: np.random.Generator) -> Distribution:
        """As many rolls drawn anew from the sample (the bootstrap).

        Raises:
            ValueError: not a sample.
        """
        if self.sample_size is None:
            raise ValueError(f"{self.name} is no sample")
        counts = rng.multinomial(self.sample_size, self.probabilities)
        weights = tuple(float(count) for count in counts)
        return Distribution(self.name, self.throws, weights, self.sample_size)


@dataclass(frozen=True)
class ThrowOdds:
    """A distribution under a rule set: one throw, those that are rolled again left out.

    Attributes:
        points: (m,) distinct points of a throw after which the turn goes on, ascending; 0 where
            the rules let a pig off the table count for nothing.
        probabilities: (m,) of each.
        loses_turn, loses_score, eliminates: probabilities of the throws that end the turn.
        rolls_again: probability that a throw does not count, of all throws.
    """

    points: tuple[int, ...]
    probabilities: tuple[float, ...]
    loses_turn: float
    loses_score: float
    eliminates: float
    rolls_again: float

    @property
    def expected_points(self) -> float:
        """Of one throw, 0 where it ends the turn."""
        pairs = zip(self.points, self.probabilities, strict=True)
        return sum(points * probability for points, probability in pairs)

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
    throws, probabilities = distribution.throws, distribution.probabilities.tolist()
    for throw, probability in zip(throws, probabilities, strict=True):
        effect = rules.effect(throw.outcome)
        by_effect[effect] += probability
        if effect in (Effect.SCORES, Effect.NOTHING) and probability > 0:
            points = throw.points or 0
            by_points[points] = by_points.get(points, 0.0) + probability
    counts = 1.0 - by_effect[Effect.ROLLS_AGAIN]
    if not any(points > 0 for points in by_points) or counts <= 0:
        raise ConfigError(
            f"{distribution.name}: none of its throws scores points, so no game would end; "
            "take a source with more rolls"
        )
    # Banked points and what calls move are multiples of this.
    step = math.gcd(*by_points)
    if rules.reach is Reach.EXACTLY and rules.target % step:
        raise ConfigError(
            f"{distribution.name}: all of its points are multiples of {step}, so nobody would ever "
            f"stand at exactly {rules.target}; take a target that is one, or reach=at_least"
        )
    points_in_order = tuple(sorted(by_points))
    return ThrowOdds(
        points_in_order,
        tuple(by_points[points] / counts for points in points_in_order),
        by_effect[Effect.LOSES_TURN] / counts,
        by_effect[Effect.LOSES_SCORE] / counts,
        by_effect[Effect.ELIMINATES] / counts,
        by_effect[Effect.ROLLS_AGAIN],
    )


def known(name: str, throws: Sequence[Throw], probabilities: Sequence[float]) -> Distribution:
    """A distribution that no sample is behind, such as a die's."""
    return Distribution(name, tuple(throws), tuple(probabilities))

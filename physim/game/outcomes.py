"""Where throws come from: a protocol, and the sources that need nothing but values.

Live physics is one of them: whoever has a simulator hands its rolls over, so that the game needs
no engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import numpy as np

from physim.errors import GameError
from physim.game.distribution import Distribution
from physim.rules.throws import Throw, read_throw
from physim.values import Roll

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

"""Who sits where: people by their names, bots by their strategies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from physim.game.distribution import Distribution
from physim.play.players import NAMES, distinct_names, make_players, read_spec
from physim.play.solver import Solution
from physim.play.strategies import Strategy
from physim.rules.ruleset import RuleSet


@dataclass(frozen=True)
class Seat:
    """A place at the table; `spec` is a bot's strategy, None for a person."""

    name: str
    spec: str | None = None


def read_seats(players: Sequence[str]) -> list[Seat]:
    """What each text stands for: a strategy's name, or anything with a colon, is a bot.

    Raises:
        ConfigError: an unknown strategy.
    """
    specs = [text if _is_bot(text) else None for text in players]
    for spec in specs:
        if spec is not None:
            read_spec(spec)
    names = iter(distinct_names(spec for spec in specs if spec is not None))
    return [
        Seat(text) if spec is None else Seat(next(names), spec)
        for text, spec in zip(players, specs, strict=True)
    ]


def make_bots(
    seats: Sequence[Seat],
    rules: RuleSet,
    distribution: Distribution,
    solution: Callable[[], Solution],
) -> list[Strategy | None]:
    """A strategy a seat; None for a person.

    Raises:
        ConfigError: `optimal` among more than two.
    """
    specs = [seat.spec for seat in seats if seat.spec is not None]
    made = iter(make_players(specs, rules, distribution, seats=len(seats), solution=solution))
    return [None if seat.spec is None else next(made) for seat in seats]


def _is_bot(text: str) -> bool:
    return ":" in text or text.strip().replace("-", "_") in NAMES

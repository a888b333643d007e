"""Who plays, in which order, from which scores: all that a game starts with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from physim import config
from physim.errors import GameError, shown, shown_name
from physim.rules.ruleset import FirstPlayer, RuleSet

MAX_PLAYERS = 100
_LONGEST_NAME = 40


@dataclass(frozen=True)
class Player:
    """A player; the id never changes, whoever else leaves."""

    id: str
    name: str


@dataclass(frozen=True)
class Start:
    """A game before its first throw."""

    rules: RuleSet
    players: tuple[Player, ...]  # at least two, in the order of turns
    scores: tuple[int, ...]  # banked; other than 0 where a game is taken up from elsewhere
    first: int = 0  # seat that begins

    def seat(self, player: str) -> int:
        """The place of a player's id.

        Raises:
            GameError: no such player.
        """
        for seat, one in enumerate(self.players):
            if one.id == player:
                return seat
        ids = ", ".join(f"{one.id} ({one.name})" for one in self.players)
        raise GameError(f"no player `{shown_name(player)}` (players: {ids})")


def start(
    rules: RuleSet,
    names: Sequence[str],
    scores: Sequence[int] | None = None,
    *,
    first: str | None = None,
    game_number: int = 0,
    rng: np.random.Generator | None = None,
) -> Start:
    """A new game.

    Args:
        rules: of the game.
        names: of the players, in the order of turns; no two alike.
        scores: banked points that they start with; None for 0 each.
        first: name of who begins; None leaves it to the rules, or is the first of the names.
        game_number: from 0, for rules by which the first player rotates.
        rng: for rules by which the first player is drawn.

    Raises:
        GameError: too few or too many players, two of one name, or impossible scores.
    """
    if not 2 <= len(names) <= MAX_PLAYERS:
        raise GameError(
            f"a game has 2 to {MAX_PLAYERS} players, found {len(names)}; name each of them"
        )
    plain = [config.text("a player's name", name).strip() for name in names]
    for name in plain:
        if len(name) > _LONGEST_NAME or not name.isprintable():
            raise GameError(
                f"{shown(name)} is no name of a player: at most {_LONGEST_NAME} letters"
            )
        if plain.count(name) > 1:
            raise GameError(f"two players are called {name}; give each a name of their own")
    given = [0] * len(plain) if scores is None else list(scores)
    if len(given) != len(plain):
        raise GameError(f"{len(plain)} players, but {len(given)} scores to start from")
    for name, score in zip(plain, given, strict=True):
        if type(score) is not int or not 0 <= score < rules.target:
            raise GameError(
                f"{name} cannot start from {shown(score)}: points from 0 to "
                f"{rules.target - 1}, below the target"
            )
    if first is not None and first not in plain:
        raise GameError(
            f"{shown_name(first)} cannot begin: not one of the players ({', '.join(plain)})"
        )
    players = tuple(Player(f"p{number}", name) for number, name in enumerate(plain, start=1))
    seat = 0
    if first is not None:
        seat = plain.index(first)
    elif rules.first_player is FirstPlayer.ROTATION:
        seat = game_number % len(plain)
    elif rules.first_player is FirstPlayer.RANDOM:
        if rng is None:
            raise GameError("the rules draw the first player: give a seed, or name who begins")
        seat = int(rng.integers(len(plain)))
    return Start(rules, players, tuple(given), seat)

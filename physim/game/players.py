"""Who plays, in which order, from which scores: all that a game starts with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from physim import config, errors
from physim.errors import GameError
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
    """A game before its first throw.

    Attributes:
        rules: of the game.
        players: at least two, in the order of turns.
        scores: banked points a player; other than 0 where a game is taken up from elsewhere.
        first: place of the player who begins.
    """

    rules: RuleSet
    players: tuple[Player, ...]
    scores: tuple[int, ...]
    first: int = 0

    def seat(self, player: str) -> int:
        """The place of a player's id.

        Raises:
            GameError: no such player.
        """
        for seat, one in enumerate(self.players):
            if one.id == player:
                return seat
        ids = ", ".join(f"{one.id} ({one.name})" for one in self.players)
        raise GameError(f"no player `{errors.shown_name(player)}` (players: {ids})")


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
        first: name of who begins, whatever the rules say; None leaves it to them, which is the
            first of the names where they want one to be chosen.
        game_number: from 0, for rules by which the first player rotates.
        rng: for rules by which the first player is drawn.

    Raises:
        GameError: too few or too many players, two of one name, or impossible scores.
    """
    if not 2 <= len(names) <= MAX_PLAYERS:
        raise GameError(
            f"a game has 2 to {MAX_PLAYERS} players, found {len(names)}; name each of them"
        )
    plain = [_name(name) for name in names]
    twice = sorted({name for name in plain if plain.count(name) > 1})
    if twice:
        raise GameError(f"two players are called {twice[0]}; give each a name of their own")
    given = [0] * len(plain) if scores is None else list(scores)
    if len(given) != len(plain):
        raise GameError(f"{len(plain)} players, but {len(given)} scores to start from")
    for name, score in zip(plain, given, strict=True):
        check_score(rules, name, score)
    players = tuple(Player(f"p{number}", name) for number, name in enumerate(plain, start=1))
    seat = _first(rules, plain, first, game_number, rng)
    return Start(rules, players, tuple(given), seat)


def check_score(rules: RuleSet, name: str, score: int) -> None:
    """Refuses a start at or beyond the target.

    Raises:
        GameError: the score is out of range.
    """
    if isinstance(score, bool) or not isinstance(score, int) or not 0 <= score < rules.target:
        raise GameError(
            f"{name} cannot start from {errors.shown(score)}: points from 0 to "
            f"{rules.target - 1}, below the target"
        )


def _name(name: str) -> str:
    plain = config.text("a player's name", name).strip()
    if len(plain) > _LONGEST_NAME or not plain.isprintable():
        raise GameError(
            f"{errors.shown(plain)} is no name of a player: at most {_LONGEST_NAME} letters"
        )
    return plain


def _first(
    rules: RuleSet,
    names: Sequence[str],
    first: str | None,
    game_number: int,
    rng: np.random.Generator | None,
) -> int:
    if first is not None:
        if first not in names:
            raise GameError(
                f"{errors.shown_name(first)} cannot begin: not one of the players "
                f"({', '.join(names)})"
            )
        return names.index(first)
    if rules.first_player is FirstPlayer.ROTATION:
        return game_number % len(names)
    if rules.first_player is FirstPlayer.RANDOM:
        if rng is None:
            raise GameError("the rules draw the first player: give a seed, or name who begins")
        return int(rng.integers(len(names)))
    return 0

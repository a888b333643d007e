"""Moves as a person types them, one a line: for scripts, pipes and the score pad.

    trotter snouter          a throw by its two poses, or `trotter+snouter`, `pig_out`, `oinker` ...
    bank                     stop
    points 15, points -5     the turn's points, without the throw
    call Ben trotter+razorback
    correct Ben 40           sets banked points
    remove Ben               takes a player out

Players go by name or id.
"""

from __future__ import annotations

from collections.abc import Sequence

from physim.arguments import shown, shown_name
from physim.errors import GameError
from physim.game.events import Banked, Called, Corrected, Event, Points, Removed, Thrown
from physim.game.players import Player
from physim.rules.hog_call import read_prediction
from physim.rules.ruleset import RuleSet
from physim.rules.throws import read_throw


def read_move(text: str, players: Sequence[Player], rules: RuleSet) -> Event:
    """The move of one line.

    Raises:
        GameError: a form, player or number that is none.
        ConfigError: an unknown throw or prediction.
    """
    verb, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if verb == "bank" and not rest:
        return Banked()
    if verb == "points":
        return Points(_whole(rest))
    if verb in ("call", "correct", "remove"):
        player, rest = _player(rest, players)
        if verb == "call":
            return Called(player.id, read_prediction(rest, rules))
        if verb == "correct":
            return Corrected(player.id, _whole(rest))
        if not rest:
            return Removed(player.id)
        raise GameError(f"`remove` takes a player alone, found {shown_name(rest)} after it")
    if not verb:
        raise GameError("an empty line is no move; enter a throw, or bank")
    return Thrown(read_throw(text))


def _player(text: str, players: Sequence[Player]) -> tuple[Player, str]:
    """The player that a line begins with, and what follows; a longer name goes first."""
    names = [(name, player) for player in players for name in (player.name, player.id)]
    for name, player in sorted(names, key=lambda pair: -len(pair[0])):
        rest = text[len(name) :]
        if text.casefold().startswith(name.casefold()) and (not rest or rest[0].isspace()):
            return player, rest.strip()
    valid = ", ".join(player.name for player in players)
    raise GameError(f"no player at the start of {shown(text)} (players: {valid})")


def _whole(text: str) -> int:
    digits = text.removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise GameError(f"{shown(text)} is no whole number of points, such as 15 or -5")
    return int(text)

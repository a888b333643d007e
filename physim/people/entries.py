"""What the swineherd types about real pigs: short names, points, a whole turn."""

from __future__ import annotations

import re

from physim.errors import GameError
from physim.game.commands import read_move
from physim.game.events import Banked, Event, Points, Thrown
from physim.game.game import Game
from physim.names import Outcome, Pose
from physim.rules.hog_call import SHORT_POSES
from physim.rules.throws import read_throw

SHORT = {
    **SHORT_POSES,
    "jowler": Pose.LEANING_JOWLER.value,
    "up": Pose.SIDE_DOT_UP.value,
    "down": Pose.SIDE_DOT_DOWN.value,
    "o": Outcome.OINKER.value,
    "bacon": Outcome.OINKER.value,
    "out": Outcome.PIG_OUT.value,
}
"""Names that are quick to type; a pose alone stands beside a pig on its side."""

_VERBS = ("points", "call", "correct", "remove")
_POINTS = re.compile(r"[+-]?\d{1,9}")
_TURN = re.compile(r"turn\s+(\d{1,9})")


def read_entry(line: str, game: Game) -> list[Event]:
    """The moves of one line.

    Args:
        line: as `read_move` takes it, with short names; `5`, `+5` or `-5`; or `turn 23`.
        game: where it is to be made; a single call takes up to two moves.

    Raises:
        GameError: a form, player or number that is none.
        ConfigError: an unknown throw or prediction.
    """
    plain = line.strip()
    turn = _TURN.fullmatch(plain.lower())
    if turn:
        return _whole_turn(int(turn[1]), game)
    if _POINTS.fullmatch(plain):
        return [Points(int(plain))]
    if plain.lower() in ("b", "bank"):
        return [Banked()]
    verb, _, rest = plain.partition(" ")
    verb = verb.lower()
    if verb in _VERBS:
        if verb == "call":  # the prediction is its last word, or two
            rest = " ".join(_long(word) if "+" in word else word for word in rest.split())
        return [read_move(f"{verb} {rest}", game.players, game.start.rules)]
    if not plain:
        raise GameError("an empty line is no entry; enter a throw, points, or bank")
    return [Thrown(read_throw(_long(plain)))]


def _long(text: str) -> str:
    """A throw with the short names written out."""
    words = text.lower().replace("+", " ").split()
    joint = "+" if "+" in text else " "
    return joint.join(SHORT.get(word, word) for word in words)


def _whole_turn(points: int, game: Game) -> list[Event]:
    """A turn that somebody added up; with 0 points it was lost to a pig out."""
    if game.state.rolls:
        raise GameError(
            f"the turn has {game.state.turn_total} points already; add to them with +N and bank, "
            "or undo them first"
        )
    if points == 0:
        return [Thrown(read_throw(Outcome.PIG_OUT.value))]
    return [Points(points), Banked()]

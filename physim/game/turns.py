"""The turns of a game, one after the other: for a table on the screen, and for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields

from physim.game.game import Game
from physim.game.game_state import Banked, Corrected, Event, Removed, Thrown

_WORDS: dict[type[Event], str] = {Banked: "bank", Removed: "remove", Corrected: "correct"}


@dataclass(frozen=True)
class Turn:
    """A finished turn.

    Attributes:
        turn: its number, from 1.
        player: the name.
        before: points banked just before it ended.
        points: that were banked; 0 where they were lost.
        after: points banked when it had ended.
        ended_by: `bank`, the label of a throw, `remove` or `correct`.
    """

    turn: int
    player: str
    before: int
    points: int
    after: int
    ended_by: str


def turns_of(game: Game) -> Iterator[Turn]:
    """All finished turns, also the one in which the game ended."""
    again = Game(game.start)
    for event in game.events:
        state = again.state.copy()
        again.do(event)
        if again.state.turns == state.turns:
            continue
        seat = state.current
        banked = isinstance(event, Banked) and not state.rules.overshot(state.total)
        yield Turn(
            turn=again.state.turns,
            player=game.players[seat].name,
            before=state.scores[seat],
            points=state.turn_total if banked else 0,
            after=again.state.scores[seat],
            ended_by=event.throw.label if isinstance(event, Thrown) else _WORDS[type(event)],
        )


def turns_csv(game: Game) -> str:
    """The turns as CSV with a head; its columns are the attributes of `Turn`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([field.name for field in fields(Turn)])
    writer.writerows(map(astuple, turns_of(game)))
    return out.getvalue()

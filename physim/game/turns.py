"""What a game that is over leaves: its turns, for a table or a spreadsheet, and counts of poses."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields

from physim.game.game import Game
from physim.game.game_state import Banked, Corrected, Event, Points, Removed, Thrown
from physim.rules.score import SCORING_POSES
from physim.types import Outcome, Pose

_WORDS: dict[type[Event], str] = {Banked: "bank", Removed: "remove", Corrected: "correct"}


_PAIRS = {
    Outcome.OINKER: ("touching", "touching"),
    Outcome.PIG_OUT: (Pose.SIDE_DOT_UP.value, Pose.SIDE_DOT_DOWN.value),
    **{Outcome(f"double_{pose.value}"): (pose.value, pose.value) for pose in SCORING_POSES},
}
"""What a throw that is entered by its name tells of both pigs."""


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
    return _csv([field.name for field in fields(Turn)], map(astuple, turns_of(game)))


def counts_csv(game: Game) -> tuple[str, int]:
    """The throws counted by both poses, with the columns black, pink and rolls; and those left out.

    Pigs that touch count as `touching`. A pig out by name is a side up and a side down. Left out
    is what does not tell both poses: points, `trotter` alone, a pig off the table.
    """
    counts: Counter[tuple[str, str]] = Counter()
    left_out = 0
    for event in game.events:
        if isinstance(event, Points):
            left_out += 1
        elif isinstance(event, Thrown):
            throw = event.throw
            pair = _PAIRS.get(throw.outcome)
            if throw.poses is not None and throw.outcome is not Outcome.OINKER:
                pair = (throw.poses[0].value, throw.poses[1].value)
            if pair is None:
                left_out += 1
            else:
                counts[pair] += 1
    rows = [(*pair, rolls) for pair, rolls in sorted(counts.items())]
    return _csv(["black", "pink", "rolls"], rows), left_out


def _csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return out.getvalue()

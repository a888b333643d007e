"""A move in words, for the terminal and for transcripts."""

from __future__ import annotations

from physim.game.events import Banked, Called, Corrected, Event, Points, Removed, Thrown
from physim.game.players import Start
from physim.game.state import State
from physim.rules.hog_call import is_right
from physim.rules.ruleset import Effect
from physim.rules.throws import Throw


def tell(start: Start, before: State, event: Event, after: State) -> list[str]:
    """What a move did, a line a fact; the last line names the winner or the next player."""
    names = [player.name for player in start.players]
    roller = names[before.current]
    if isinstance(event, Thrown):
        lines = _thrown(names, before, event.throw, after)
    elif isinstance(event, Banked):
        lines = [_banked(roller, before, after)]
    elif isinstance(event, Called):
        lines = [f"{names[start.seat(event.player)]} calls {event.prediction}"]
    elif isinstance(event, Points):
        lines = [f"{roller}: {event.points:+d} points; {after.turn_total} this turn"]
    elif isinstance(event, Removed):
        lines = [f"{names[start.seat(event.player)]} is taken out of the game"]
    elif isinstance(event, Corrected):
        seat = start.seat(event.player)
        lines = [f"{names[seat]} is corrected from {before.scores[seat]} to {event.score}"]
    if after.winner is not None:
        lines.append(f"{names[after.winner]} wins with {after.scores[after.winner]}")
    elif after.turns != before.turns:
        lines.append(f"{names[after.current]} is next")
    return lines


def standings(start: Start, state: State) -> str:
    """All banked points in one line."""
    return ", ".join(
        f"{player.name} {score}{' (out)' if out else ''}"
        for player, score, out in zip(start.players, state.scores, state.out, strict=True)
    )


def _thrown(names: list[str], before: State, throw: Throw, after: State) -> list[str]:
    roller, seat = names[before.current], before.current
    said = f"{roller}: {throw.label}"
    effect = before.rules.effect(throw.outcome)
    if effect is Effect.ROLLS_AGAIN:
        return [f"{said}, rolled again"]
    if effect is Effect.NOTHING:
        return [f"{said}, no points; {before.turn_total} this turn"]
    if effect is Effect.LOSES_TURN:
        return [f"{said}, loses the {before.turn_total} of this turn"]
    if effect is Effect.LOSES_SCORE:
        return [f"{said}, loses the {before.turn_total} of this turn and all {before.scores[seat]}"]
    if effect is Effect.ELIMINATES:
        return [f"{said}, is out of the game"]
    points = throw.points or 0
    lines = [f"{said}, {points} point{'s' * (points != 1)}; {before.turn_total + points} this turn"]
    if before.call is not None:
        caller = before.call.caller
        right = is_right(before.call.prediction, throw, before.rules)
        moves = [
            f"{names[one]} {before.scores[one]} to {after.scores[one]}" for one in (caller, seat)
        ]
        lines.append(f"{names[caller]} called {'right' if right else 'wrong'}: {', '.join(moves)}")
    return lines


def _banked(roller: str, before: State, after: State) -> str:
    if before.rules.overshot(before.total):
        return (
            f"{roller} would have {before.total}, more than {before.rules.target}: banks nothing, "
            f"{after.scores[before.current]}"
        )
    return f"{roller} banks {before.turn_total}: {after.scores[before.current]}"

"""A game as the swineherd keeps it: a start and a log of events, from which the state follows.

Moves as a person types them, one a line: for scripts, pipes and the score pad.

    trotter snouter          a throw by its two poses, or `trotter+snouter`, `pig_out`, `oinker` ...
    bank                     stop
    points 15, points -5     the turn's points, without the throw
    call Ben trotter+razorback
    correct Ben 40           sets banked points
    remove Ben               takes a player out

Players go by name or id.

A move in words, for the terminal and for transcripts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from physim.errors import GameError, shown, shown_name
from physim.game.game_state import (
    Banked,
    Called,
    Corrected,
    Event,
    Points,
    Removed,
    State,
    Thrown,
    check,
)
from physim.game.players import Player, Start
from physim.rules.hog_call import is_right, read_prediction
from physim.rules.ruleset import Effect, RuleSet
from physim.rules.throws import Throw, read_throw


class Game:
    """A game under way.

    Attributes:
        start: what it began with.
        state: where it stands; to be read, not changed.
    """

    def __init__(self, start: Start, events: Iterable[Event] = ()) -> None:
        """Plays `events`, such as those of a saved game; raises as `do`."""
        self.start = start
        self._events: list[Event] = []
        self.state = _before(start)
        for event in events:
            self.do(event)

    @property
    def events(self) -> tuple[Event, ...]:
        """The log."""
        return tuple(self._events)

    @property
    def players(self) -> tuple[Player, ...]:
        return self.start.players

    @property
    def current(self) -> Player:
        """Whose turn it is, or was when the game ended."""
        return self.players[self.state.current]

    @property
    def winner(self) -> Player | None:
        return None if self.state.winner is None else self.players[self.state.winner]

    def score(self, player: str) -> int:
        """Banked points of the player of that id."""
        return self.state.scores[self.start.seat(player)]

    def do(self, event: Event) -> None:
        """Makes one move.

        Raises:
            GameError: not allowed now; nothing has changed.
            ConfigError: a prediction that cannot be called; likewise.
        """
        check(self.start, self.state, event)
        _apply(self.start, self.state, event)
        self._events.append(event)

    def undo(self) -> Event:
        """Takes the last move back, as far as the start.

        Returns:
            The move; `do` makes it again.

        Raises:
            GameError: nothing has happened yet.
        """
        if not self._events:
            raise GameError("nothing to undo: the game has just begun")
        event = self._events.pop()
        self.state = replay(self.start, self._events)
        return event


def replay(start: Start, events: Iterable[Event]) -> State:
    """The state after events that were allowed."""
    state = _before(start)
    for event in events:
        _apply(start, state, event)
    return state


def _before(start: Start) -> State:
    return State.start(start.rules, start.scores, start.first)


def _apply(start: Start, state: State, event: Event) -> None:
    if isinstance(event, Thrown):
        state.throw(event.throw)
    elif isinstance(event, Banked):
        state.bank()
    elif isinstance(event, Called):
        state.shout(start.seat(event.player), event.prediction)
    elif isinstance(event, Points):
        state.add(event.points)
    elif isinstance(event, Removed):
        state.remove(start.seat(event.player))
    elif isinstance(event, Corrected):
        state.correct(start.seat(event.player), event.score)


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

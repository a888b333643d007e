"""A game as the swineherd keeps it: a start and a log of events, from which the state follows."""

from __future__ import annotations

from collections.abc import Iterable

from physim.errors import GameError
from physim.game.events import Banked, Called, Corrected, Event, Points, Removed, Thrown
from physim.game.legal import check
from physim.game.players import Player, Start
from physim.game.state import State


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

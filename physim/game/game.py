"""A game as the swineherd keeps it: a start and a log of events, from which the state follows.

`read_move` reads a move as a person types it, for scripts, pipes and the score pad:

    trotter snouter          a throw by its two poses, or `trotter+snouter`, `pig_out`, `oinker` ...
    bank                     stop
    points 15, points -5     the turn's points, without the throw
    call Ben trotter+razorback       or as it is shouted: Sooee Ben trotter and razorback
    correct Ben 40           sets banked points
    remove Ben               takes a player out

Players go by name or id, see `player_called`. `tell` says what a move did, for the terminal and
for transcripts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from physim.errors import GameError, shown, shown_name
from physim.game.game_state import (
    Banked,
    Called,
    Corrected,
    Event,
    Player,
    Points,
    Removed,
    Start,
    State,
    Thrown,
    call_refusal,
    player_called,
)
from physim.rules.ruleset import MAX_TARGET, Effect, RuleSet, is_right, read_prediction
from physim.rules.score import Throw, labelled_throws, outcome_of, points_text, read_throw
from physim.types import Outcome

_WHATEVER_THE_POSES = (Outcome.OINKER, Outcome.PIGGYBACK, Outcome.OFF_TABLE, Outcome.UNSETTLED)
_THROWS = labelled_throws()
MOVES = ("bank", "points", "call", "correct", "remove")
"""The first words of moves that are no throws."""
_SHORT = {"b": "bank", "sooee": "call"}


class Game:
    """A game under way.

    Attributes:
        start: what it began with.
        state: where it stands; to be read, not changed.
    """

    def __init__(self, start: Start, events: Iterable[Event] = ()) -> None:
        """Plays `events`, such as those of a saved game; raises as `do`."""
        self.start = start
        self.state = State.start(start.rules, start.scores, start.first)
        self._events: list[Event] = []
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
        """The player whose turn it is, or was when the game ended."""
        return self.players[self.state.current]

    @property
    def winner(self) -> Player | None:
        return None if self.state.winner is None else self.players[self.state.winner]

    def do(self, event: Event) -> None:
        """Makes one move.

        Raises:
            GameError: not allowed now; nothing has changed.
            ConfigError: a prediction that cannot be called; likewise.
        """
        state = self.state
        if self.winner is not None:
            raise GameError(
                f"the game is over, {self.winner.name} has won; undo, or start another one"
            )
        if isinstance(event, Thrown):
            _check_throw(event.throw)
            state.throw(event.throw)
        elif isinstance(event, Points):
            _check_points(state, event.points)
            state.add(event.points)
        elif isinstance(event, Banked):
            if state.call is not None:
                raise GameError("a Hog Call waits for the throw; throw before you bank")
            if state.rolls == 0:
                raise GameError("nothing is thrown yet; throw at least once, then bank")
            state.bank()
        else:
            self._do_of_player(event, self.start.seat(event.player))
        self._events.append(event)

    def _do_of_player(self, event: Called | Removed | Corrected, seat: int) -> None:
        state, name = self.state, self.players[seat].name
        if isinstance(event, Called):
            refusal = call_refusal(state, seat, [player.name for player in self.players])
            if refusal:
                raise GameError(refusal)
            if event.prediction != read_prediction(event.prediction, state.rules):
                raise GameError(f"`{event.prediction}` is not as `read_prediction` returns it")
            state.shout(seat, event.prediction)
        elif state.out[seat]:
            raise GameError(f"{name} is out of the game; undo that first")
        elif isinstance(event, Removed):
            state.remove(seat)
        elif 0 <= event.score <= MAX_TARGET:
            state.correct(seat, event.score)
        else:
            raise GameError(f"a score is from 0 to {MAX_TARGET}, found {event.score}")

    def undo(self) -> Event:
        """Takes the last move back, as far as the start; `do` makes it again.

        Raises:
            GameError: nothing has happened yet.
        """
        if not self._events:
            raise GameError("nothing to undo: the game has just begun")
        event = self._events.pop()
        self.state = Game(self.start, self._events).state
        return event


def _check_throw(throw: Throw) -> None:
    """Refuses a name, points and poses that do not go together, as of a file tampered with."""
    known, poses = _THROWS.get(throw.label), throw.poses
    possible = known is not None and known.points == throw.points
    if poses is not None and throw.outcome not in _WHATEVER_THE_POSES:
        possible = possible and outcome_of(*poses) is throw.outcome
    if not possible:
        by = "" if poses is None else f" by {', '.join(poses)}"
        raise GameError(
            f"{throw.outcome.value}{by} cannot be worth {shown(throw.points)}; enter both poses"
        )


def _check_points(state: State, points: int) -> None:
    if state.call is not None:
        raise GameError("this throw was called: enter what the pigs show, not only the points")
    if not 0 < abs(points) <= MAX_TARGET:
        raise GameError(f"points are a whole number other than 0, found {points}")
    if state.turn_total + points < 0:
        raise GameError(
            f"the turn has {state.turn_total} points; taking {-points} away would leave fewer "
            "than 0. To change banked points, correct the player's score"
        )


def read_move(
    text: str, players: Sequence[Player], rules: RuleSet, commands: Iterable[str] = MOVES
) -> Event:
    """The move of one line; a throw as `read_throw` takes it.

    Args:
        text: the line.
        players: of the game.
        rules: of the game.
        commands: that may be typed there, for the message about an unknown word.

    Raises:
        GameError: a form, player or number that is none.
        ConfigError: an unknown throw or prediction.
    """
    verb, _, rest = text.strip().partition(" ")
    verb, rest = verb.lower().rstrip("!,:"), rest.strip()
    verb = _SHORT.get(verb, verb)
    if not verb:
        raise GameError("an empty line is no move; enter a throw, or bank")
    if verb == "bank":
        if rest:
            raise GameError(f"`bank` stands alone, found {shown(rest)} after it")
        return Banked()
    if verb == "points":
        return Points(_whole(rest))
    if verb not in MOVES:
        return Thrown(read_throw(text, commands))
    player, rest = _player(rest, players)
    if verb == "call":
        return Called(player.id, read_prediction(rest, rules))
    if verb == "correct":
        return Corrected(player.id, _whole(rest))
    if rest:
        raise GameError(f"`remove` takes a player alone, found {shown_name(rest)} after it")
    return Removed(player.id)


def _player(text: str, players: Sequence[Player]) -> tuple[Player, str]:
    """The player that a line begins with, and what follows; a longer name goes first."""
    words = text.split()
    for count in range(len(words), 0, -1):
        player = player_called(" ".join(words[:count]), players)
        if player is not None:
            return player, " ".join(words[count:])
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
    elif isinstance(event, Points):
        lines = [f"{roller}: {event.points:+d} points; {after.turn_total} this turn"]
    elif isinstance(event, Banked):
        lines = [f"{roller} banks {before.turn_total}: {after.scores[before.current]}"]
        if before.rules.overshot(before.total):
            beyond = f"{before.total}, more than {before.rules.target}"
            lines = [f"{roller} would have {beyond}: banks nothing, {after.scores[before.current]}"]
    else:
        seat = start.seat(event.player)
        what = "is taken out of the game"
        if isinstance(event, Called):
            what = f"calls {event.prediction}"
        elif isinstance(event, Corrected):
            what = f"is corrected from {before.scores[seat]} to {event.score}"
        lines = [f"{names[seat]} {what}"]
    if after.winner is not None:
        return [*lines, f"{names[after.winner]} wins with {after.scores[after.winner]}"]
    reached = [seat for seat in after.playing if after.rules.reached(after.scores[seat])]
    if reached and not any(map(before.rules.reached, before.scores)):
        still = [names[seat] for seat in _rest_of_round(after)]
        lines.append(
            f"{names[reached[0]]} has reached {after.rules.target}; the round is the last, still "
            f"to play: {', '.join(still)}"
        )
    if after.turns != before.turns:
        lines.append(f"{names[after.current]} is next")
    return lines


def _rest_of_round(state: State) -> list[int]:
    """Seats from the current one to the last before that which began."""
    left = (state.first - state.current) % state.seats or state.seats
    order = [(state.current + step) % state.seats for step in range(left)]
    return [seat for seat in order if not state.out[seat]]


def standings(start: Start, state: State) -> str:
    """All banked points in one line, and the points of a turn under way."""
    cells = []
    for seat, (player, score) in enumerate(zip(start.players, state.scores, strict=True)):
        under_way = seat == state.current and state.turn_total > 0 and state.winner is None
        turn = f" + {state.turn_total} this turn" if under_way else ""
        cells.append(f"{player.name} {score}{turn}{' (out)' if state.out[seat] else ''}")
    return ", ".join(cells)


def _thrown(names: Sequence[str], before: State, throw: Throw, after: State) -> list[str]:
    seat, turn, call = before.current, before.turn_total, before.call
    points = throw.points or 0
    lost = f"loses the {turn} of this turn"
    told = {
        Effect.SCORES: f"{points_text(points)}; {turn + points} this turn",
        Effect.NOTHING: f"no points; {turn} this turn",
        Effect.ROLLS_AGAIN: "rolled again",
        Effect.LOSES_TURN: lost,
        Effect.LOSES_SCORE: f"{lost} and all {before.scores[seat]}",
        Effect.ELIMINATES: "is out of the game",
    }
    effect = before.rules.effect(throw.outcome)
    lines = [f"{names[seat]}: {throw.label}, {told[effect]}"]
    if effect is Effect.SCORES and call is not None:
        verdict = "right" if is_right(call.prediction, throw, before.rules) else "wrong"
        moves = [
            f"{names[one]} {before.scores[one]} to {after.scores[one]}"
            for one in (call.caller, seat)
        ]
        lines.append(f"{names[call.caller]} called {verdict}: {', '.join(moves)}")
    return lines

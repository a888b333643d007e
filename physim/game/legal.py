"""Which moves the rules allow where a game stands; a refusal says why and what to do instead."""

from __future__ import annotations

from physim.arguments import shown
from physim.errors import GameError
from physim.game.events import Banked, Called, Corrected, Event, Points, Removed, Thrown
from physim.game.players import Start
from physim.game.state import State
from physim.names import Outcome
from physim.rules.hog_call import read_prediction
from physim.rules.ruleset import MAX_TARGET, Predicts
from physim.rules.throws import Throw, labelled_throws, throw_of


def check(start: Start, state: State, event: Event) -> None:
    """Refuses what is not allowed now.

    Raises:
        GameError: the move is not allowed.
        ConfigError: a prediction that cannot be called.
    """
    if state.winner is not None:
        name = start.players[state.winner].name
        raise GameError(f"the game is over, {name} has won; undo, or start another one")
    if isinstance(event, Called):
        _check_call(start, state, event)
    elif isinstance(event, Thrown):
        _check_throw(state, event.throw)
    elif isinstance(event, Points):
        _check_points(state, event.points)
    elif isinstance(event, Banked):
        if state.call is not None:
            raise GameError("a Hog Call waits for the throw; throw before you bank")
        if state.rolls == 0:
            raise GameError("nothing is thrown yet in this turn; throw at least once, then bank")
    elif isinstance(event, Removed):
        if state.out[start.seat(event.player)]:
            raise GameError(f"{_name(start, event.player)} is out of the game already")
    elif isinstance(event, Corrected):
        seat = start.seat(event.player)
        if state.out[seat]:
            raise GameError(f"{_name(start, event.player)} is out of the game; undo that first")
        if not 0 <= event.score <= MAX_TARGET:
            raise GameError(f"a score is from 0 to {MAX_TARGET}, found {event.score}")


def may_call(state: State, seat: int) -> bool:
    """Whether this player may shout now."""
    return (
        state.rules.hog_call
        and state.call is None
        and state.winner is None
        and seat != state.current
        and not state.out[seat]
        and state.scores[seat] >= state.rules.hog_call_least_points
    )


def is_possible(throw: Throw) -> bool:
    """Whether the throw's name, points and poses can go together."""
    if throw.poses is not None and throw.outcome not in _WHATEVER_THE_POSES:
        return throw == throw_of(*throw.poses)
    if throw.outcome is Outcome.MIXED_COMBO:
        return throw.points in _MIXED_POINTS
    return _FIXED[throw.outcome.value].points == throw.points


def _check_call(start: Start, state: State, event: Called) -> None:
    rules, seat = state.rules, start.seat(event.player)
    name = _name(start, event.player)
    if not rules.hog_call:
        raise GameError(f"the rules {rules.name} have no Hog Call; change them by hog_call=true")
    if state.call is not None:
        first = start.players[state.call.caller].name
        raise GameError(f"{first} was the first to shout; one Hog Call a throw")
    if seat == state.current:
        raise GameError(f"{name} has the pigs: only another player may call")
    if state.out[seat]:
        raise GameError(f"{name} is out of the game and cannot call")
    if not may_call(state, seat):
        raise GameError(
            f"{name} has {state.scores[seat]} points banked; a Hog Call needs "
            f"{rules.hog_call_least_points}"
        )
    if event.prediction != read_prediction(event.prediction, rules):
        raise GameError(f"{event.prediction!r} must be written as `read_prediction` returns it")


def _check_throw(state: State, throw: Throw) -> None:
    if not is_possible(throw):
        poses = "" if throw.poses is None else f" by {', '.join(throw.poses)}"
        raise GameError(
            f"{throw.outcome.value}{poses} cannot be worth {shown(throw.points)}; enter both poses"
        )
    if (
        state.call is not None
        and throw.label == Outcome.MIXED_COMBO.value
        and state.rules.hog_call_predicts is Predicts.POSITIONS
    ):
        raise GameError("this throw was called: enter its two poses, such as trotter+snouter")


def _check_points(state: State, points: int) -> None:
    if state.call is not None:
        raise GameError("this throw was called: enter what the pigs show, not only the points")
    if not -MAX_TARGET <= points <= MAX_TARGET or points == 0:
        raise GameError(f"points are a whole number other than 0, found {points}")
    if state.turn_total + points < 0:
        raise GameError(
            f"the turn has {state.turn_total} points; taking {-points} away would leave fewer "
            "than 0. To change banked points, correct the player's score"
        )


def _name(start: Start, player: str) -> str:
    return start.players[start.seat(player)].name


_WHATEVER_THE_POSES = (
    Outcome.OINKER,
    Outcome.PIGGYBACK,
    Outcome.OFF_TABLE,
    Outcome.UNSETTLED,
)
_FIXED = labelled_throws()
_MIXED_POINTS = {throw.points for throw in _FIXED.values() if throw.outcome is Outcome.MIXED_COMBO}

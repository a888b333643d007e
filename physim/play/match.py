"""One game of strategies against each other."""

from __future__ import annotations

from collections.abc import Sequence

from physim.game.legal import may_call
from physim.game.outcomes import Outcomes
from physim.game.state import State
from physim.play.strategies import Strategy

MOST_THROWS = 100_000
"""After so many a game is given up: not every pair of strategies comes to an end."""


def play(
    state: State,
    players: Sequence[Strategy],
    outcomes: Outcomes,
    most_throws: int = MOST_THROWS,
) -> None:
    """Plays a game to its end, in `state`.

    Args:
        state: where it begins.
        players: one a seat.
        outcomes: where the throws come from.
        most_throws: the game is left without a winner after so many.
    """
    shouting = any(player.calls for player in players)
    while state.winner is None and state.throws < most_throws:
        player = players[state.current]
        # While a call waits for a throw that is rolled again, nobody may change their mind.
        if state.rolls and state.call is None and not player.rolls_again(state):
            state.bank()
            continue
        if shouting and state.call is None:
            shout = first_to_shout(state, players)
            if shout is not None:
                state.shout(*shout)
        state.throw(outcomes.next_throw())


def first_to_shout(state: State, players: Sequence[Strategy | None]) -> tuple[int, str] | None:
    """Of those who want to call, the first from the roller's left.

    Args:
        state: before a throw.
        players: one a seat; None for a person, who is asked elsewhere.

    Returns:
        The caller's seat and the prediction, or None.
    """
    for place in range(1, state.seats):
        seat = (state.current + place) % state.seats
        player = players[seat]
        if player is not None and player.calls and may_call(state, seat):
            prediction = player.call(state, seat)
            if prediction is not None:
                return seat, prediction
    return None

"""What holds in every game, whatever the rules and whoever does what."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from physim.errors import PhysimError
from physim.game.game import Game
from physim.game.game_state import (
    Banked,
    Called,
    Corrected,
    Event,
    Points,
    Removed,
    State,
    Thrown,
    call_refusal,
    start,
)
from physim.game.record import from_json, to_json
from physim.rules.ruleset import RuleSet, load_rules, predictions, rule_set_names
from physim.rules.score import labelled_throws
from physim.types import Outcome

THROWS = list(labelled_throws().values())
FEW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def rule_sets(draw: st.DrawFn) -> RuleSet:
    choice = st.sampled_from
    changes = {
        "target": draw(choice([1, 30, 100])),
        "reach": draw(choice(["at_least", "exactly"])),
        "end": draw(choice(["at_once", "end_of_round"])),
        "oinker_costs": draw(choice(["game_score", "turn"])),
        "piggyback": draw(choice(["eliminates", "costs_everything"])),
        "off_table": draw(choice(["roll_again", "nothing", "turn"])),
        "hog_call": draw(st.booleans()),
        "hog_call_least_points": draw(choice([0, 20])),
        "hog_call_predicts": draw(choice(["positions", "points"])),
        "hog_call_pays": draw(choice(["double_double", "single_double"])),
    }
    return load_rules(draw(choice(rule_set_names())), changes)


@st.composite
def games(draw: st.DrawFn) -> Game:
    """A game after up to 60 moves that were allowed."""
    rules = draw(rule_sets())
    seats = draw(st.integers(2, 5))
    scores = [draw(st.integers(0, rules.target - 1)) for _ in range(seats)]
    names = [f"player {seat}" for seat in range(seats)]
    game = Game(start(rules, names, scores, first=draw(st.sampled_from(names))))
    for _ in range(draw(st.integers(0, 60))):
        if game.winner is not None:
            break
        game.do(draw(st.sampled_from(moves_of(game, draw))))
    return game


def moves_of(game: Game, draw: st.DrawFn) -> list[Event]:
    """A choice of allowed moves: throws and banking far more often than the rest."""
    state = game.state
    moves: list[Event] = [Thrown(draw(st.sampled_from(THROWS))) for _ in range(4)]
    if state.rolls and state.call is None:
        moves += [Banked()] * 3 + [Points(draw(st.integers(1, 20)))]
    prediction = draw(st.sampled_from(predictions(state.rules)))
    for seat, player in enumerate(game.players):
        if not call_refusal(state, seat, range(state.seats)):
            moves.append(Called(player.id, prediction))
    if draw(st.integers(0, 9)) == 0:
        player = game.players[draw(st.sampled_from(state.playing))]
        moves += [Removed(player.id), Corrected(player.id, draw(st.integers(0, 120)))]
    return moves


@FEW
@given(games())
def test_undo_restores_the_exact_prior_state_as_far_as_the_start(game: Game) -> None:
    states = [state.copy() for state in states_of(game)]
    events = list(game.events)
    assert game.state == states[-1]
    for before, event in zip(reversed(states[:-1]), reversed(events), strict=True):
        assert game.undo() == event
        assert game.state == before
    for event, after in zip(events, states[1:], strict=True):
        game.do(event)
        assert game.state == after


@FEW
@given(games())
def test_a_log_rebuilds_the_game(game: Game) -> None:
    again = from_json(json.loads(json.dumps(to_json(game))))
    assert (again.state, again.start, again.events) == (game.state, game.start, game.events)


@FEW
@given(games())
def test_no_score_is_below_zero_and_turns_pass_on(game: Game) -> None:
    for state in states_of(game):
        assert min(state.scores) >= 0 and state.turn_total >= 0
        assert state.playing and (state.winner is None or not state.out[state.winner])
        if state.winner is None:
            assert not state.out[state.current] and len(state.playing) >= 2
        if state.call is not None:
            assert state.call.caller != state.current and not state.out[state.call.caller]


@FEW
@given(games())
def test_banked_points_change_by_rule_alone(game: Game) -> None:
    states = list(states_of(game))
    for before, event, after in zip(states, game.events, states[1:], strict=False):
        changed = {
            seat: (old, new)
            for seat, (old, new) in enumerate(zip(before.scores, after.scores, strict=True))
            if old != new
        }
        if isinstance(event, Banked):
            total = before.scores[before.current] + before.turn_total
            assert set(changed) <= {before.current}
            assert all(new == total for _, new in changed.values())
        elif isinstance(event, Corrected):
            assert set(changed) <= {game.start.seat(event.player)}
        elif isinstance(event, Thrown) and event.throw.points and before.call is not None:
            check_transfer(before, after, event.throw.points)
        elif isinstance(event, Thrown) and changed:
            # Only what costs the game score, and only the roller's.
            assert event.throw.outcome in (Outcome.OINKER, Outcome.PIGGYBACK)
            assert changed == {before.current: (before.scores[before.current], 0)}
        else:
            assert not changed


def check_transfer(before: State, after: State, points: int) -> None:
    """Who gains has the full amount; who loses too, unless it ends at zero: then none is left."""
    assert before.call is not None
    caller, roller = before.call.caller, before.current
    gain = after.scores[caller] - before.scores[caller]
    loss = after.scores[roller] - before.scores[roller]
    others = [seat for seat in range(before.seats) if seat not in (caller, roller)]
    assert all(before.scores[seat] == after.scores[seat] for seat in others)
    single = before.rules.hog_call_pays == "single_double"
    if gain > 0:  # right
        assert gain == (points if single else 2 * points)
        assert loss == -2 * points or (after.scores[roller] == 0 and -2 * points < loss <= 0)
        conserved = not single and loss == -2 * points
    else:
        assert loss == 2 * points
        assert gain == -2 * points or (after.scores[caller] == 0 and -2 * points < gain <= 0)
        conserved = gain == -2 * points
    if conserved:
        assert sum(after.scores) == sum(before.scores)


@FEW
@given(games(), st.integers(0, 2**32 - 1))
def test_every_game_ends(game: Game, seed: int) -> None:
    """Whoever throws and banks at random comes to an end, from any point of any game."""
    import random

    rng = random.Random(seed)
    weights = [20 if throw.points else 2 for throw in THROWS]
    for _ in range(200_000):
        if game.state.winner is not None:
            break
        state = game.state
        needed = state.rules.target - state.scores[state.current]
        done = state.turn_total >= needed or rng.random() < 0.2
        # The log grows with every move, so play goes on beside it.
        if state.rolls and state.call is None and done:
            state.bank()
        else:
            state.throw(rng.choices(THROWS, weights)[0])
    assert game.state.winner is not None


@FEW
@given(games(), st.text(max_size=30))
def test_what_is_typed_is_understood_or_refused(game: Game, text: str) -> None:
    from physim.game.game import read_move

    before = game.state.copy()
    try:
        game.do(read_move(text, game.players, game.start.rules))
    except PhysimError:
        assert game.state == before


def states_of(game: Game) -> list[State]:
    """Before the first move and after each, by playing the log once more."""
    again = Game(game.start)
    states = [again.state.copy()]
    for event in game.events:
        again.do(event)
        states.append(again.state.copy())
    return states

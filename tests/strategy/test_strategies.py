"""One contract that every strategy passes, and what is each one's own."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from physim.errors import ConfigError
from physim.game.game_state import State
from physim.game.outcomes import Distribution, draws
from physim.rules.ruleset import RuleSet, load_rules, predictions
from physim.rules.score import read_throw
from physim.seeding import stream
from physim.strategy.policies import (
    KINDS,
    Strategy,
    best_prediction,
    distinct_names,
    make_players,
    play,
    policy_of,
    read_spec,
)
from physim.strategy.solver import Solution

SPECS = ["hold:23", "rolls:4", "greedy", "score_aware:23", "hog_caller:20", "optimal"]


@pytest.fixture
def make(kern: Distribution, box: RuleSet, solved: Solution):  # type: ignore[no-untyped-def]
    def of(*specs: str, rules: RuleSet = box, seats: int = 2) -> list[Strategy]:
        return make_players(specs, rules, kern, seats=seats, solution=lambda: solved)

    return of


def states(rules: RuleSet) -> list[State]:
    """Turns of two players at many scores, after at least one throw."""
    found = []
    for own in range(0, 100, 9):
        for other in range(0, 100, 9):
            for total in (0, 1, 7, 19, 20, 23, 40, 80, 130):
                state = State.start(rules, (own, other))
                state.turn_total, state.rolls = total, 3
                found.append(state)
    return found


def test_every_strategy_stands_in_the_contract() -> None:
    assert {read_spec(spec)[0] for spec in SPECS} == set(KINDS)


@pytest.mark.parametrize("spec", SPECS)
class TestContract:
    def test_it_answers_yes_or_no_and_changes_nothing(self, make, spec, box) -> None:  # type: ignore[no-untyped-def]
        (player,) = make(spec)
        for state in states(box):
            before = state.copy()
            assert player.rolls_again(state) in (True, False)
            assert state == before

    def test_it_stops_when_banking_wins(self, make, spec, box) -> None:  # type: ignore[no-untyped-def]
        (player,) = make(spec)
        for state in states(box):
            if state.total >= 100:
                assert not player.rolls_again(state)

    def test_it_remembers_nothing(self, make, spec, box) -> None:  # type: ignore[no-untyped-def]
        (player,) = make(spec)
        first = [player.rolls_again(state) for state in states(box)]
        again = [player.rolls_again(state) for state in reversed(states(box))]
        assert first == again[::-1]

    def test_it_says_its_own_name(self, make, spec) -> None:  # type: ignore[no-untyped-def]
        (player,) = make(spec)
        assert player.spec == spec and make(player.spec)[0].spec == spec

    def test_it_calls_what_may_be_called(self, make, spec, box) -> None:  # type: ignore[no-untyped-def]
        (player,) = make(spec)
        call = player.prediction
        assert (call is not None) == spec.startswith("hog_caller")
        assert call is None or call in predictions(box)

    def test_it_travels_to_another_process(self, make, spec, box) -> None:  # type: ignore[no-untyped-def]
        (player,) = make(spec)
        twin = pickle.loads(pickle.dumps(player))
        answers = [(player.rolls_again(state), twin.rolls_again(state)) for state in states(box)]
        assert all(one == two for one, two in answers)

    def test_it_ends_games(self, make, spec, kern, box) -> None:  # type: ignore[no-untyped-def]
        (player,) = make(spec)
        for number in range(5):
            state = State.start(box, (0, 0))
            play(state, (player, player), draws(kern, stream(3, number)))
            assert state.winner is not None


@pytest.mark.parametrize("changes", [
    {"reach": "exactly"}, {"end": "end_of_round"}, {"target": 30}, {"hog_call": False},
])  # fmt: skip
@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec != "optimal"])
def test_any_rules_and_three_players(  # type: ignore[no-untyped-def]
    make, kern: Distribution, spec: str, changes: dict[str, object]
) -> None:
    rules = load_rules("box", changes)
    players = make(spec, "hold:20", "score_aware", rules=rules, seats=3)
    for number in range(3):
        state = State.start(rules, (0, 0, 0), first=number)
        play(state, players, draws(kern, stream(4, number)))
        assert state.winner is not None


def turn(own: int, other: int, total: int, rolls: int = 1, **changes: object) -> State:
    state = State.start(load_rules("box", changes), (own, other))
    state.turn_total, state.rolls = total, rolls
    return state


def test_each_has_its_own_way(make) -> None:  # type: ignore[no-untyped-def]
    hold, rolls, greedy, aware = make("hold:23", "rolls:4", "greedy", "score_aware:23")
    assert hold.rolls_again(turn(0, 0, 22)) and not hold.rolls_again(turn(0, 0, 23))
    assert rolls.rolls_again(turn(0, 0, 60, rolls=3)) and not rolls.rolls_again(turn(0, 0, 4, 4))
    assert greedy.rolls_again(turn(0, 0, 99)) and not greedy.rolls_again(turn(0, 0, 100))
    assert not aware.rolls_again(turn(20, 20, 23)) and aware.rolls_again(turn(20, 60, 26))
    assert not aware.rolls_again(turn(60, 20, 19)) and aware.rolls_again(turn(20, 90, 70))


def test_behind_a_score_at_the_target_nobody_stops_who_looks_at_it(make) -> None:  # type: ignore[no-untyped-def]
    aware, greedy = make("score_aware", "greedy")
    for player in (aware, greedy):
        assert player.rolls_again(turn(60, 120, 50, end="end_of_round"))
        assert not player.rolls_again(turn(60, 120, 61, end="end_of_round"))


def test_optimal_follows_the_policy(make, solved: Solution, box: RuleSet) -> None:  # type: ignore[no-untyped-def]
    (player,) = make("optimal")
    assert (policy_of(player, box)[1:] == solved.policy[1:]).all()
    assert player.rolls_again(turn(0, 0, 22)) and not player.rolls_again(turn(0, 0, 23))


def test_optimal_is_for_two(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ConfigError, match="optimal plays games of two, not of 3"):
        make("optimal", "greedy", "greedy", seats=3)


def test_the_hog_caller_calls_the_most_points_there_are(kern: Distribution, box: RuleSet) -> None:
    assert best_prediction(kern, box) == "razorback"  # .280 x 5 = 1.40; double .051 x 20 = 1.03
    assert best_prediction(kern, load_rules("wikipedia")) == "5"  # .390 x 5


def test_the_first_to_shout_sits_next_to_the_roller(make, box: RuleSet) -> None:  # type: ignore[no-untyped-def]
    players = make("hold:5", "hog_caller", "hog_caller", seats=3)
    state = State.start(box, (0, 19, 20))
    play(state, players, map(read_throw, ["trotter"]), most_throws=1)
    assert state.scores == [10, 19, 10]  # the second may not yet, the third calls wrong


def test_while_a_call_waits_for_a_throw_that_is_rolled_again_nobody_banks(make, box) -> None:  # type: ignore[no-untyped-def]
    players = make("rolls:1", "hog_caller")
    rules = replace(box, hog_call_least_points=0)
    state = State.start(rules, (50, 50))
    play(state, players, map(read_throw, ["off_table", "unsettled", "razorback"]), most_throws=3)
    assert (state.scores, state.turn_total, state.rerolls) == ([40, 60], 5, 2)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("hodl:20", "did you mean `hold`"),
        ("hold:", "whole number from 1"),
        ("hold:0", "whole number from 1"),
        ("hold:2.5", "whole number from 1"),
        ("hold:-3", "whole number from 1"),
        ("greedy:3", "takes no number"),
        ("", "unknown strategy"),
        ("x" * 500, "unknown strategy"),
    ],
)
def test_what_is_no_strategy(spec: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as refusal:
        read_spec(spec)
    assert len(str(refusal.value)) < 300


def test_numbers_may_be_left_out_and_names_are_told_apart(make) -> None:  # type: ignore[no-untyped-def]
    players = make("hold", "hold:20", "score-aware")
    assert distinct_names(p.spec for p in players) == ["hold:20", "hold:20 (2)", "score_aware:23"]


def test_policies_of_holding(make, box: RuleSet) -> None:  # type: ignore[no-untyped-def]
    (player,) = make("hold:20")
    policy = policy_of(player, box)
    assert not policy[1:20, 0, :].any() and policy[20:].all()
    assert policy[5, 95, :].all() and not policy[4, 95, :].any()
    assert np.count_nonzero(policy) > 0

"""Each option of the rules, and the cases at their edges."""

from __future__ import annotations

import numpy as np
import pytest
from games import NAMES, begin, do, winner

from physim.errors import GameError
from physim.game.game_state import start
from physim.rules.ruleset import load_rules


def test_an_oinker_before_anything_is_banked_costs_nothing_but_the_turn() -> None:
    game = do(begin([0, 0]), "trotter", "oinker")
    assert game.state.scores == [0, 0] and game.current.name == "Ben"


@pytest.mark.parametrize(("costs", "left"), [("game_score", 0), ("turn", 40)])
def test_what_an_oinker_costs(costs: str, left: int) -> None:
    game = do(begin([40, 10], oinker_costs=costs), "trotter", "oinker")
    assert game.state.scores == [left, 10] and game.current.name == "Ben"


def test_a_piggyback_on_the_first_throw_of_a_game_of_two_ends_it() -> None:
    game = do(begin([0, 0]), "piggyback")
    assert winner(game) == "Ben" and game.state.scores == [0, 0] and game.state.turns == 1


def test_a_piggyback_may_cost_everything_and_nobody_goes() -> None:
    game = do(begin([40, 10], piggyback="costs_everything"), "trotter", "piggyback")
    assert game.state.scores == [0, 10] and winner(game) is None and game.current.name == "Ben"


def test_the_last_one_standing_wins_whoever_had_more() -> None:
    game = do(begin([10, 90, 50]), "piggyback", "piggyback")
    assert winner(game) == "Cleo"


@pytest.mark.parametrize(
    ("off_table", "turn_total", "current", "rerolls"),
    [("roll_again", 5, "Ana", 1), ("nothing", 5, "Ana", 0), ("turn", 0, "Ben", 0)],
)
def test_a_pig_off_the_table(off_table: str, turn_total: int, current: str, rerolls: int) -> None:
    state = do(game := begin([9, 9], off_table=off_table), "trotter", "off_table").state
    assert (state.turn_total, game.current.name, state.rerolls) == (turn_total, current, rerolls)
    assert state.scores == [9, 9] and state.throws == 2


def test_a_throw_of_nothing_counts_as_the_one_that_a_turn_must_have() -> None:
    assert do(begin([0, 0], off_table="nothing"), "off_table", "bank").current.name == "Ben"
    with pytest.raises(GameError, match="throw at least once"):
        do(begin([0, 0]), "off_table", "bank")


@pytest.mark.parametrize("name", ["unsettled", "ambiguous"])
def test_what_the_rules_do_not_name_is_rolled_again_and_counted(name: str) -> None:
    state = do(begin([0, 0]), "trotter", name, name, "sider").state
    assert (state.turn_total, state.rolls, state.rerolls, state.throws) == (6, 2, 2, 4)


def test_the_target_exactly_or_nothing() -> None:
    game = do(begin([90, 0], reach="exactly"), "leaning_jowler", "bank")
    assert game.state.scores == [90, 0] and winner(game) is None and game.current.name == "Ben"
    assert winner(do(begin([90, 0], reach="exactly"), "snouter", "bank")) == "Ana"


def test_nobody_wins_before_banking() -> None:
    game = do(begin([90, 0]), "double_trotter")
    assert winner(game) is None
    assert winner(do(game, "bank")) == "Ana" and game.state.scores == [110, 0]
    assert winner(do(begin([90, 0]), "double_trotter", "pig_out")) is None


def test_at_the_end_of_the_round_the_highest_wins() -> None:
    game = do(begin([90, 85, 0], end="end_of_round"), "double_trotter", "bank")
    assert winner(game) is None and game.current.name == "Ben"
    do(game, "double_snouter", "bank")
    assert winner(game) is None and game.state.scores == [110, 125, 0]  # both over the target
    assert winner(do(game, "trotter", "bank")) == "Ben"


def test_of_equal_scores_at_the_end_of_the_round_the_earlier_wins() -> None:
    game = do(begin([90, 90], end="end_of_round", first="Ben"), "snouter", "bank")
    assert winner(do(game, "snouter", "bank")) == "Ben"


def test_a_round_ends_where_it_began_though_that_player_is_out() -> None:
    game = begin([50, 90, 0], end="end_of_round", first="Ben")
    do(game, "snouter", "bank", "remove Ben", "trotter", "bank")
    assert winner(game) is None and game.current.name == "Ana"
    do(game, "double_leaning_jowler", "bank")
    assert winner(game) == "Ana"


def test_who_reached_the_target_may_lose_it_again_before_the_round_ends() -> None:
    game = do(begin([90, 30], end="end_of_round"), "snouter", "bank", "call Ana trotter", "sider")
    assert game.state.scores == [98, 32]
    assert winner(do(game, "bank")) is None and game.current.name == "Ana"


def test_removing_a_player_before_the_current_one_leaves_the_turn() -> None:
    game = do(begin([10, 20, 30, 40]), "pig_out", "pig_out", "trotter", "remove Ana")
    assert game.current.name == "Cleo" and game.state.turn_total == 5
    do(game, "bank", "trotter", "bank")
    assert game.current.name == "Ben" and game.state.scores[2] == 35
    assert [player.id for player in game.players] == ["p1", "p2", "p3", "p4"]


def test_removing_the_current_player_loses_the_turn() -> None:
    game = do(begin([10, 20, 30]), "trotter", "remove Ana")
    assert game.current.name == "Ben" and game.state.turn_total == 0
    assert game.state.scores == [10, 20, 30]


def test_a_full_table_of_twelve() -> None:
    game = begin([0] * 12)
    for round_number in range(1, 4):
        for seat in range(12):
            assert game.current.name == NAMES[seat]
            do(game, "double_trotter", "bank")
        assert game.state.scores == [20 * round_number] * 12
    for name in NAMES[1:11]:
        do(game, f"remove {name}")
    assert game.current.name == "Ana" and winner(game) is None
    assert winner(do(game, "piggyback")) == "Lea"


def test_who_begins() -> None:
    rotating = load_rules("box", {"first_player": "rotation"})
    seats = [start(rotating, NAMES[:3], game_number=number).first for number in range(4)]
    assert seats == [0, 1, 2, 0]
    drawn = load_rules("box", {"first_player": "random"})
    rng = np.random.default_rng(5)
    firsts = {start(drawn, NAMES[:3], rng=rng).first for _ in range(60)}
    assert firsts == {0, 1, 2}  # error rate: 3 (2/3)^60 = 8e-11
    with pytest.raises(GameError, match="give a seed"):
        start(drawn, NAMES[:3])
    assert start(drawn, NAMES[:3], first="Cleo").first == 2


@pytest.mark.parametrize(
    ("moves", "says"),
    [
        (("bank",), "throw at least once, then bank"),
        (("points 5", "points -6"), "fewer than 0"),
        (("points 0",), "other than 0"),
        (("points ten",), "no whole number of points"),
        (("remove Zoe",), "players: Ana, Ben, Cleo"),
        (("remove Ben", "remove Ben"), "is out of the game"),
        (("remove Ben", "correct Ben 5"), "undo that first"),
        (("correct Ben -5",), "from 0 to"),
        (("piggyback", "piggyback", "trotter"), "Cleo has won"),
        (("",), "an empty line"),
        (("remove Ben 5",), "a player alone"),
    ],
)
def test_what_is_not_allowed_is_refused_and_changes_nothing(
    moves: tuple[str, ...], says: str
) -> None:
    game = do(begin([0, 0, 0]), *moves[:-1])
    before, events = game.state.copy(), game.events
    with pytest.raises(GameError, match=says):
        do(game, moves[-1])
    assert game.state == before and game.events == events


@pytest.mark.parametrize(
    ("names", "scores", "says"),
    [
        (["Ana"], None, "2 to 100 players"),
        (["Ana", "Ana"], None, "two players are called Ana"),
        (["Ana", "Ben"], [1], "2 players, but 1 scores"),
        (["Ana", "Ben"], [1, 100], "below the target"),
        (["Ana", "Ben"], [-1, 1], "points from 0 to 99"),
        (["Ana", "Ben"], [True, 1], "points from 0 to 99"),
        (["Ana", "B\nen"], None, "no name of a player"),
        (["Ana", "B" * 41], None, "at most 40 letters"),
    ],
)
def test_an_impossible_start_is_refused(
    names: list[str], scores: list[int] | None, says: str
) -> None:
    with pytest.raises(GameError, match=says):
        start(load_rules("box"), names, scores)


def test_the_swineherd_can_correct_a_score_and_so_end_the_game() -> None:
    game = do(begin([10, 20]), "correct Ben 35")
    assert game.state.scores == [10, 35] and game.current.name == "Ana"
    assert winner(do(game, "correct Ben 100")) == "Ben"
    game.undo()
    assert game.state.scores == [10, 35] and winner(game) is None

"""Hog Call in full: who may call, what moves, and who wins by it."""

from __future__ import annotations

import pytest
from games import begin, do, winner

from physim.errors import ConfigError, GameError
from physim.rules.ruleset import load_rules, predictions


def test_right_and_wrong_move_double_and_the_roll_counts_as_usual() -> None:
    game = do(begin([30, 40]), "call Ben razorback trotter", "trotter razorback")
    assert game.state.scores == [10, 60] and game.state.turn_total == 10
    game = do(begin([30, 40]), "call Ben trotter", "razorback")
    assert game.state.scores == [40, 30] and game.state.turn_total == 5
    assert do(game, "bank").state.scores == [45, 30]


def test_wikipedia_pays_the_caller_once_and_names_the_points() -> None:
    game = do(begin([50, 40], "wikipedia"), "call Ben 15", "leaning_jowler")
    assert game.state.scores == [20, 55]
    game = do(begin([50, 40], "wikipedia"), "call Ben 15", "trotter snouter")  # 15 as well
    assert game.state.scores == [20, 55]
    game = do(begin([50, 40], "wikipedia"), "call Ben 15", "trotter")
    assert game.state.scores == [60, 30]


def test_a_wrong_call_on_a_double_snouter_by_a_caller_with_20() -> None:
    """80 go to the roller in full, the caller has only 20 to lose; the roller is over 100."""
    game = do(begin([10, 20]), "call Ben trotter", "double_snouter")
    assert game.state.scores == [90, 0] and winner(game) is None
    game = do(begin([20, 20]), "call Ben trotter", "double_snouter")
    assert game.state.scores == [100, 0] and winner(game) == "Ana"


def test_a_right_call_that_takes_the_roller_below_zero_stops_at_zero() -> None:
    game = do(begin([5, 20]), "call Ben double_trotter", "double_trotter")
    assert game.state.scores == [0, 60] and game.state.turn_total == 20


def test_a_transfer_over_the_target_wins_at_once() -> None:
    game = do(begin([50, 90]), "call Ben trotter", "trotter")
    assert winner(game) == "Ben" and game.state.scores == [40, 100]
    assert game.state.turn_total == 0  # the roller's turn is of no use any more


def test_at_the_end_of_the_round_a_transfer_over_the_target_waits() -> None:
    game = do(begin([50, 90], end="end_of_round"), "call Ben trotter", "trotter")
    assert winner(game) is None and game.current.name == "Ana" and game.state.turn_total == 5
    do(game, "bank")
    assert winner(game) is None and game.current.name == "Ben"
    assert winner(do(game, "pig_out")) == "Ben"


def test_a_transfer_beyond_an_exact_target_does_not_win() -> None:
    game = do(begin([50, 95], reach="exactly"), "call Ben trotter", "trotter")
    assert game.state.scores == [40, 105] and winner(game) is None


@pytest.mark.parametrize("name", ["pig_out", "oinker", "piggyback"])
def test_a_throw_of_no_points_transfers_nothing_and_ends_the_call(name: str) -> None:
    game = do(begin([30, 40, 50]), "call Ben trotter", name)
    assert game.state.scores[1:] == [40, 50] and game.state.call is None


@pytest.mark.parametrize("name", ["off_table", "unsettled", "ambiguous"])
def test_a_call_stays_for_a_throw_that_is_rolled_again(name: str) -> None:
    game = do(begin([30, 40]), "call Ben trotter", name)
    assert game.state.call is not None
    assert do(game, "trotter").state.scores == [20, 50] and game.state.call is None


def test_a_call_dies_with_a_throw_off_the_table_that_counts() -> None:
    game = do(begin([30, 40], off_table="nothing"), "call Ben trotter", "off_table")
    assert game.state.call is None and game.state.scores == [30, 40]


def test_a_call_is_for_one_throw() -> None:
    game = do(begin([30, 40]), "call Ben trotter", "trotter", "trotter")
    assert game.state.scores == [20, 50] and game.state.turn_total == 10


def test_the_caller_who_leaves_takes_the_call_along() -> None:
    game = do(begin([30, 40, 50]), "call Ben trotter", "remove Ben", "trotter")
    assert game.state.scores == [30, 40, 50]


@pytest.mark.parametrize(
    ("rules", "moves", "says"),
    [
        ("world_championship", ("call Ben trotter",), "have no Hog Call"),
        ("box", ("call Ana trotter",), "has the pigs"),
        ("box", ("call Cleo trotter",), "19 points banked; a Hog Call needs 20"),
        ("box", ("call Ben trotter", "call Dan snouter"), "Ben was the first to shout"),
        ("box", ("remove Ben", "call Ben trotter"), "is out of the game"),
        ("box", ("trotter", "call Ben trotter", "bank"), "throw before you bank"),
        ("box", ("call Ben trotter", "points 5"), "enter what the pigs show"),
    ],
)
def test_calls_that_are_not_allowed(rules: str, moves: tuple[str, ...], says: str) -> None:
    game = do(begin([40, 20, 19, 90], rules), *moves[:-1])
    with pytest.raises(GameError, match=says):
        do(game, moves[-1])


@pytest.mark.parametrize(
    "name", ["pig_out", "oinker", "piggyback", "mixed_combo", "off_table", "5"]
)
def test_what_cannot_be_called_by_positions(name: str) -> None:
    with pytest.raises(ConfigError, match=f"`{name}` cannot be called"):
        do(begin([40, 20]), f"call Ben {name}")


@pytest.mark.parametrize("points", ["0", "trotter", "7", "-5"])
def test_what_cannot_be_called_by_points(points: str) -> None:
    with pytest.raises(ConfigError, match="cannot be called"):
        do(begin([40, 20], "wikipedia"), f"call Ben {points}")


def test_all_that_may_be_called() -> None:
    assert set(predictions(load_rules("box"))) == {
        "sider",
        *(f"{prefix}{pose}" for prefix in ("", "double_") for pose in POSES),
        *(f"{one}+{two}" for i, one in enumerate(POSES) for two in POSES[i + 1 :]),
    }
    assert predictions(load_rules("wikipedia")) == ["1", "5", "10", "15", "20", "25", "40", "60"]


POSES = ("trotter", "razorback", "snouter", "leaning_jowler")

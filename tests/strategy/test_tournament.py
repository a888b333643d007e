"""Tournaments: the same games for any number of workers, and win rates as the solver has them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.stats import binomtest

from physim.errors import ConfigError
from physim.game.game import Game
from physim.game.game_state import Banked, Called, State, Thrown, start
from physim.game.outcomes import Distribution, draws, odds
from physim.rules.ruleset import RuleSet, load_rules
from physim.rules.score import Throw, labelled_throws
from physim.seeding import stream
from physim.strategy import tournament as module
from physim.strategy.policies import make_players, play, win_rate
from physim.strategy.solver import Solution, first_wins, solve
from physim.strategy.tournament import GameCounts, Tournament, run, to_json, to_text

GAMES = 10_000


@pytest.fixture
def plan(kern: Distribution, box: RuleSet, solved: Solution):  # type: ignore[no-untyped-def]
    def of(*specs: str, games: int, seed: int = 1, together: bool = False) -> Tournament:
        seats = len(specs) if together else 2
        players = make_players(specs, box, kern, seats=seats, solution=lambda: solved)
        return Tournament(tuple(players), box, kern, games, seed, together)

    return of


def holding(points: int) -> np.ndarray:
    """The policy of `hold:N`, without the strategy; at the target the solver stops by itself."""
    policy = np.zeros((100, 100, 100), dtype=bool)
    policy[points:] = True
    return policy


def test_win_rates_agree_with_the_solver(plan, solved: Solution) -> None:  # type: ignore[no-untyped-def]
    chances, rules = solved.odds, solved.rules
    begins = first_wins(chances, rules, holding(20), holding(23))
    follows = 1 - first_wins(chances, rules, holding(23), holding(20))
    (tally,) = run(plan("hold:20", "hold:23", games=GAMES))
    assert tally.finished == GAMES
    # Error rate: 1e-6 each. Exact two-sided binomial tests.
    assert binomtest(tally.wins[0], GAMES, (begins + follows) / 2).pvalue > 1e-6
    first = (begins + 1 - follows) / 2
    assert binomtest(tally.first_wins, GAMES, first).pvalue > 1e-6
    # Who begins: .52 to .54; that no advantage at all would be seen.
    assert binomtest(tally.first_wins, GAMES, 0.5).pvalue < 1e-6


def test_optimal_play_wins_what_the_solver_says(plan, solved: Solution) -> None:  # type: ignore[no-untyped-def]
    """Error rate: 1e-6. Against hold:20, and the first of two optimal players."""
    tournament = plan("hold:20", "optimal", games=GAMES, seed=2)
    (tally,) = run(tournament)
    expected = win_rate(tournament.players[0], solved)
    assert expected is not None
    assert binomtest(tally.wins[0], GAMES, expected).pvalue > 1e-6
    assert binomtest(tally.wins[0], GAMES, 0.5).pvalue < 1e-6
    (tally,) = run(plan("optimal", "optimal", games=GAMES, seed=3))
    assert binomtest(tally.first_wins, GAMES, solved.first_player_wins).pvalue > 1e-6


def test_nobody_beats_optimal_play(kern: Distribution) -> None:
    rules = load_rules("box", {"target": 40})
    solution = solve(odds(kern, rules), rules)
    specs = ["hold:15", "hold:23", "score_aware", "greedy", "optimal", "rolls:4", "hog_caller"]
    players = make_players(specs, rules, kern, solution=lambda: solution)
    rates = [win_rate(player, solution) for player in players]
    assert rates[5:] == [None, None]  # they look at more than scores and turn, or call
    assert all(rate is not None and rate < 0.5 + 1e-6 for rate in rates[:5])
    assert rates[0] is not None and rates[0] < 0.49


def test_the_games_do_not_depend_on_the_workers(plan) -> None:  # type: ignore[no-untyped-def]
    tournament = plan("hold:20", "rolls:3", "hog_caller", games=1_100)
    assert (
        run(tournament, workers=2)
        == run(tournament)
        != run(plan("hold:20", "rolls:3", "hog_caller", games=1_100, seed=2))
    )


def test_the_same_games_are_played_with_the_log(plan, kern: Distribution, box: RuleSet) -> None:  # type: ignore[no-untyped-def]
    """A tournament plays on the bare state; the game with its checks and log comes to the same."""
    players = plan("hold:20", "hog_caller", games=1).players
    for number in range(10):
        state = State.start(box, (0, 0), first=number % 2)
        play(state, players, draws(kern, stream(8, number)))
        assert with_log(box, players, draws(kern, stream(8, number)), number % 2).state == state


def with_log(rules: RuleSet, players, throws: Iterator[Throw], first: int) -> Game:  # type: ignore[no-untyped-def]
    names = ("Ana", "Ben")
    game = Game(start(rules, names, first=names[first]))
    while game.winner is None:
        seat = game.state.current
        if (
            game.state.rolls
            and game.state.call is None
            and not players[seat].rolls_again(game.state)
        ):
            game.do(Banked())
            continue
        other = 1 - seat
        if players[other].prediction and game.state.call is None and game.state.scores[other] >= 20:
            prediction = players[other].prediction
            game.do(Called(game.players[other].id, prediction))
        game.do(Thrown(next(throws)))
    return game


def test_everybody_begins_equally_often_at_one_table() -> None:
    """Where the first throw decides, who begins has won."""
    sure = Distribution("sure", (labelled_throws()["double_leaning_jowler"],), (1.0,))
    rules = load_rules("box", {"target": 60})
    players = make_players(["hold:20"] * 3, rules, sure, seats=3)
    (tally,) = run(Tournament(tuple(players), rules, sure, 3_000, 0, together=True))
    assert tally.wins == (1_000, 1_000, 1_000) and tally.first_wins == 3_000
    assert tally.turns == {1: 3_000} and tally.throws == 3_000


def test_a_game_without_end_is_given_up(
    kern: Distribution, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = load_rules("box", {"target": 10_000})
    players = make_players(["hold:9000", "greedy"], rules, kern)

    def short(state, players, throws) -> None:  # type: ignore[no-untyped-def]
        play(state, players, throws, most_throws=300)

    monkeypatch.setattr(module, "play", short)
    tournament = Tournament(tuple(players), rules, kern, 4, 0)
    (tally,) = run(tournament)
    assert (tally.unfinished, tally.finished, tally.throws) == (4, 0, 1_200)
    result = to_json(tournament, [tally])
    assert result["unfinished"] == 4 and result["first_player"]["win_rate"] is None
    assert "given up, without a winner: 4 games" in to_text(result)


def test_progress_goes_from_none_to_all_games(kern: Distribution) -> None:
    rules = load_rules("box", {"target": 10})
    players = make_players(["greedy", "hold:5", "rolls:1"], rules, kern)
    told: list[tuple[int, int]] = []
    run(
        Tournament(tuple(players), rules, kern, 1_500, 0),
        progress=lambda done, games: told.append((done, games)),
    )
    assert [done for done, _ in told] == [0, 1_000, 1_500, 2_500, 3_000, 4_000, 4_500]
    assert {games for _, games in told} == {4_500}


def test_results_add_up(plan) -> None:  # type: ignore[no-untyped-def]
    tournament = plan("hold:20", "hold:25", "hold:20", games=300)
    result = to_json(tournament, run(tournament))
    assert [player["name"] for player in result["players"]] == ["hold:20", "hold:25", "hold:20 (2)"]
    assert result["games"] == 900 == sum(player["wins"] for player in result["players"])
    assert all(player["games"] == 600 for player in result["players"])
    for player in result["players"]:
        assert player["low"] < player["win_rate"] < player["high"]
        assert math.isclose(player["win_rate"], player["wins"] / 600)
    assert len(result["tables"]) == 3
    assert all(len(line) <= 80 for line in to_text(result).splitlines())


def test_tallies_add_up() -> None:
    one = GameCounts((1, 2), 1, module.Counter({5: 3}), 40, 1)
    assert one + one == GameCounts((2, 4), 2, module.Counter({5: 6}), 80, 2)


@pytest.mark.parametrize("specs", [("hold:9000", "greedy"), ("greedy", "greedy", "greedy")])
def test_games_of_which_none_ends_are_left_after_twenty(
    specs: tuple[str, ...], kern: Distribution, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = load_rules("box", {"target": 9_000})
    players = tuple(make_players(specs, rules, kern, seats=len(specs)))
    tournament = Tournament(players, rules, kern, 1_000, 0, together=len(specs) > 2)
    given_up = []

    def short(state, players, throws) -> None:  # type: ignore[no-untyped-def]
        play(state, players, throws, most_throws=300)
        given_up.append(state.winner)

    monkeypatch.setattr(module, "play", short)
    with pytest.raises(ConfigError, match=f"{' against '.join(specs)}: 20 games .* lower target"):
        run(tournament)
    assert given_up == [None] * 20


def test_a_game_that_ends_now_and_then_is_no_reason_to_stop(
    kern: Distribution, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = load_rules("box", {"target": 100})
    players = tuple(make_players(["greedy", "greedy"], rules, kern))

    def short(state, players, throws) -> None:  # type: ignore[no-untyped-def]
        play(state, players, throws, most_throws=60)

    monkeypatch.setattr(module, "play", short)
    (tally,) = run(Tournament(players, rules, kern, 300, 0))
    assert tally.unfinished > 20 and tally.finished > 0

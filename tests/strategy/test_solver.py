"""The solver beside values from outside this project, and beside another way to compute them."""

from __future__ import annotations

import numpy as np
import pytest

from physim.errors import ConfigError
from physim.game.outcomes import Distribution, ThrowOdds, odds
from physim.rules.ruleset import RuleSet, load_rules
from physim.rules.score import Throw, labelled_throws
from physim.statistics.counts import Counts
from physim.strategy.policies import from_counts, from_table
from physim.strategy.solver import Solution, best_hold, break_even, first_wins, hold_values, solve
from physim.strategy.study import study, study_calls
from physim.types import Outcome

ONE_DIE = ThrowOdds(tuple((points, 1 / 6) for points in range(2, 7)), 1 / 6, 0.0, 0.0, 0.0)
THROWS = labelled_throws()


def test_one_die_pig(box: RuleSet) -> None:
    """References: Neller and Presser 2004; see also the table of reference values."""
    assert solve(ONE_DIE, box).first_player_wins == pytest.approx(0.5306, abs=5e-5)
    hold = hold_values(ONE_DIE, 25)[19]
    assert (hold.hold, hold.expected_points, hold.bust) == (
        20,
        pytest.approx(8.1418, abs=5e-5),
        pytest.approx(0.6245, abs=5e-5),
    )
    assert break_even(ONE_DIE) == pytest.approx(20.0)


def test_the_6000_counted_rolls(kern: Distribution, box: RuleSet, solved: Solution) -> None:
    chances = odds(kern, box)
    assert kern.sample_size == 6000
    assert chances.expected_points == pytest.approx(4.7140, abs=5e-5)
    assert chances.loses_turn == pytest.approx(0.21317, abs=5e-6)
    assert chances.loses_score == pytest.approx(23 / 6000)
    assert solved.first_player_wins == pytest.approx(0.5302, abs=5e-5)
    assert solved.hold_values()[0, 0] == 23


def test_the_table_of_real_rolls_has_the_published_scores(kern: Distribution) -> None:
    by_points: dict[int | None, float] = {}
    for throw, weight in zip(kern.throws, kern.weights, strict=True):
        key = None if throw.outcome is Outcome.OINKER else throw.points
        by_points[key] = by_points.get(key, 0.0) + weight
    assert by_points == {
        None: 23, 0: 1279, 1: 1304, 5: 2337, 10: 508, 15: 171, 20: 373, 25: 2, 40: 2, 60: 1,
    }  # fmt: skip


@pytest.mark.parametrize("reach", ["at_least", "exactly"])
@pytest.mark.parametrize("off_table", ["nothing", "turn", "roll_again"])
@pytest.mark.parametrize("piggyback", ["eliminates", "costs_everything"])
def test_a_small_game_agrees_with_plain_recursion(
    reach: str, off_table: str, piggyback: str
) -> None:
    """Another way: the value after n more turns, with dictionaries and the rules in words."""
    rules = load_rules("box", {"target": 6, "reach": reach, "off_table": off_table,
                               "piggyback": piggyback})  # fmt: skip
    weights = {"sider": 4, "trotter": 2, "pig_out": 3, "oinker": 1, "piggyback": 1, "off_table": 1}
    source = Distribution("small", tuple(THROWS[name] for name in weights), tuple(weights.values()))
    solution = solve(odds(source, rules), rules)
    expected = _recursive(rules, weights)
    found = {(i, j): solution.values[i, j] for i in range(6) for j in range(6)}
    assert found == pytest.approx(expected, abs=1e-6)


def _recursive(rules: RuleSet, weights: dict[str, int]) -> dict[tuple[int, int], float]:
    """Plain iteration over every state, those between the throws too."""
    counted = dict(weights)
    if rules.off_table == "roll_again":
        del counted["off_table"]
    whole = sum(counted.values())
    target = 6
    after = {
        (i, j, k, thrown): 0.5
        for i in range(target)
        for j in range(target)
        for k in range(12)
        for thrown in (False, True)
    }

    def start_of_turn(i: int, j: int) -> float:
        return after[i, j, 0, False]

    def throw(i: int, j: int, k: int) -> float:
        value = 0.0
        for name, weight in counted.items():
            p = weight / whole
            if name in ("sider", "trotter"):
                more = k + (1 if name == "sider" else 5)
                value += p * (after[i, j, more, True] if more < 12 else hold(i, j, more))
            elif name == "off_table" and rules.off_table == "nothing":
                value += p * after[i, j, k, True]
            elif name in ("pig_out", "off_table"):
                value += p * (1 - start_of_turn(j, i))
            elif name == "oinker" or rules.piggyback == "costs_everything":
                value += p * (1 - start_of_turn(j, 0))
        return value

    def hold(i: int, j: int, k: int) -> float:
        if i + k == target or (i + k > target and rules.reach == "at_least"):
            return 1.0
        if i + k > target:
            return 1 - start_of_turn(j, i)
        return 1 - start_of_turn(j, i + k)

    for _ in range(150):
        for i, j, k, thrown in after:
            rolled = throw(i, j, k)
            held = hold(i, j, k)
            if thrown and i + k >= target:  # nobody goes on to lose points on purpose
                after[i, j, k, thrown] = held
            else:
                after[i, j, k, thrown] = max(rolled, held) if thrown else rolled
    return {(i, j): start_of_turn(i, j) for i in range(target) for j in range(target)}


def test_optimal_play_against_itself_is_the_solution(solved: Solution) -> None:
    wins = first_wins(solved.odds, solved.rules, solved.policy, solved.policy)
    assert wins == pytest.approx(solved.first_player_wins, abs=1e-7)


def test_a_study_tells_each_sweep_and_each_game(kern: Distribution) -> None:
    told: list[str] = []
    result = study(kern, load_rules("box", {"target": 10}), resamples=3, progress=told.append)
    sweeps = [text for text in told if text.startswith("solving: sweep ")]
    assert len(sweeps) == result.solution.sweeps
    assert told[len(sweeps) :] == [
        f"solving for the intervals: {number} of 3 games" for number in range(3)
    ]


def test_a_worse_solution_would_be_seen(box: RuleSet) -> None:
    """The negative control of four digits: one in a hundred oinkers more is beyond them."""
    shifted = ThrowOdds((*ONE_DIE.pairs[:-1], (6, 1 / 6 - 0.01)), 1 / 6 + 0.01, 0.0, 0.0, 0.0)
    small = load_rules("box", {"target": 20})
    one, two = (solve(chances, small).first_player_wins for chances in (ONE_DIE, shifted))
    assert abs(one - two) > 5e-5


def test_holding_by_the_turn_alone(kern: Distribution, box: RuleSet) -> None:
    """By enumeration of all turns in which the throws are few and simple."""
    half = ThrowOdds(((1, 0.25), (4, 0.25)), 0.5, 0.0, 0.0, 0.0)
    one, two = hold_values(half, 2)
    assert (one.expected_points, one.bust) == (pytest.approx(0.25 + 1.0), pytest.approx(0.5))
    # 1 then 1, 1 then 4, or 4 at once.
    assert two.expected_points == pytest.approx(2 / 16 + 5 / 16 + 4 / 4)
    assert two.bust == pytest.approx(1 - 1 / 16 - 1 / 16 - 1 / 4)
    best = best_hold(hold_values(odds(kern, box), 100))
    even = break_even(odds(kern, box))
    assert even is not None and even == pytest.approx(4.714 / 0.217) and best.hold == 22
    banked = break_even(odds(kern, box), banked=90)
    assert banked == pytest.approx((4.714 - 90 * 23 / 6000) / 0.217)


def test_calls_change_the_win_probability_as_one_played_by_hand(
    kern: Distribution, solved: Solution
) -> None:
    """At 99 to 90 the roller wins with any scoring throw, and the caller with a right call of 5."""
    study = study_calls(kern, solved)
    assert study is not None
    assert study.values[study.best[99, 90]].prediction == "razorback"
    assert study.gain[99, 90] == pytest.approx(1678 / 6000, abs=1e-6)
    # Level at the start of the game a call pays nobody; nobody below 20 may call.
    assert not study.pays[0, 20] and not study.pays[30, 30] and np.isnan(study.gain[99, 19])
    value = {one.prediction: one for one in study.values}["razorback"]
    assert value.probability == pytest.approx(1678 / 6000)
    assert value.expected_points == pytest.approx(2 * (2 * 5 * 1678 / 6000 - 4.7140), abs=1e-4)


def test_a_batch_and_a_table_give_the_same_throws(kern: Distribution) -> None:
    rows = [
        {"status": "ok", "outcome": outcome, "score": points, "touching": touching,
         "pigs": [{"name": "black", "pose": black, "rest": None},
                  {"name": "pink", "pose": pink, "rest": None}]}
        for outcome, points, touching, black, pink in (
            ("mixed_combo", 15, False, "snouter", "trotter"),
            ("mixed_combo", 15, False, "trotter", "snouter"),
            ("pig_out", 0, False, "side_dot_up", "side_dot_down"),
            ("oinker", 0, True, "other", "trotter"),
            ("off_table", None, False, "trotter", "trotter"),
        )
    ]  # fmt: skip
    found = from_counts("batch", Counts.from_rows(rows))
    weights = {t.label: w for t, w in zip(found.throws, found.weights, strict=True)}
    assert weights == {"trotter+snouter": 2, "pig_out": 1, "oinker": 1, "off_table": 1}
    assert found.sample_size == 5


def test_what_cannot_be_solved_is_refused(box: RuleSet) -> None:
    with pytest.raises(ConfigError, match="end=at_once"):
        solve(ONE_DIE, load_rules("box", {"end": "end_of_round"}))
    with pytest.raises(ConfigError, match="up to a target of 500"):
        solve(ONE_DIE, load_rules("box", {"target": 501}))
    with pytest.raises(ConfigError, match="none of its throws scores"):
        odds(Distribution("nothing", (Throw(Outcome.PIG_OUT, 0),), (1.0,)), box)
    with pytest.raises(ConfigError, match="holds no rolls"):
        from_counts("empty", Counts())
    with pytest.raises(ConfigError, match="kern2006_pairs"):
        from_table("kern2007")


@pytest.mark.parametrize("labels", [["trotter"], ["trotter", "pig_out"], ["trotter", "off_table"]])
def test_few_rolls_have_wide_intervals_and_no_error(labels: list[str]) -> None:
    rules = load_rules("box", {"target": 10})
    throws = tuple(THROWS[label] for label in labels)
    source = Distribution("few", throws, (1.0,) * len(throws), len(throws))
    result = study(source, rules, resamples=4)
    for interval in result.intervals.values():
        assert np.isfinite([interval.low, interval.high]).all() and interval.low <= interval.high
    assert (result.numbers()["break_even"] is None) == ("pig_out" not in labels)


@pytest.mark.parametrize(
    ("throws", "target"),
    [
        ({"trotter": 1e-9, "pig_out": 1 - 1e-9}, 20),  # some 10^9 turns
        ({"trotter": 0.02, "oinker": 0.98}, 20),
        ({"trotter": 0.5, "oinker": 0.5}, 100),
        ({"sider": 0.001, "pig_out": 0.999}, 50),
    ],
)
def test_a_game_that_hardly_ever_ends_is_refused_after_so_many_sweeps(
    throws: dict[str, float], target: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From values of one half they would stay, and be told as the solution."""
    rules = load_rules("box", {"target": target})
    chances = odds(
        Distribution("x", tuple(THROWS[name] for name in throws), tuple(throws.values())),
        rules,
    )
    monkeypatch.setattr("physim.strategy.solver.MOST_SWEEPS", 500)
    with pytest.raises(ConfigError, match=r"does not come to an end: .* after 500 sweeps"):
        solve(chances, rules)


def test_high_targets_get_fewer_sweeps(monkeypatch: pytest.MonkeyPatch, kern: Distribution) -> None:
    rules = load_rules("box", {"target": 30})
    monkeypatch.setattr("physim.strategy.solver._MOST_UPDATES", 5 * 30**3)
    with pytest.raises(ConfigError, match="after 5 sweeps"):
        solve(odds(kern, rules), rules)


def test_where_the_first_to_score_wins_the_value_is_that_of_a_geometric_series() -> None:
    """Of p a throw and one throw a turn: 1 / (2 - p)."""
    rules = load_rules("box", {"target": 1})
    for p in (0.5, 0.1, 0.01):
        chances = odds(
            Distribution("x", (THROWS["trotter"], THROWS["pig_out"]), (p, 1 - p)),
            rules,
        )
        assert solve(chances, rules).first_player_wins == pytest.approx(1 / (2 - p), abs=2e-9)


@pytest.mark.parametrize(
    ("throws", "target", "step"),
    [(["trotter"], 7, 5), (["trotter", "snouter", "pig_out"], 98, 5), (["double_trotter"], 50, 20)],
)
def test_an_exact_target_that_no_points_add_up_to_is_refused(
    throws: list[str], target: int, step: int
) -> None:
    rules = load_rules("box", {"target": target, "reach": "exactly"})
    drawn = Distribution("x", tuple(THROWS[name] for name in throws), tuple([1.0] * len(throws)))
    with pytest.raises(ConfigError, match=f"multiples of {step}, .* exactly {target}"):
        odds(drawn, rules)
    assert odds(drawn, load_rules("box", {"target": target})).scoring
    assert odds(drawn, load_rules("box", {"target": 100, "reach": "exactly"})).scoring

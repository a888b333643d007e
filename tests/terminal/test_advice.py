"""Risk and advice against the solution of the game of two."""

from __future__ import annotations

import numpy as np
import pytest

from physim.game.game_state import State
from physim.game.outcomes import Distribution, odds
from physim.rules.ruleset import RuleSet, load_rules
from physim.rules.score import labelled_throws
from physim.strategy.policies import from_table
from physim.strategy.solver import solve
from physim.terminal.game_loop import Adviser


@pytest.fixture(scope="module")
def kern() -> Distribution:
    return from_table("kern2006")


def adviser(distribution: Distribution, **changes: object) -> tuple[Adviser, RuleSet]:
    rules = load_rules("box", changes)
    return Adviser(distribution, rules, lambda: solve(odds(distribution, rules), rules)), rules


@pytest.mark.parametrize(
    "changes",
    [{}, {"reach": "exactly"}, {"piggyback": "costs_everything"}, {"off_table": "nothing"}],
)
def test_throwing_and_banking_are_worth_what_the_solution_says(
    kern: Distribution, changes: dict[str, object]
) -> None:
    """The value of a turn is that of its first throw, and best play takes the better of the two."""
    throws = labelled_throws()
    rare = [throws["piggyback"], throws["off_table"]]
    distribution = Distribution("all", (*kern.throws, *rare), (*kern.weights, 60.0, 300.0), None)
    one, rules = adviser(distribution, target=20, **changes)
    solution = one.solution
    for own in range(0, 20, 3):
        for other in range(0, 20, 4):
            throw, _ = one.win_probabilities(own, other, 0)
            assert throw == pytest.approx(solution.values[own, other], abs=1e-7)
            for turn in range(1, rules.target - own):
                throw, bank = one.win_probabilities(own, other, turn)
                if abs(throw - bank) > 1e-6:
                    assert (bank > throw) == solution.policy[turn, own, other]


def at(rules: RuleSet, scores: list[int], turn: int, rolls: int = 1) -> State:
    state = State.start(rules, scores)
    state.turn_total, state.rolls = turn, rolls
    return state


def test_advice_in_words(kern: Distribution) -> None:
    one, rules = adviser(kern, target=30)
    hold = int(one.solution.hold_values()[0, 0])
    assert one.advise(at(rules, [0, 0], 0, 0))[0] == (
        f"Throw. Best play at 0 to 0 holds at {hold} points in the turn."
    )
    assert one.advise(at(rules, [0, 0], 1))[0].startswith("Throw: ")
    assert one.advise(at(rules, [0, 0], hold))[0].startswith("Bank: ")
    assert one.advise(at(rules, [20, 0], 10)) == ["Bank: no further point could help."]
    called = at(rules, [20, 20], 5)
    called.shout(1, "trotter")
    assert one.advise(called) == ["A Hog Call waits: throw."]


def test_three_players_and_unsolved_rules_go_by_points(kern: Distribution) -> None:
    # 4.714 points a throw, a turn lost with .217: even at 21.7 with nothing banked.
    one, rules = adviser(kern)
    (text,) = one.advise(at(rules, [0, 0, 0], 20))
    assert text.startswith("Throw: ") and "fewer than 21.7 points; it has 20" in text
    assert one.advise(at(rules, [0, 0, 0], 22))[0].startswith("Bank: ")
    one, rules = adviser(kern, end="end_of_round")
    assert one.advise(at(rules, [0, 0], 22))[0].startswith("Bank: a throw gains")
    # In the last round less than the best is worth nothing, and as much goes to the earlier one.
    said = ["Throw: the round is the last, and 110 are no more than 110."]
    assert one.advise(at(rules, [60, 110], 50)) == said
    assert one.advise(at(rules, [60, 110], 51)) == ["Bank: no further point could help."]


def test_the_average_of_the_risk_is_the_mean_change_of_the_total(kern: Distribution) -> None:
    one, rules = adviser(kern)
    banked, turn = 40, 12
    change = {
        "pig_out": -turn,
        "oinker": -turn - banked,
    }
    mean = np.average(
        [change.get(throw.label, throw.points or 0) for throw in kern.throws], weights=kern.weights
    )
    assert one.risk(at(rules, [banked, 0], turn)) == (
        f"Next throw: 21.3 % lose the turn's 12, 0.4 % all 52; {mean:+.1f} on average."
    )

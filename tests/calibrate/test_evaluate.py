from __future__ import annotations

from dataclasses import replace

import pytest

from physim.calibrate.evaluate import NO_PIG, Block, Evaluator, Trial, simulate
from physim.calibrate.priors import setup
from physim.simulator import Setup
from physim.types import Pose

CANDIDATES = [{"restitution": 0.5}, {"com_up_mm": 0.3, "friction": 0.3}]
BLOCK = Block(seed=9, first=20, rolls=8)


@pytest.fixture(scope="module")
def base() -> Setup:
    return Setup.named("standard_before_fit", toss="trapdoor_before_fit")


@pytest.fixture(scope="module")
def alone(base: Setup) -> list[Trial]:
    with Evaluator(base, 1) as evaluator:
        return evaluator.roll(CANDIDATES, BLOCK)


def test_each_candidate_makes_the_rolls_of_its_setup(base: Setup, alone: list[Trial]) -> None:
    for values, trial in zip(CANDIDATES, alone, strict=True):
        assert trial.sample == simulate(setup(base, values), 9, 20, 8)


def test_candidates_may_make_rolls_of_their_own(base: Setup) -> None:
    with Evaluator(base, 1) as evaluator:
        trials = evaluator.roll(CANDIDATES, replace(BLOCK, apart=True))
    firsts = (20, 28)
    for values, trial, first in zip(CANDIDATES, trials, firsts, strict=True):
        assert trial.sample == simulate(setup(base, values), 9, first, 8)


def test_the_rolls_are_the_same_for_more_workers_and_smaller_pieces(
    base: Setup, alone: list[Trial], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("physim.calibrate.evaluate.PIECE", 3)
    seen: list[tuple[int, int, str]] = []
    with Evaluator(base, 2) as evaluator:
        trials = evaluator.roll(CANDIDATES, BLOCK, lambda *told: seen.append(told))
    assert trials == alone
    assert seen[0] == (0, 16, "rolls") and seen[-1] == (16, 16, "rolls")


def test_what_is_no_pig_is_not_rolled(base: Setup) -> None:
    """A centre of mass outside the hull, one too low for a snouter, and a pig."""
    candidates = [{"com_up_mm": 90.0}, {"com_up_mm": -4.0}, {"friction": 0.4}]
    with Evaluator(base, 1) as evaluator:
        trials = evaluator.roll(candidates, replace(BLOCK, rolls=2))
        screened = evaluator.screen(candidates)
    assert "outside" in trials[0].problem and trials[0].severity == NO_PIG
    assert "cannot lie as" in trials[1].problem and trials[1].severity < NO_PIG
    assert trials[2].problem == "" and trials[2].sample.rolls == 2
    assert [trial.sample.rolls for trial in trials[:2]] == [0, 0]
    assert screened[0].no_pig and not screened[1].no_pig
    assert Pose.SNOUTER in screened[1].missing

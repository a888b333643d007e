"""The solved game of the real rolls, once for all tests."""

from __future__ import annotations

import pytest

from physim.game.outcomes import Distribution, odds
from physim.rules.ruleset import RuleSet, load_rules
from physim.strategy.policies import from_table
from physim.strategy.solver import Solution, solve


@pytest.fixture(scope="session")
def kern() -> Distribution:
    return from_table("kern2006")


@pytest.fixture(scope="session")
def box() -> RuleSet:
    return load_rules("box")


@pytest.fixture(scope="session")
def solved(kern: Distribution, box: RuleSet) -> Solution:
    return solve(odds(kern, box), box)

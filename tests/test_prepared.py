"""What is computed once for many rolls."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from physim.errors import ConfigError
from physim.simulator import Setup, SimulationContext, Simulator
from physim.types import PigModel


def test_rolls_of_what_was_prepared_are_the_same() -> None:
    setup = Setup.named()
    context = SimulationContext.of(setup.pigs, setup.table)
    with Simulator(setup, context) as with_it, Simulator(setup) as without:
        assert with_it.roll(3, 1).time_s == without.roll(3, 1).time_s


def test_what_was_prepared_of_other_pigs_is_refused(box: Callable[..., PigModel]) -> None:
    setup = Setup.named()
    cube = box([0.02] * 3)
    other = replace(setup, black=cube, pink=cube)
    context = SimulationContext.of(other.pigs, other.table)
    with pytest.raises(ConfigError, match="made of the pigs of the setup"):
        Simulator(setup, context)

"""Compiled inner loops come to the same bits as the Python that they are made from."""

import os
import subprocess
import sys

import pytest

from physim.compiled import COMPILED
from physim.values import GRAVITY_M_S2
from physim.world import kernels

ROLLS = """
from physim.compiled import COMPILED
from physim.roll import Setup, Simulator
print(COMPILED)
for toss, count in (("trapdoor", 12), ("hand", 6)):
    with Simulator(Setup.named(toss=toss)) as simulator:
        for index in range(count):
            roll = simulator.roll(5, index)
            print(roll.time_s.hex(), roll.outcome.value)
            for pig in roll.pigs:
                print(*(float(c).hex() for c in (*pig.position_m, *pig.quat_xyzw)))
"""


def rolled(compiled: str) -> list[str]:
    environment = {**os.environ, "PHYSIM_COMPILED": compiled}
    done = subprocess.run(
        [sys.executable, "-c", ROLLS], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.skipif(not COMPILED, reason="Numba is not installed")
def test_rolls_are_the_same_bits_compiled_or_not() -> None:
    compiled, plain = rolled("1"), rolled("0")
    assert (compiled[0], plain[0]) == ("True", "False")
    assert len(plain) == 1 + 3 * 18
    assert compiled[1:] == plain[1:]


@pytest.mark.skipif(not COMPILED, reason="Numba is not installed")
def test_without_a_folder_for_the_cache_it_compiles_anyway(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from physim import compiled

    def njit(cache: bool = False) -> object:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: ("compiled", function)

    monkeypatch.setattr(compiled, "_NJIT", njit)
    assert compiled.compiled(len) == ("compiled", len)


def test_gravity_is_the_one_of_the_values() -> None:
    assert kernels.GRAVITY == GRAVITY_M_S2

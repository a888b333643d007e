"""Where Numba cannot do its work, Python does it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from physim import compiled as module
from physim.values import GRAVITY_M_S2
from physim.world import kernels


def test_a_numba_that_cannot_be_loaded_is_done_without(tmp_path: Path) -> None:
    """Such as one that is older than the NumPy beside it: it says so by an ImportError."""
    (tmp_path / "numba.py").write_text("raise ImportError('needs another NumPy')\n")
    paths = [str(tmp_path), str(Path(module.__file__).parents[1])]
    code = "from physim.compiled import COMPILED; import physim.world.kernels; print(COMPILED)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PHYSIM_COMPILED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["False"]


def test_without_a_folder_for_the_cache_it_still_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def njit(function: Callable[..., float] | None = None, *, cache: bool = False) -> object:
        asked.append(cache)
        if function is not None:
            return function

        def refuse(function: Callable[..., float]) -> object:
            raise RuntimeError("cannot cache function 'double': no locator available")

        return refuse

    monkeypatch.setattr(module, "njit", njit)

    def double(number: float) -> float:
        return 2.0 * number

    assert module.compiled(double)(3.0) == 6.0
    assert asked == [True, False]


ROLLS = """
from physim.compiled import COMPILED
from physim.roll import Setup, Simulator
print(COMPILED)
with Simulator(Setup.named(toss="hand")) as simulator:
    for roll in simulator.rolls(7, range(8)):
        for pig in roll.pigs:
            print(pig.time_s.hex(), [x.hex() for x in (*pig.position_m, *pig.quat_xyzw)])
"""


def test_compiled_rolls_have_the_same_bits() -> None:
    pytest.importorskip("numba")
    told = []
    for compiled in "01":
        done = subprocess.run(
            [sys.executable, "-c", ROLLS],
            env={
                **os.environ,
                "PYTHONPATH": str(Path(module.__file__).parents[1]),
                "PHYSIM_COMPILED": compiled,
            },
            capture_output=True,
            text=True,
            check=True,
        )
        told.append(done.stdout.splitlines())
    python, numba = told
    assert (python[0], numba[0]) == ("False", "True")
    assert len(python) == 17
    assert python[1:] == numba[1:]


def test_gravity_is_the_one_of_the_values() -> None:
    assert kernels.GRAVITY == GRAVITY_M_S2

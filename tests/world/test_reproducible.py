"""The same seed and index give the same bits, whatever was rolled before and wherever."""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path

import numpy as np
import pytest

import physim
from physim.roll import Setup, Simulator, roll
from physim.tosses.models import Trapdoor
from physim.values import Roll
from physim.world import bullet

SEED, ROLLS = 9, 40

FRESH_PROCESS = """
import pickle, sys
from physim.roll import Simulator
setup, seed, indices = pickle.load(sys.stdin.buffer)
with Simulator(setup) as simulator:
    rolls = list(simulator.rolls(seed, indices))
with open(sys.argv[1], "wb") as out:
    pickle.dump(rolls, out)
"""


def bits(value: object) -> object:
    """Every number of a value, each float bit for bit."""
    if isinstance(value, Enum) or value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, np.ndarray):
        return [float(number).hex() for number in value]
    if is_dataclass(value):
        return [bits(getattr(value, field.name)) for field in fields(value)]
    assert isinstance(value, tuple), type(value)
    return [bits(part) for part in value]


@pytest.fixture(scope="module")
def close() -> Setup:
    """Pigs so near to each other on the door that they often meet."""
    setup = Setup.named(toss="trapdoor")
    assert isinstance(setup.toss, Trapdoor)
    toss = replace(setup.toss, separation_m=0.025, separation_spread_m=0.0)
    return replace(setup, toss=toss)


def rolled(setup: Setup, indices: Iterable[int]) -> dict[int, object]:
    with Simulator(setup) as simulator:
        return {index: bits(simulator.roll(SEED, index)) for index in indices}


@pytest.fixture(scope="module")
def in_order(close: Setup) -> dict[int, object]:
    return rolled(close, range(ROLLS))


def test_the_rolls_compared_are_ones_in_which_pigs_meet(close: Setup) -> None:
    met = 0
    with Simulator(close) as simulator:
        for index in range(ROLLS):
            hits: list[bool] = []

            def look(_: float, __: object, hits: list[bool] = hits) -> None:
                assert simulator._engine is not None
                hits.append(simulator._engine.pigs_meet(1e-4))

            simulator.roll(SEED, index, look)
            met += any(hits)
    assert met >= 5


def test_any_order_gives_the_same_bits(close: Setup, in_order: dict[int, object]) -> None:
    assert rolled(close, reversed(range(ROLLS))) == in_order


def test_renewing_the_client_changes_no_bit(
    close: Setup, in_order: dict[int, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bullet, "RENEW_AFTER", 7)
    assert rolled(close, range(ROLLS)) == in_order


def test_a_fresh_simulator_gives_the_same_bits(close: Setup, in_order: dict[int, object]) -> None:
    for index in range(0, ROLLS, 8):
        assert bits(roll(SEED, index, setup=close)) == in_order[index]


@pytest.mark.slow
def test_every_roll_in_a_fresh_simulator(close: Setup, in_order: dict[int, object]) -> None:
    for index in range(ROLLS):
        assert bits(roll(SEED, index, setup=close)) == in_order[index]


def test_a_fresh_process_gives_the_same_bits(
    close: Setup, in_order: dict[int, object], tmp_path: Path
) -> None:
    indices = list(range(ROLLS - 1, -1, -3))
    out = tmp_path / "rolls"
    subprocess.run(
        [sys.executable, "-c", FRESH_PROCESS, str(out)],
        input=pickle.dumps((close, SEED, indices)),
        env={**os.environ, "PYTHONPATH": str(Path(physim.__file__).parents[1])},
        check=True,
        timeout=120,
    )
    rolls: list[Roll] = pickle.loads(out.read_bytes())
    assert {r.index: bits(r) for r in rolls} == {index: in_order[index] for index in indices}


def test_other_tosses_do_not_depend_on_the_rolls_before_either() -> None:
    for toss in ("hand", "drop"):
        setup = Setup.named(toss=toss)
        some = rolled(setup, range(8))
        assert rolled(setup, [7, 2, 5]) == {index: some[index] for index in (7, 2, 5)}


def test_seed_and_index_both_matter(close: Setup, in_order: dict[int, object]) -> None:
    assert len({str(value) for value in in_order.values()}) == ROLLS
    with Simulator(close) as simulator:
        other = simulator.roll(SEED + 1, 0)
    assert bits(other.pigs) != bits(simulator_pigs(close))


def simulator_pigs(setup: Setup) -> object:
    return roll(SEED, 0, setup=setup).pigs

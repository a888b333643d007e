"""The same seed and index give the same bits, whatever was rolled before and wherever."""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import physim
from physim.physics.fast import pair
from physim.simulator import Setup, Simulator, roll
from physim.tosses.release import Trapdoor
from physim.types import PigModel, Roll
from tests.physics.worlds import bits

SEED, ROLLS = 9, 60

FRESH_PROCESS = """
import pickle, sys
from physim.simulator import Simulator
setup, seed, indices = pickle.load(sys.stdin.buffer)
with Simulator(setup) as simulator:
    rolls = list(simulator.rolls(seed, indices))
with open(sys.argv[1], "wb") as out:
    pickle.dump(rolls, out)
"""


@pytest.fixture(scope="module")
def close() -> Setup:
    """Pigs so near to each other on the door that they often meet."""
    setup = Setup.named(toss="trapdoor", settle="full")
    assert isinstance(setup.toss, Trapdoor)
    toss = replace(setup.toss, separation_m=0.025, separation_spread_m=0.0)
    return replace(setup, toss=toss)


def rolled(setup: Setup, indices: Iterable[int]) -> dict[int, object]:
    with Simulator(setup) as simulator:
        return {index: bits(simulator.roll(SEED, index)) for index in indices}


@pytest.fixture(scope="module")
def in_order(close: Setup) -> dict[int, object]:
    return rolled(close, range(ROLLS))


def test_the_rolls_compared_are_ones_in_which_pigs_meet(
    close: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    met = 0
    with Simulator(close) as simulator:
        assert simulator._world is not None
        pair = simulator._world.pair
        hits: list[bool] = []
        advance = pair.advance

        def told(*given: Any) -> int:
            steps = advance(*given)
            hits.append(pair.pigs_touch(1e-4))
            return steps

        monkeypatch.setattr(pair, "advance", told)
        for index in range(ROLLS):
            hits.clear()
            simulator.roll(SEED, index)
            met += any(hits)
    assert met >= 5


def test_any_order_gives_the_same_bits(close: Setup, in_order: dict[int, object]) -> None:
    assert rolled(close, reversed(range(ROLLS))) == in_order


def test_renewing_the_client_changes_no_bit(
    close: Setup, in_order: dict[int, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair, "RENEW_AFTER", 3)
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


@pytest.mark.parametrize("toss", ["hand", "drop"])
def test_other_tosses_do_not_depend_on_the_rolls_before_either(toss: str) -> None:
    setup = Setup.named(toss=toss)
    some = rolled(setup, range(12))
    assert rolled(setup, [11, 7, 2, 5, 9, 0]) == {i: some[i] for i in (11, 7, 2, 5, 9, 0)}


def test_two_models_do_not_depend_on_the_rolls_before_either(
    close: Setup, mirrored: Callable[[PigModel], PigModel]
) -> None:
    """Two shapes and two masses, and pigs that meet."""
    pig = mirrored(close.pink)
    scaled = tuple(replace(part, vertices_m=1.2 * part.vertices_m) for part in pig.parts)
    bigger = replace(
        pig,
        parts=scaled,
        length_m=1.2 * pig.length_m,
        height_m=1.2 * pig.height_m,
        mass_kg=1.2**3 * pig.mass_kg,
        inertia_kg_m2=1.2**5 * pig.inertia_kg_m2,
    )
    mixed = replace(close, pink=bigger)
    some = rolled(mixed, range(16))
    assert rolled(mixed, reversed(range(16))) == some


def test_the_pig_of_a_new_roll_knows_nothing_of_the_last(close: Setup) -> None:
    """The engine's bodies are re-posed: after every way in which a roll can end."""
    first = rolled(close, [3])
    with Simulator(close) as simulator:
        for index in range(12):
            simulator.roll(SEED + 1, index)
            assert bits(simulator.roll(SEED, 3)) == first[3]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("toss", ["trapdoor", "hand", "close"])
def test_three_hundred_rolls_backwards(close: Setup, toss: str) -> None:
    setup = close if toss == "close" else Setup.named(toss=toss)
    assert rolled(setup, reversed(range(300))) == rolled(setup, range(300))


def test_seed_and_index_both_matter(close: Setup, in_order: dict[int, object]) -> None:
    assert len({str(value) for value in in_order.values()}) == ROLLS
    with Simulator(close) as simulator:
        other = simulator.roll(SEED + 1, 0)
    assert bits(other.pigs) != bits(simulator_pigs(close))


def simulator_pigs(setup: Setup) -> object:
    return roll(SEED, 0, setup=setup).pigs

"""Values that hold arrays can be compared and hashed, to the last bit."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace

import numpy as np
import pytest

import physim
from physim.simulator import Setup, Simulator
from physim.types import ExactValue, RigidState, Toss

# Values that no user meets; and `mujoco` may be missing.
INTERNAL = (
    "physim.physics.mujoco_engine",
    "physim.importer",
)


def test_a_roll_equals_itself_made_again() -> None:
    roll, again = physim.roll(seed=1), physim.roll(seed=1)
    assert roll is not again
    assert roll == again and hash(roll) == hash(again)
    assert (roll != again) is False
    assert physim.roll(seed=2) != roll
    assert len({roll, again, pickle.loads(pickle.dumps(roll))}) == 1


def test_the_last_bit_makes_a_difference() -> None:
    roll = physim.roll(seed=1)
    black, pink = roll.pigs
    place = pink.position_m.copy()
    place[2] = np.nextafter(place[2], 1.0)
    other = replace(roll, pigs=(black, replace(pink, position_m=place)))
    assert roll != other
    assert (roll == other) is False
    assert replace(roll, time_s=float(np.nextafter(roll.time_s, 9.0))) != roll
    assert replace(roll, score=None) != roll


def test_nan_equals_nan_in_the_same_place() -> None:
    def state(*place: float) -> RigidState:
        return RigidState(np.array(place), np.array([0.0, 0.0, 0.0, 1.0]))

    nan = float("nan")
    assert state(nan, 0.0, 1.0) == state(-nan, 0.0, 1.0)
    assert hash(state(nan, 0.0, 1.0)) == hash(state(-nan, 0.0, 1.0))
    assert state(nan, 0.0, 1.0) != state(0.0, nan, 1.0)
    assert state(0.0, 0.0, 1.0) != state(-0.0, 0.0, 1.0)
    both = Toss(state(nan, 0.0, 1.0), state(0.0, 0.0, 1.0))
    assert both == Toss(state(nan, 0.0, 1.0), state(0.0, 0.0, 1.0))
    roll = physim.roll(seed=1)
    assert replace(roll, time_s=nan) == replace(roll, time_s=float("nan")) != roll


def test_shape_type_and_class_count() -> None:
    @dataclass(frozen=True, eq=False)
    class One(ExactValue):
        content: object
        aside: int = field(default=0, compare=False)

    @dataclass(frozen=True, eq=False)
    class Other(ExactValue):
        content: object

    zeros = np.zeros((2, 3))
    assert One(zeros) == One(zeros.copy()) == One(np.asfortranarray(zeros)) == One(zeros[:, ::-1])
    assert One(zeros) != One(zeros.reshape(3, 2)) and One(zeros) != One(zeros.astype(np.float32))
    assert One(zeros) != One(zeros.tolist()) and One(zeros) != Other(zeros)
    assert One(zeros, 1) == One(zeros, 2)
    assert One(1) == One(1.0) == One(np.float64(1.0)) and One((1, 2)) != One([1, 2])
    assert One(np.array(["a", None], object)) == One(np.array(["a", None], object))
    assert One({"a": zeros, "b": 1}) == One({"b": 1, "a": zeros}) != One({"a": zeros})
    with pytest.raises(TypeError, match="unhashable"):
        hash(One({"a": zeros}))
    with pytest.raises(FrozenInstanceError):
        One(zeros).content = 1  # type: ignore[misc]


def test_setups_recordings_and_releases_can_be_compared() -> None:
    setup = Setup.named()
    assert replace(setup, black=replace(setup.black)) == setup != Setup.named(toss="hand")
    with Simulator(setup) as a, Simulator(setup) as b:
        assert a.record(3, 0) == b.record(3, 0)
        assert a.record(3, 0) != b.record(3, 1)
        rest = a._context.rests if a._context else ()
        assert rest == (b._context.rests if b._context else None)


def _dataclasses() -> dict[str, type]:
    found = {}
    for module in pkgutil.walk_packages(physim.__path__, "physim."):
        if module.name != "physim.__main__" and not module.name.startswith(INTERNAL):
            for name, value in vars(importlib.import_module(module.name)).items():
                if is_dataclass(value) and isinstance(value, type):
                    found[f"{value.__module__}.{name}"] = value
    return {name: value for name, value in found.items() if not name.startswith(INTERNAL)}


def test_all_that_hold_arrays_are_such_values() -> None:
    holding = {
        name: value
        for name, value in _dataclasses().items()
        if any("Array" in str(entry.type) for entry in fields(value))
    }
    assert len(holding) > 20  # the search finds them
    assert [name for name, value in holding.items() if not issubclass(value, ExactValue)] == []


def test_none_has_an_equality_of_its_own_besides() -> None:
    """`@dataclass` would put another one in its place without `eq=False`."""
    own = [
        name
        for name, value in _dataclasses().items()
        if issubclass(value, ExactValue) and value.__eq__ is not ExactValue.__eq__
    ]
    assert own == []

"""Simulators of one process keep their bits whatever the others do, in any number of threads."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from physim.physics.engine import pybullet, quiet_stdout
from physim.physics.fast import world
from physim.physics.surfaces import EngineSettings
from physim.seeding import stream
from physim.simulator import Setup, Simulator
from physim.tosses.release import Draws, Trapdoor
from tests.physics.worlds import bits

SEED, ROLLS = 21, range(8)
OTHERS = ["fine", "loose", "big", "mixed", "hasty"]


def near(setup: Setup) -> Setup:
    """Pigs that are released so near to each other that they often meet in one engine."""
    assert isinstance(setup.toss, Trapdoor)
    toss = replace(setup.toss, separation_m=0.025, separation_spread_m=0.0)
    return replace(setup, toss=toss)


@pytest.fixture(scope="module")
def setups() -> dict[str, Setup]:
    standard = near(Setup.named())
    pair = Setup.named(black="big", pink="standard", toss="trapdoor_big")
    return {
        "standard": standard,
        "fine": replace(standard, settings=EngineSettings(time_step_s=1 / 4096)),
        "loose": replace(standard, settings=EngineSettings(contact_falls=100.0)),
        "big": Setup.named("big", toss="trapdoor_big"),
        "mixed": pair,
        "hasty": replace(
            standard,
            settle="full",
            settings=EngineSettings(
                solver_iterations=5,
                solver_tolerance_m_s=1e-2,
                recovery_s=0.05,
                restitution_threshold_m_s=0.2,
                contact_falls=3.0,
            ),
        ),
    }


def rolled(simulator: Simulator) -> list[object]:
    return [bits(roll) for roll in simulator.rolls(SEED, ROLLS)]


@pytest.fixture(scope="module")
def alone(setups: dict[str, Setup]) -> dict[str, list[object]]:
    rolls = {}
    for name, setup in setups.items():
        with Simulator(setup) as simulator:
            rolls[name] = rolled(simulator)
    return rolls


def test_the_settings_compared_come_to_other_bits(alone: dict[str, list[object]]) -> None:
    assert len({str(rolls) for rolls in alone.values()}) == len(alone)


@pytest.mark.parametrize("other", OTHERS)
def test_another_simulator_that_is_opened_changes_nothing(
    other: str, setups: dict[str, Setup], alone: dict[str, list[object]]
) -> None:
    with Simulator(setups["standard"]) as a, Simulator(setups[other]) as b:
        assert rolled(a) == alone["standard"]
        assert rolled(b) == alone[other]
        assert rolled(a) == alone["standard"]


@pytest.mark.parametrize("other", OTHERS)
def test_another_simulator_that_is_closed_again_changes_nothing(
    other: str, setups: dict[str, Setup], alone: dict[str, list[object]]
) -> None:
    with Simulator(setups[other]) as b:
        with Simulator(setups["standard"]):
            pass
        assert rolled(b) == alone[other]


def test_turn_by_turn_with_generators(
    setups: dict[str, Setup], alone: dict[str, list[object]]
) -> None:
    names = ["standard", *OTHERS]
    opened = {name: Simulator(setups[name]).__enter__() for name in names}
    try:
        ways = {name: opened[name].rolls(SEED, ROLLS) for name in names}
        for index in ROLLS:
            for name in names:
                assert bits(next(ways[name])) == alone[name][index]
                again = (index * 5) % len(ROLLS)
                assert bits(opened[name].roll(SEED, again)) == alone[name][again]
    finally:
        for simulator in opened.values():
            simulator.__exit__(None, None, None)


@pytest.mark.parametrize("other", ["fine", "loose", "big"])
def test_a_roll_within_another_one_changes_nothing(
    other: str,
    setups: dict[str, Setup],
    alone: dict[str, list[object]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While the two pigs share an engine as well."""
    with Simulator(setups["standard"]) as a, Simulator(setups[other]) as b:
        assert a._world is not None
        advance = a._world.pair.advance
        inner: list[object] = []

        def interrupted(*given: Any) -> int:
            if len(inner) % 8 == 0:
                assert bits(b.roll(SEED, 1)) == alone[other][1]
            inner.append(None)
            return advance(*given)

        monkeypatch.setattr(a._world.pair, "advance", interrupted)
        for index in ROLLS:
            assert bits(a.roll(SEED, index)) == alone["standard"][index]
        assert inner


def test_recorded_and_settled_rolls_keep_their_bits_too(
    setups: dict[str, Setup], alone: dict[str, list[object]]
) -> None:
    setup = setups["standard"]
    with Simulator(setup) as a, Simulator(setups["loose"]) as b:
        for index in ROLLS:
            assert bits(a.record(SEED, index)[0]) == alone["standard"][index]
            assert bits(b.record(SEED, index)[0]) == alone["loose"][index]
            toss = setup.toss.release(Draws(stream(SEED, index)), index, setup.pigs)
            assert (
                bits(a.classify_and_score(SEED, index, a.settle(toss))) == alone["standard"][index]
            )


def test_somebody_elses_client_changes_nothing(
    setups: dict[str, Setup], alone: dict[str, list[object]]
) -> None:
    with Simulator(setups["standard"]) as a, quiet_stdout():
        client = pybullet.connect(pybullet.DIRECT)
        try:
            for index in ROLLS:
                pybullet.setPhysicsEngineParameter(
                    contactBreakingThreshold=0.02, physicsClientId=client
                )
                assert bits(a.roll(SEED, index)) == alone["standard"][index]
        finally:
            pybullet.disconnect(client)


@pytest.fixture
def often() -> object:
    """Threads take turns as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("often")
def test_threads_may_share_a_simulator(
    setups: dict[str, Setup], alone: dict[str, list[object]]
) -> None:
    with Simulator(setups["standard"]) as shared, ThreadPoolExecutor(3) as threads:
        ways: list[Callable[[int], object]] = [
            lambda index: bits(shared.roll(SEED, index)),
            lambda index: bits(shared.record(SEED, index)[0]),
            lambda index: bits(next(iter(shared.rolls(SEED, [index])))),
        ]
        asked = [(index, threads.submit(way, index)) for index in ROLLS for way in ways]
        assert [done.result() for _, done in asked] == [alone["standard"][i] for i, _ in asked]


@pytest.mark.usefixtures("often")
def test_each_thread_may_have_a_simulator(
    setups: dict[str, Setup], alone: dict[str, list[object]], capfd: pytest.CaptureFixture[str]
) -> None:
    """Opened, rolled and closed side by side; what is printed still goes where it should."""
    names = ["standard", "fine", "mixed"]
    start = threading.Barrier(len(names))

    def work(name: str) -> list[object]:
        start.wait()
        for _ in range(5):
            with Simulator(setups[name]):
                pass
        with Simulator(setups[name]) as own:
            return rolled(own)

    with ThreadPoolExecutor(len(names)) as threads:
        assert list(threads.map(work, names)) == [alone[name] for name in names]
    os.write(1, b"out")
    assert capfd.readouterr().out == "out"


def test_a_simulator_is_closed_after_the_roll_that_is_under_way(
    setups: dict[str, Setup], monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator = Simulator(setups["standard"]).__enter__()
    assert simulator._world is not None
    started = threading.Event()
    go_on = world.go_on

    def told(*arguments: Any) -> int:
        started.set()
        return go_on(*arguments)

    monkeypatch.setattr(world, "go_on", told)
    with ThreadPoolExecutor(1) as threads:
        roll = threads.submit(simulator.roll, SEED, 0)
        assert started.wait(20)
        simulator.__exit__(None, None, None)
        assert np.isfinite(roll.result().time_s)
    with pytest.raises(RuntimeError, match="is opened by"):
        simulator.roll(SEED, 0)


def test_a_simulator_is_opened_once(setups: dict[str, Setup]) -> None:
    with (
        Simulator(setups["standard"]) as simulator,
        pytest.raises(RuntimeError, match="open already"),
        simulator,
    ):
        pass
    with simulator:
        assert simulator.roll(SEED, 0)

"""Energy and penetration, seen at every step that the engine takes in a roll."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from physim.roll import Setup, Simulator
from physim.values import PigModel, RigidState, Roll
from physim.world.body import Body
from physim.world.bullet import Engine, _state
from physim.world.bullet_client import pybullet
from physim.world.settings import EngineSettings

Array = NDArray[np.float64]
G = 9.81
STEP_S = EngineSettings().time_step_s
ROLLS = 30
# Of the energy at release. Measured: 2.5e-5.
ENERGY_RISE = 3e-4
PENETRATION = 0.05  # of the pig's height. Measured: .024 in 30 rolls of each toss.

States = tuple[RigidState, RigidState]


class EveryStep(Engine):
    """Takes the same steps as the engine, one by one, and keeps the state after each."""

    seen: list[States]

    def advance(self) -> None:
        steps = self._steps
        client = {"physicsClientId": self._client}
        pybullet.setPhysicsEngineParameter(
            fixedTimeStep=self.call_s / steps, numSubSteps=1, **client
        )
        for _ in range(steps):
            pybullet.stepSimulation(**client)
            first, second = (
                _state(
                    (
                        *pybullet.getBasePositionAndOrientation(pig, **client),
                        *pybullet.getBaseVelocity(pig, **client),
                    )
                )
                for pig in self._pigs
            )
            self.seen.append((first, second))
        pybullet.setPhysicsEngineParameter(fixedTimeStep=self.call_s, numSubSteps=steps, **client)
        self.steps += steps
        self._look()


def setup_of(toss: str, step_s: float) -> Setup:
    steps = round(1 / 128 / step_s)
    settings = EngineSettings(time_step_s=step_s, steps_a_call=steps)
    return Setup.named(toss=toss, height_mm=203, settings=settings)


def watched(toss: str, step_s: float) -> tuple[list[Roll], list[Array], list[float]]:
    """Per roll: itself, the energy of both pigs at every step, the deepest corner [m]."""
    setup = setup_of(toss, step_s)
    body = Body.of(setup.black)
    rolls, energies, depths = [], [], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["physim.roll"], "Engine", EveryStep)
        with Simulator(setup) as simulator:
            engine = simulator._engine
            assert isinstance(engine, EveryStep)
            for index in range(ROLLS):
                engine.seen = []
                rolls.append(simulator.roll(5, index))
                energy, depth = measured(body, engine.seen)
                energies.append(energy)
                depths.append(depth)
    return rolls, energies, depths


def measured(body: Body, seen: list[States]) -> tuple[Array, float]:
    """The energy of both pigs at every step [J], and the deepest corner [m]."""
    energy, depth = np.zeros(len(seen)), 0.0
    for pig in zip(*seen, strict=True):
        position, quat, velocity, spin = (
            np.array([getattr(state, name) for state in pig])
            for name in ("position_m", "quat_xyzw", "velocity_m_s", "angular_velocity_rad_s")
        )
        turns = Rotation.from_quat(quat)
        mass = body.model.mass_kg
        energy += mass * (G * position[:, 2] + 0.5 * (velocity**2).sum(axis=1))
        energy += 0.5 * (turns.inv().apply(spin) ** 2 @ body.moments_kg_m2)
        lows = (turns.as_matrix()[:, 2] @ body.hull_m.T).min(axis=1) + position[:, 2]
        on_table = np.abs(position[:, :2]).max(axis=1) < 0.35
        depth = max(depth, -float(lows[on_table].min(initial=0.0)))
    return energy, depth


@pytest.fixture(scope="module", params=["trapdoor", "hand"])
def rolls_seen(request: pytest.FixtureRequest) -> tuple[list[Roll], list[Array], list[float]]:
    return watched(request.param, STEP_S)


def test_watching_changes_no_bit() -> None:
    rolls = watched("trapdoor", STEP_S)[0]
    with Simulator(setup_of("trapdoor", STEP_S)) as simulator:
        for roll in rolls[:8]:
            there = simulator.roll(5, roll.index)
            for one, other in zip(roll.pigs, there.pigs, strict=True):
                assert one.quat_xyzw.tolist() == other.quat_xyzw.tolist()


def test_energy_never_rises(
    rolls_seen: tuple[list[Roll], list[Array], list[float]],
    record_property: Callable[[str, object], None],
) -> None:
    rolls, energies, _ = rolls_seen
    rises = []
    for roll, energy in zip(rolls, energies, strict=True):
        if roll.status.value != "ok":
            continue  # below the table's top potential energy has no floor here
        assert energy[-1] < 0.2 * energy[0]  # it was a roll, and is over
        # Nor does it creep up: no step lies above all those before it by more.
        rises.append(float((energy - np.minimum.accumulate(energy)).max() / energy[0]))
    record_property("energy_rise", max(rises))
    assert len(rises) > 20
    assert max(rises) < ENERGY_RISE


def test_pigs_do_not_sink_into_the_table(
    standard: PigModel,
    rolls_seen: tuple[list[Roll], list[Array], list[float]],
    record_property: Callable[[str, object], None],
) -> None:
    depth = max(rolls_seen[2]) / standard.height_m
    record_property("deepest_penetration", depth)
    assert 0.001 < depth < PENETRATION


@pytest.mark.slow
def test_half_the_step_sinks_and_gains_less() -> None:
    _, coarse, depths = watched("trapdoor", STEP_S)
    _, fine, finer_depths = watched("trapdoor", STEP_S / 2)
    assert max(finer_depths) < 0.7 * max(depths)
    rise = [max(np.diff(e).max() / e[0] for e in some) for some in (coarse, fine)]
    assert rise[1] < rise[0]

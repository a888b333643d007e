"""Energy and penetration, seen at every step that the engines take in a roll."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from physim.physics.engine import Engine, pybullet
from physim.physics.fast.pair import PigPair
from physim.physics.fast.single import SinglePig
from physim.physics.state import PlainState, PlainStates
from physim.physics.surfaces import EngineSettings
from physim.simulator import Setup, Simulator
from physim.tosses.release import Trapdoor
from physim.types import PigModel, Roll, Status
from tests.physics.worlds import bits, energy_m, lowest_m

STEP_S = EngineSettings().time_step_s
ROLLS = 20
ENERGY_RISE = 3e-4  # of the energy at release. Measured: 1.6e-4 in 20 rolls of each toss.
PENETRATION = 0.05  # of the pig's height. Measured: .025 in 20 rolls of each toss.


@dataclass
class Seen:
    """What was seen of one roll.

    Attributes:
        rises: per stretch, how far its energy got above the least before, over that at release.
        depth_m: of the deepest corner on the table.
        landings, stretches: how often a pig landed, and both came into one engine.
    """

    roll: Roll | None = None
    rises: list[float] = field(default_factory=list)
    depth_m: float = 0.0
    landings: int = 0
    stretches: int = 0


class Watcher:
    """Takes the same steps as the engines, one by one, and follows the energy after each.

    A pig alone is followed from its release, or from where it went its own way again, through
    flights and contacts: its energy must never rise. In one engine it is the sum of the two.
    """

    def __init__(self) -> None:
        self.seen = Seen()
        self._least: dict[int, float] = {}
        self._first = 0.0

    def begin(self) -> None:
        self.seen, self._least, self._first = Seen(), {}, 0.0

    def alone(self, pig: int, energy: float) -> None:
        """The energy over m g of a pig that goes its own way."""
        if pig not in self._least:
            self._least[pig] = energy
            self._first = max(self._first, energy)
        self.seen.rises.append((energy - self._least[pig]) / self._first)
        self._least[pig] = min(energy, self._least[pig])

    def parted(self, pig: int) -> None:
        """It goes on from another engine's state."""
        self._least.pop(pig, None)

    def deep(self, depth_m: float) -> None:
        self.seen.depth_m = max(self.seen.depth_m, depth_m)


@contextmanager
def watching() -> Iterator[Watcher]:
    """Every engine made under it is watched."""
    watcher = Watcher()
    run, place, step = Engine.run, PigPair.place, SinglePig.step

    def one_by_one(
        client: Engine, steps: int, halvings: int = 0, each: Callable[[int], None] | None = None
    ) -> int:
        """As `run`, with a call a step; bodies and numbers are the same."""
        finer = steps << halvings
        if isinstance(client, SinglePig) and client.sample().centre_m[2] > 5.0:
            return run(client, steps, halvings, each)  # it drops what it touched
        step_s = client.settings.time_step_s / (1 << halvings)
        client._running = (0, 0)  # so that the next call sets its own
        pybullet.setPhysicsEngineParameter(
            fixedTimeStep=step_s,
            numSubSteps=1,
            contactERP=1.0 - math.exp(-step_s / client.settings.recovery_s),
            physicsClientId=client.id,
        )
        for _ in range(finer):
            pybullet.stepSimulation(physicsClientId=client.id)
            note(client, step_s)
        return finer

    def note(client: Engine, step_s: float) -> None:
        if isinstance(client, SinglePig):
            state = client.sample().plain().state()
            watcher.alone(id(client), energy_m(client.body, state, step_s))
            watcher.deep(-lowest_m(client.body, state))
        elif isinstance(client, PigPair):
            pigs = [(motion.body, motion.plain().state()) for motion in client.sample()]
            watcher.alone(
                id(client),
                sum(energy_m(body, state, step_s) * body.model.mass_kg for body, state in pigs)
                / sum(body.model.mass_kg for body in client.bodies),
            )
            for body, state in pigs:
                if np.abs(state.position_m[:2]).max() < 0.35:
                    watcher.deep(-lowest_m(body, state))

    def stepped(pig: SinglePig) -> None:
        if pig.now["placing"][0] and pig.now["steps"][0]:  # it lands
            watcher.seen.landings += 1
            landing = PlainState.of_numbers(pig._state.tolist()).state()
            watcher.alone(id(pig), energy_m(pig.body, landing))
        elif pig.now["placing"][0]:  # it comes from another engine
            watcher.parted(id(pig))
        step(pig)

    def placed(client: PigPair, states: PlainStates, *, at_edge: bool) -> None:
        watcher.seen.stretches += 1
        watcher.parted(id(client))
        place(client, states, at_edge=at_edge)

    def by_step(
        pig: SinglePig, steps: int, halvings: int = 0, each: Callable[[int], None] | None = None
    ) -> int:
        """As `SinglePig.run` of the compiled engine, with a look after each base step."""
        if not pig.compiled:
            return one_by_one(pig, steps, halvings, each)
        return own_run(pig, steps, halvings, lambda _: note(pig, pig.base_step_s / (1 << halvings)))

    own_run = SinglePig.run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "run", one_by_one)
        patch.setattr(SinglePig, "run", by_step)
        patch.setattr(SinglePig, "watched", True, raising=False)
        patch.setattr(SinglePig, "step", stepped)
        patch.setattr(PigPair, "place", placed)
        yield watcher


def setup_of(toss: str, step_s: float) -> Setup:
    settings = EngineSettings(time_step_s=step_s, steps_per_check=round(1 / 64 / step_s))
    setup = replace(Setup.named(toss=toss, height_mm=203), settings=settings)
    if not isinstance(setup.toss, Trapdoor):
        return setup
    # Near enough to each other to meet in some of a few rolls.
    return replace(setup, toss=replace(setup.toss, separation_m=0.06))


def watched(toss: str, step_s: float) -> list[Seen]:
    rolls = []
    with watching() as watcher, Simulator(setup_of(toss, step_s)) as simulator:
        for index in range(ROLLS):
            watcher.begin()
            watcher.seen.roll = simulator.roll(5, index)
            rolls.append(watcher.seen)
    return rolls


@pytest.fixture(scope="module", params=["trapdoor", "hand"])
def rolls_seen(request: pytest.FixtureRequest) -> list[Seen]:
    return watched(request.param, STEP_S)


def test_watching_changes_no_bit(rolls_seen: list[Seen], request: pytest.FixtureRequest) -> None:
    toss = request.node.callspec.params["rolls_seen"]
    with Simulator(setup_of(toss, STEP_S)) as simulator:
        for index in range(8):
            assert bits(simulator.roll(5, index)) == bits_of(rolls_seen[index].roll)


def bits_of(roll: Roll | None) -> object:
    assert roll is not None
    return bits(roll)


def test_energy_never_rises(
    rolls_seen: list[Seen], record_property: Callable[[str, object], None]
) -> None:
    """Across landings, contacts and take-offs: no step lies above all those before it."""
    rises = [max(s.rises) for s in rolls_seen if s.roll and s.roll.status is Status.OK]
    record_property("energy_rise", max(rises))
    assert len(rises) > 0.6 * ROLLS
    assert max(rises) < ENERGY_RISE
    assert sum(seen.landings for seen in rolls_seen) > 3 * ROLLS  # both pigs, and bounces
    assert sum(seen.stretches for seen in rolls_seen) > 0  # and some in one engine
    assert min(len(seen.rises) for seen in rolls_seen) > 200


def test_pigs_do_not_sink_into_the_table(
    standard: PigModel,
    rolls_seen: list[Seen],
    record_property: Callable[[str, object], None],
) -> None:
    depth = max(seen.depth_m for seen in rolls_seen) / standard.height_m
    record_property("deepest_penetration", depth)
    assert 0.001 < depth < PENETRATION


def test_the_energy_check_rejects_a_pig_that_bounces_too_high() -> None:
    """A table that gives back more than it gets."""
    setup = setup_of("trapdoor", STEP_S)
    surface = replace(setup.table.surface, restitution=1.6)
    lively = replace(setup, table=replace(setup.table, surface=surface))
    with watching() as watcher, Simulator(lively) as simulator:
        watcher.begin()
        simulator.roll(5, 0)
    assert max(watcher.seen.rises) > ENERGY_RISE


@pytest.mark.slow
def test_half_the_step_sinks_and_gains_less() -> None:
    coarse, fine = watched("trapdoor", STEP_S), watched("trapdoor", STEP_S / 2)
    assert max(s.depth_m for s in fine) < 0.7 * max(s.depth_m for s in coarse)
    assert max(max(s.rises) for s in fine) < max(max(s.rises) for s in coarse)

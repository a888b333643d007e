"""A recorded roll is the roll itself, and its track passes through what other runs saw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from physim.physics.fast.single import SinglePig
from physim.physics.state import PigTrajectory, PlainState
from physim.simulator import Setup, Simulator
from physim.tosses.release import Trapdoor
from physim.types import RigidState
from tests.physics.worlds import bits

ROLLS = 5


def setup_of(name: str, settle: str = "full") -> Setup:
    setup = Setup.named(toss="trapdoor" if name == "close" else name, settle=settle)
    if name == "close" and isinstance(setup.toss, Trapdoor):  # pigs that meet
        return replace(setup, toss=replace(setup.toss, separation_m=0.06))
    return setup


@pytest.mark.parametrize("name", ["trapdoor", "hand", "close"])
def test_recording_changes_no_bit_and_passes_through_the_rows_of_fast_rolls(name: str) -> None:
    with Simulator(setup_of(name)) as full, Simulator(setup_of(name, "fast")) as fast:
        for index in range(ROLLS):
            roll, recording = full.record(3, index)
            assert bits(roll) == bits(full.roll(3, index))
            for row in (roll, fast.roll(3, index)):
                for number, pig in enumerate(row.pigs):
                    there = recording.at(pig.time_s)[number]
                    assert bits(there.position_m) == bits(pig.position_m)
                    assert bits(there.quat_xyzw) == bits(pig.quat_xyzw)
            assert bits(recording.at(roll.time_s + 1.0)[0].position_m) == bits(
                roll.pigs[0].position_m
            )


@pytest.mark.parametrize("name", ["hand", "close"])
def test_at_every_check_the_trajectory_is_where_the_roll_was(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pigs in contact alone are seen up to a step after the check, hence the tolerance."""
    shown: list[dict[float, RigidState]] = [{}, {}]
    go_on = SinglePig.go_on

    def told(self: SinglePig, base_steps: int) -> None:
        go_on(self, base_steps)
        now_s = self.base_steps * self.base_step_s
        own = shown[world.pigs.index(self)]
        for late_s in [time_s for time_s in own if time_s > now_s]:
            del own[late_s]  # did not happen
        own[now_s] = self.body.to_body_frame(self.motion.plain().state())

    with Simulator(setup_of(name)) as simulator:
        world = simulator._world
        assert world is not None
        monkeypatch.setattr(SinglePig, "go_on", told)
        _, trajectory = simulator.record(3, 4)
    assert len(shown[0]) > 20
    for number, own in enumerate(shown):
        for time_s, seen in own.items():
            there = trajectory.at(time_s)[number]
            speed = float(np.linalg.norm(seen.velocity_m_s))
            away = float(np.linalg.norm(seen.position_m - there.position_m))
            assert away <= speed / 2048 + 1e-4


def test_no_jumps() -> None:
    """At 1 kHz no pig moves faster than a thrown pig can."""
    with Simulator(setup_of("close")) as simulator:
        for index in range(4):
            _, recording = simulator.record(3, index)
            times = np.arange(0.0, recording.ends_s, 1e-3)
            ways = np.array([[s.position_m for s in recording.at(float(t))] for t in times])
            assert np.linalg.norm(np.diff(ways, axis=0), axis=2).max() < 4e-3


def test_what_is_noted_of_an_earlier_time_undoes_what_came_later() -> None:
    track = PigTrajectory()
    for time_s in (0.0, 1.0, 2.0, 1.5):
        state = RigidState(np.array([time_s, 0.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]))
        track.add(time_s, PlainState.of(state))
    assert track.ends_s == 1.5
    assert track.at(1.25).centre_m[0] == 1.25
    assert track.at(9.0).centre_m[0] == 1.5
    assert track.at(-1.0).centre_m[0] == 0.0

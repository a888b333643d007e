"""A pig alone: flights and contacts in turn, against the same way stepped, and by other looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from physim.physics.body import Body
from physim.physics.fast import single
from physim.physics.fast.single import SinglePig
from physim.physics.surfaces import EngineSettings
from physim.types import PigModel, RigidState, Table
from tests.physics.worlds import bits, energy_m

Array = NDArray[np.float64]
LOOK_S = 1 / 64


def released(seed: int) -> RigidState:
    rng = np.random.default_rng([51, seed])
    return RigidState(
        np.array([0.0, 0.0, rng.uniform(0.08, 0.2)]),
        Rotation.random(random_state=rng).as_quat(),
        rng.normal(0, 0.3, 3),
        rng.normal(0, 15, 3),
    )


def way(
    body: Body, table: Table, start: RigidState, looks: int, settings: EngineSettings
) -> list[tuple[bool, float, RigidState]]:
    """At each look: whether it flies, its own time and its state."""
    with SinglePig(body, table, settings) as solo:
        solo.release(start)
        seen = []
        for _ in range(looks):
            solo.advance(settings.steps_per_check)
            seen.append((solo.flight is not None, solo.time_s, solo.motion.plain().state()))
    return seen


@pytest.fixture(scope="module")
def body(standard: PigModel) -> Body:
    return Body.of(standard)


@pytest.fixture(scope="module")
def felt(bare_table: Callable[..., Table]) -> Table:
    return bare_table(1.2, lateral_friction=0.6, restitution=0.6)


def first_bounce(flown: Sequence[tuple[bool, float, RigidState]]) -> int:
    """The first look in the air after a landing that is not the last one of that flight."""
    landed = [number for number, (flying, _, _) in enumerate(flown) if not flying]
    for number in range(landed[0] if landed else len(flown), len(flown) - 1):
        if flown[number][0] and flown[number + 1][0]:
            return number + 1
    return -1


def test_a_computed_flight_is_what_finer_steps_approach(
    body: Body, felt: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After one bounce, in the air: flown against stepped, at h, h/2 and h/4, with order one."""
    errors = []
    for seed in range(24):
        row = []
        for step_s in (1 / 2048, 1 / 4096, 1 / 8192):
            settings = EngineSettings(time_step_s=step_s, steps_per_check=round(LOOK_S / step_s))
            flown = way(body, felt, released(seed), 24, settings)
            number = first_bounce(flown)
            if number < 0:
                break
            with monkeypatch.context() as patch:
                # No bounce is computed: the flight at the release alone.
                patch.setattr(single, "LEAST_FLIGHT_S", 1e3)
                stepped = way(body, felt, released(seed), number + 1, settings)
            assert not stepped[number][0]
            _, time_s, other = stepped[number]
            one = flown[number][2]
            # The stepped one is up to a step later.
            late_s = time_s - (number + 1) * LOOK_S
            there = one.position_m + late_s * one.velocity_m_s
            turn = Rotation.from_quat(other.quat_xyzw) * Rotation.from_quat(one.quat_xyzw).inv()
            turn *= Rotation.from_rotvec(one.angular_velocity_rad_s * late_s).inv()
            row.append(
                float(np.linalg.norm(other.position_m - there)) + body.radius_m * turn.magnitude()
            )
        if len(row) == 3:
            errors.append(row)
    assert len(errors) >= 6
    coarse, half, quarter = np.median(np.array(errors), axis=0)
    assert coarse < 5e-4  # half a millimetre of any point
    assert half < 0.8 * coarse
    assert quarter < 0.45 * coarse  # order one makes it 1/4


def test_looks_of_other_sizes_change_no_flight(body: Body, felt: Table) -> None:
    """Until the first touch, whatever was looked at before: the landing is the same bits."""
    for seed in range(8):
        ends = []
        for steps in (32, 16, 5, 1):
            with SinglePig(body, felt, EngineSettings()) as solo:
                solo.release(released(seed))
                while solo.steps_in_air > steps:
                    solo.advance(steps)
                    solo.motion.plain().state()
                assert solo.engine_steps == 0
                assert solo.flight is not None
                ends.append(bits(solo.flight.plain(solo.flight.landing_s).state()))
        assert ends == [ends[0]] * 4


def test_reading_a_pig_changes_no_bit(body: Body, felt: Table) -> None:
    for seed in range(6):
        ends = []
        for reads in (False, True):
            with SinglePig(body, felt, EngineSettings()) as solo:
                solo.release(released(seed))
                for _ in range(60):
                    solo.advance(32)
                    if reads:
                        motion = solo.motion
                        _ = motion.plain().state(), motion.quat_xyzw
                ends.append(bits(solo.motion.plain().state()))
        assert ends[0] == ends[1]


def test_energy_never_rises_from_look_to_look(body: Body, felt: Table) -> None:
    """Flying or in contact; what the pig itself says of its energy is what it has."""
    settings, flights = EngineSettings(), 0
    for seed in range(20):
        start = released(seed)
        with SinglePig(body, felt, settings) as solo:
            solo.release(start)
            first = least = energy_m(body, start)
            flew = True
            for _ in range(90):
                solo.advance(settings.steps_per_check)
                now = energy_m(body, solo.motion.plain().state())
                sunk_m = min(0.0, getattr(solo.motion, "clearance_m", 0.0))
                assert solo.motion.energy_on_table_m + sunk_m == pytest.approx(now, rel=1e-6)
                # In contact speeds are up to half a step's fall off those of its parabola.
                off = (
                    0.0
                    if solo.flight is not None
                    else 0.5 * settings.time_step_s * abs(solo.motion.velocity_m_s[2])
                )
                assert now - off < least + 3e-4 * first
                least = min(least, now + off)
                flights += solo.flight is not None and not flew
                flew = solo.flight is not None
            assert least < 0.3 * first
    assert flights > 10  # computed ones, after a bounce


def test_a_pig_set_down_again_goes_the_same_way(body: Body, felt: Table) -> None:
    """One client, one body that is re-posed: every roll as if it were the first."""
    settings = EngineSettings()
    alone = [way(body, felt, released(seed), 80, settings)[-1] for seed in range(5)]
    with SinglePig(body, felt, settings) as solo:
        for seed in (4, 0, 3, 1, 2, 2, 0):
            solo.release(released(seed))
            for _ in range(80):
                solo.advance(settings.steps_per_check)
            assert bits(solo.motion.plain().state()) == bits(alone[seed][2])
            assert solo.time_s == alone[seed][1]

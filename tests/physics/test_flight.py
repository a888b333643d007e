"""Flight against free fall, an independent integration and a closed form."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from physim.physics.body import Body
from physim.physics.fast import flight
from physim.physics.fast.flight import Flight
from physim.physics.state import PlainState
from physim.types import PigModel, RigidState
from tests.physics.worlds import UPRIGHT, G, angle_rad, bits, energy_m, free_flight, landing

Array = NDArray[np.float64]
SPIN = np.array([0.0, 60.0, 0.6])  # almost about the middle axis: it tumbles over
TURNED = Rotation.from_euler("xyz", [20, 50, -70], degrees=True).as_quat()


def euler(moments: Array, start: RigidState, time_s: float) -> Callable[[Array], Array]:
    """Rotation matrices (n, 3, 3) at given times, by Euler's equations in the body frame."""
    turned = Rotation.from_quat(start.quat_xyzw).as_matrix()

    def rate(_: float, y: Array) -> Array:
        w, r = y[:3], y[3:].reshape(3, 3)
        cross = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([np.cross(moments * w, w) / moments, (r @ cross).ravel()])

    first = np.concatenate([turned.T @ start.angular_velocity_rad_s, turned.ravel()])
    solved = solve_ivp(
        rate, (0, time_s), first, method="DOP853", rtol=1e-12, atol=1e-13, dense_output=True
    )
    return lambda times: solved.sol(np.atleast_1d(times))[3:].T.reshape(-1, 3, 3)


@pytest.fixture(scope="module")
def brick(box: Callable[..., PigModel]) -> Body:
    return Body.of(box([0.04, 0.025, 0.01]))


def test_free_fall_is_exact(brick: Body) -> None:
    start = RigidState(np.array([0.1, -0.2, 0.5]), TURNED, np.array([0.3, 0.1, 0.4]))
    for t in (0.01, 0.123, 0.3):
        end = free_flight(brick, start, t)
        expected = [0.1 + 0.3 * t, -0.2 + 0.1 * t, 0.5 + 0.4 * t - G * t * t / 2]
        assert end.position_m == pytest.approx(expected, abs=1e-15)
        assert end.velocity_m_s == pytest.approx([0.3, 0.1, 0.4 - G * t], abs=1e-15)
        assert end.quat_xyzw == pytest.approx(TURNED, abs=1e-15)


def test_rotation_keeps_energy_and_angular_momentum(brick: Body) -> None:
    start = RigidState(np.zeros(3), TURNED, angular_velocity_rad_s=SPIN)

    def energy_and_momentum(state: RigidState) -> tuple[float, Array]:
        r = Rotation.from_quat(state.quat_xyzw).as_matrix()
        inertia = r @ np.diag(brick.moments_kg_m2) @ r.T
        momentum = inertia @ state.angular_velocity_rad_s
        return 0.5 * float(state.angular_velocity_rad_s @ momentum), momentum

    energy, momentum = energy_and_momentum(start)
    for t in np.linspace(0.02, 0.3, 15):
        now, turned = energy_and_momentum(free_flight(brick, start, float(t)))
        assert now == pytest.approx(energy, rel=1e-7)
        assert np.linalg.norm(turned - momentum) < 1e-7 * np.linalg.norm(momentum)


@pytest.mark.parametrize(("shape", "limit_rad"), [("pig", 5e-6), ("brick", 1e-5)])
def test_attitude_follows_eulers_equations(
    brick: Body, standard: PigModel, shape: str, limit_rad: float
) -> None:
    """After 0.3 s at 60 rad/s, in 60 directions."""
    body = brick if shape == "brick" else Body.of(standard)
    directions = np.random.default_rng(8).normal(size=(12, 3))
    some = 60 * directions / np.linalg.norm(directions, axis=1)[:, None]
    for spin in (SPIN, np.array([0.5, 0.5, -59.0]), *some):
        start = RigidState(np.zeros(3), TURNED, angular_velocity_rad_s=spin)
        expected = euler(body.moments_kg_m2, start, 0.3)
        for t in (0.1, 0.2, 0.3):
            end = free_flight(body, start, t)
            assert angle_rad(end.quat_xyzw, expected(np.array([t]))[0]) < limit_rad


def test_symmetric_top_follows_its_closed_form(solid: Callable[..., PigModel]) -> None:
    # The axis cones about L at |L| / I1 while the top turns about it at (1/I3 - 1/I1) L3.
    moments = np.array([5e-7, 5e-7, 1.5e-7])
    top = Body.of(solid(0.01 * np.vstack([np.eye(3), -np.eye(3)]), moments.tolist()))
    start = RigidState(np.zeros(3), TURNED, angular_velocity_rad_s=np.array([30.0, -20.0, 45.0]))
    first = Rotation.from_quat(TURNED)
    in_body = moments * first.inv().apply(start.angular_velocity_rad_s)
    momentum = first.apply(in_body)
    for t in (0.05, 0.17, 0.3):
        cone = Rotation.from_rotvec(momentum / moments[0] * t)
        turn = Rotation.from_rotvec([0, 0, in_body[2] * (1 / moments[2] - 1 / moments[0]) * t])
        expected = (cone * first * turn).as_matrix()
        assert angle_rad(free_flight(top, start, t).quat_xyzw, expected) < 5e-6


def test_attitude_converges_with_order_four(brick: Body, monkeypatch: pytest.MonkeyPatch) -> None:
    start = RigidState(np.zeros(3), TURNED, angular_velocity_rad_s=SPIN)
    expected = euler(brick.moments_kg_m2, start, 0.3)(np.array([0.3]))[0]
    errors = []
    for turn in (0.2, 0.1, 0.05):
        monkeypatch.setattr(flight, "MAX_TURN_RAD", turn)
        errors.append(angle_rad(free_flight(brick, start, 0.3).quat_xyzw, expected))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all((orders > 3.6) & (orders < 4.4)), errors


def test_the_attitude_does_not_depend_on_what_was_asked_before(standard: PigModel) -> None:
    body = Body.of(standard)
    start = RigidState(np.array([0.0, 0.0, 0.3]), TURNED, np.zeros(3), SPIN)
    times = np.random.default_rng(3).uniform(0, 0.25, 40)
    alone = [bits(free_flight(body, start, float(t))) for t in times]
    for order in (times, np.sort(times), np.sort(times)[::-1]):
        flight = Flight(body, PlainState.of(start))
        assert flight.landing_s > 0.0
        shown = {float(t): bits(flight.plain(float(t)).state()) for t in order}
        assert [shown[float(t)] for t in times] == alone


# --- where a flight ends ---


def lows(body: Body, start: RigidState, times: Array) -> Array:
    """Height of the lowest corner at these times, by the independent integration."""
    attitudes = euler(body.moments_kg_m2, start, float(times[-1]))(times)
    heights = start.position_m[2] + start.velocity_m_s[2] * times - G * times**2 / 2
    return np.asarray((attitudes @ body.hull_m.T)[:, 2].min(axis=1) + heights)


def check_landing(body: Body, start: RigidState) -> float:
    """The landing is the first touch: never below the table before, not earlier, not later."""
    end_s, end = landing(body, start)
    assert end_s > 0
    times = np.linspace(0, end_s, 1500)
    before = lows(body, start, times)
    assert before.min() > -1e-7
    assert before[-1] < 2e-6  # not earlier: it is there
    after = lows(body, start, end_s + np.linspace(0.0, 1e-4, 20))
    if np.gradient(before, times)[-1] < -0.02:  # and not later: it would go on into the table
        assert after[-1] < 0.0
    # Not earlier at all: no moment before was as near as that.
    assert before[times < end_s - 1e-3].min(initial=1.0) > 1e-6
    assert before[:-1].min() > before[-1] - 1e-9
    shown = Rotation.from_quat(end.quat_xyzw).apply(body.hull_m)[:, 2].min()
    assert shown + end.position_m[2] == pytest.approx(before[-1], abs=5e-7)
    return end_s


def released(rng: np.random.Generator, spin: float) -> RigidState:
    return RigidState(
        np.array([0.0, 0.0, rng.uniform(0.06, 0.3)]),
        Rotation.random(random_state=rng).as_quat(),
        rng.normal(0, 0.1, 3),
        rng.normal(0, spin, 3),
    )


def bounced(rng: np.random.Generator, body: Body, spin: float, up_m_s: float) -> RigidState:
    """Just above the table, rising."""
    quat = Rotation.random(random_state=rng).as_quat()
    low = Rotation.from_quat(quat).apply(body.hull_m)[:, 2].min()
    return RigidState(
        np.array([0.0, 0.0, 5e-6 - low]),
        quat,
        np.array([*rng.normal(0, 0.5, 2), up_m_s]),
        rng.normal(0, spin, 3),
    )


@pytest.mark.parametrize("number", range(12))
def test_a_flight_ends_at_the_first_touch(standard: PigModel, number: int) -> None:
    rng = np.random.default_rng([11, number])
    body = Body.of(standard)
    for spin in (0.0, 8.0, 25.0, 60.0):
        check_landing(body, released(rng, spin))


@pytest.mark.parametrize("number", range(12))
def test_a_bounce_ends_at_the_first_touch(standard: PigModel, number: int) -> None:
    """From 5 um above the table: a corner that turns down may touch at once."""
    rng = np.random.default_rng([13, number])
    body = Body.of(standard)
    waits = []
    for spin in (0.0, 10.0, 30.0, 80.0):
        for up_m_s in (0.2, 0.6, 1.2):
            start = bounced(rng, body, spin, up_m_s)
            waits.append(check_landing(body, start))
            # No flight is longer than that of the centre of mass, from a corner to the lowest.
            fall = start.position_m[2] - body.lowest_m
            assert waits[-1] <= (up_m_s + np.sqrt(up_m_s**2 + 2 * G * fall)) / G + 1e-9
    assert min(waits) < 0.05
    assert max(waits) > 0.1


def round_body(solid: Callable[..., PigModel]) -> Body:
    """A ball of 200 corners: some corner is always about to be the lowest."""
    number = np.arange(200) + 0.5
    polar, turn = np.arccos(1 - number / 100), np.pi * (1 + 5**0.5) * number
    sides = np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)
    return Body.of(solid(0.015 * np.stack(sides, axis=1), [9e-7] * 3))


@pytest.mark.parametrize("shape", ["cube", "ball"])
def test_symmetric_bodies_land_at_the_first_touch(
    box: Callable[..., PigModel], solid: Callable[..., PigModel], shape: str
) -> None:
    body = Body.of(box([0.02] * 3)) if shape == "cube" else round_body(solid)
    rng = np.random.default_rng(17)
    for spin in (0.0, 20.0, 60.0):
        for _ in range(3):
            check_landing(body, released(rng, spin))
            check_landing(body, bounced(rng, body, spin, 0.6))


def test_without_spin_the_landing_is_that_of_a_point(box: Callable[..., PigModel]) -> None:
    body = Body.of(box([0.02] * 3))
    start = RigidState(np.array([0.0, 0.0, 0.11]), UPRIGHT, np.array([0.3, 0.0, 0.5]))
    end_s, end = landing(body, start)
    assert end_s == pytest.approx((0.5 + np.sqrt(0.25 + 2 * G * 0.1)) / G, abs=1e-6)
    assert end.position_m == pytest.approx([0.3 * end_s, 0.0, 0.01], abs=2e-6)
    assert end.quat_xyzw == pytest.approx(UPRIGHT, abs=1e-15)


@pytest.mark.parametrize("clear_um", [-20.0, -4.0, 4.0, 20.0])
def test_a_corner_that_grazes_the_table(box: Callable[..., PigModel], clear_um: float) -> None:
    """A corner's lowest point on the way lies so far above the table: only below is a touch."""
    body = Body.of(box([0.02] * 3))
    spin = np.array([0.0, 60.0, 0.0])
    rising = RigidState(np.zeros(3), UPRIGHT, np.array([0.0, 0.0, 0.45]), spin)
    times = np.linspace(0.0, 0.04, 40_001)
    dips = lows(body, rising, times)
    # The first dip after the release, and the height from which it is `clear_um` high.
    inner = np.flatnonzero((dips[1:-1] < dips[:-2]) & (dips[1:-1] <= dips[2:])) + 1
    dip = inner[0]
    assert dips[:dip].min() < dips[dip] + 0.01
    start = replace(rising, position_m=np.array([0.0, 0.0, clear_um * 1e-6 - dips[dip]]))
    if dips[0] < dips[dip]:  # then it would begin inside the table
        pytest.fail("choose another spin")
    end_s = check_landing(body, start)
    if clear_um < 0:
        assert end_s < times[dip]
    else:
        assert end_s > times[dip] + 1e-3


def test_a_body_that_touches_already_has_no_flight(standard: PigModel) -> None:
    body = Body.of(standard)
    rng = np.random.default_rng(5)
    for depth in (0.0, 1e-4, 1e-2):
        start = bounced(rng, body, 20.0, 0.5)
        start = replace(start, position_m=start.position_m - np.array([0.0, 0.0, 5e-6 + depth]))
        end_s, end = landing(body, start)
        assert end_s == 0.0
        assert end.position_m.tolist() == start.position_m.tolist()


def test_the_bounds_on_the_spin_hold(brick: Body) -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        start = RigidState(np.zeros(3), TURNED, np.zeros(3), rng.normal(0, 30, 3))
        flight = Flight(brick, PlainState.of(start))
        spins = [flight.plain(t).spin_rad_s for t in np.linspace(0, 0.5, 60)]
        fastest = np.linalg.norm(spins, axis=1).max()
        assert fastest <= flight.fastest_rad_s * (1 + 1e-9)
        assert flight.energy_m == pytest.approx(energy_m(brick, start), rel=1e-12)

"""Flight against free fall, an independent integration and a closed form."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from physim.values import PigModel, RigidState
from physim.world import flight
from physim.world.body import Body
from physim.world.flight import first_contact, free_flight

Array = NDArray[np.float64]
G = 9.81
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


def angle_rad(quat: Array, rotation: Array) -> float:
    """Angle between two attitudes, accurate near 0."""
    return float(np.linalg.norm(Rotation.from_quat(quat).as_matrix() - rotation) / np.sqrt(2))


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


def test_attitude_follows_eulers_equations(brick: Body) -> None:
    for spin in (SPIN, np.array([25.0, -40.0, 30.0]), np.array([0.5, 0.5, -59.0])):
        start = RigidState(np.zeros(3), TURNED, angular_velocity_rad_s=spin)
        expected = euler(brick.moments_kg_m2, start, 0.3)
        for t in (0.1, 0.2, 0.3):
            end = free_flight(brick, start, t)
            assert angle_rad(end.quat_xyzw, expected(np.array([t]))[0]) < 5e-6


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


@pytest.mark.parametrize("number", range(12))
def test_flight_ends_at_the_first_touch(standard: PigModel, number: int) -> None:
    rng = np.random.default_rng([11, number])
    body = Body.of(standard)
    starts = tuple(
        RigidState(
            np.array([0.0, y, rng.uniform(0.06, 0.3)]),
            Rotation.random(random_state=rng).as_quat(),
            rng.normal(0, 0.1, 3),
            rng.normal(0, 25, 3),
        )
        for y in (-0.1, 0.1)
    )
    end_s, ends = first_contact((body, body), starts)
    times = np.linspace(0, end_s, 1500)
    lowest = []
    for start, end in zip(starts, ends, strict=True):
        attitudes = euler(body.moments_kg_m2, start, end_s)(times)
        heights = start.position_m[2] + start.velocity_m_s[2] * times - G * times**2 / 2
        lows = (attitudes @ body.hull_m.T)[:, 2].min(axis=1) + heights
        assert lows.min() > -1e-7  # never below the table on the way
        lowest.append(lows)
        shown = Rotation.from_quat(end.quat_xyzw).apply(body.hull_m)[:, 2].min()
        assert shown + end.position_m[2] == pytest.approx(lows[-1], abs=5e-7)
    assert min(lowest[0][-1], lowest[1][-1]) < 1e-5
    # Not earlier: until the last millisecond neither pig was as near to the table.
    early = times < end_s - 1e-3
    assert min(lowest[0][early].min(), lowest[1][early].min()) > 1e-5


def test_pigs_flying_at_each_other_stop_before_they_overlap(
    standard: PigModel,
    hull_gap: Callable[[Array, Array], float],
    placed: Callable[[Array, RigidState], Array],
) -> None:
    body = Body.of(standard)
    for number in range(12):
        rng = np.random.default_rng([12, number])
        starts = tuple(
            RigidState(
                np.array([0.0, y, 1.0]),
                Rotation.random(random_state=rng).as_quat(),
                np.array([0.0, -8 * y, 1.0]),
                rng.normal(0, 30, 3),
            )
            for y in (-0.08, 0.08)
        )
        end_s, ends = first_contact((body, body), starts)
        first, second = (placed(body.hull_m, end) for end in ends)
        assert 0 < end_s < 0.125  # they would fly through each other at 0.125 s
        assert hull_gap(first, second) > 0


def test_boxes_face_to_face_stop_at_the_touch(box: Callable[..., PigModel]) -> None:
    body = Body.of(box([0.02, 0.02, 0.02]))
    upright = np.array([0.0, 0.0, 0.0, 1.0])
    starts = tuple(
        RigidState(np.array([x, 0.0, 1.0]), upright, np.array([-5 * x, 0.0, 0.0]))
        for x in (-0.1, 0.1)
    )
    end_s, ends = first_contact((body, body), starts)
    gap = ends[1].position_m[0] - ends[0].position_m[0] - 0.02
    assert -1e-12 < gap < 1e-5
    assert end_s == pytest.approx((0.2 - 0.02) / 1.0, abs=1e-5)

"""Plain PyBullet and MuJoCo roll the same pigs as physim does, by the same laws."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from physim.bench.benchmark import MUJOCO, PLAIN, open_engine, two_pigs
from physim.physics.body import Body
from physim.physics.state import PlainState
from physim.simulator import Setup
from physim.types import PigModel, Pose, RigidState, Status, Table, Toss
from tests.physics.worlds import landing

from .conftest import needs_mujoco

G = 9.81  # m/s2
Array = np.ndarray


def release(engine: Any, toss: Toss) -> None:
    """Puts the pigs where the toss lets them go."""
    pigs = zip(engine.bodies, toss.pigs, strict=True)
    engine.place(tuple(PlainState.of(body.to_principal(state)) for body, state in pigs))


def test_a_toss_comes_to_rest_in_a_pose_of_the_rules(loop: Any, setup: Setup) -> None:
    name = PLAIN if loop.args == (PLAIN,) else MUJOCO
    with open_engine(name, setup) as roll:
        rolls = [roll(1, index) for index in range(4)]
        again = roll(1, 0)
    assert again.index == 0
    for each in rolls:
        assert each.status is Status.OK
        assert 0.2 < each.time_s < 3.0
        for pig in each.pigs:
            assert pig.pose is not Pose.OTHER
            assert pig.rest is not None  # one of the quasi-static rests of the model
            assert pig.contacts


def test_flight_is_a_parabola_and_a_free_rotation(
    loop: Any, setup: Setup, standard: PigModel
) -> None:
    turned = Rotation.from_rotvec([0.3, -0.8, 0.4])
    spin, velocity = np.array([20.0, -30.0, 25.0]), np.array([1.0, 0.2, 0.5])
    starts = [
        RigidState(np.array([0.0, y, 2.0]), turned.as_quat(), velocity, spin) for y in (0.3, -0.3)
    ]
    step_s, steps = setup.settings.time_step_s, 200
    time_s = steps * step_s
    with loop(setup) as engine:
        release(engine, Toss(*starts))
        engine.step(steps)
        seen = engine.sample()
    for body, start, (position, quat, moved, _) in zip(
        (Body.of(standard),) * 2, starts, seen, strict=True
    ):
        # Both engines change speed before place, and so fall g t h / 2 too far.
        fallen = 0.5 * G * time_s * (time_s + step_s)
        expected = start.position_m + time_s * velocity - np.array([0.0, 0.0, fallen])
        assert np.allclose(position, expected, atol=1e-9)
        assert np.allclose(moved, velocity - np.array([0.0, 0.0, G * time_s]), atol=1e-9)
        state = body.to_body_frame(RigidState(np.array(position), np.array(quat)))
        error = Rotation.from_quat(state.quat_xyzw) * _free(standard, turned, spin, time_s).inv()
        # Each step turns by the spin at its end: off by half a step's share of what the spin
        # changed by, 2 |w| at most. It turned by 4.3 rad.
        assert error.magnitude() < step_s * np.linalg.norm(spin)


def _free(model: PigModel, start: Rotation, spin: Array, time_s: float) -> Rotation:
    """The attitude of a torque-free body, by SciPy's integrator."""
    inertia = model.inertia_kg_m2
    momentum = start.apply(inertia @ start.inv().apply(spin))

    def rate(_: float, quat: Array) -> Array:
        turned = Rotation.from_quat(quat)
        a, b, c = turned.apply(np.linalg.solve(inertia, turned.inv().apply(momentum)))
        x, y, z, w = quat
        return 0.5 * np.array(
            [
                a * w + b * z - c * y,
                b * w + c * x - a * z,
                c * w + a * y - b * x,
                -a * x - b * y - c * z,
            ]
        )

    return Rotation.from_quat(
        solve_ivp(rate, (0.0, time_s), start.as_quat(), rtol=1e-9, atol=1e-11).y[:, -1]
    )


@pytest.mark.parametrize("index", [0, 1, 2])
def test_the_first_contact_is_where_flight_computes_it(
    loop: Any, setup: Setup, toss_of: Callable[[int], Toss], index: int
) -> None:
    toss, step_s = toss_of(index), setup.settings.time_step_s
    body = Body.of(setup.black)
    flight_s = min(landing(body, body.to_principal(pig))[0] for pig in toss.pigs)
    with loop(setup) as engine:
        release(engine, toss)
        steps = 0
        while max(_off_fall(engine.sample(), toss, steps * step_s)) < 1e-3:
            engine.step(1)
            steps += 1
    # It shows at the end of the step after the one in which the pig sinks in.
    assert flight_s < steps * step_s <= flight_s + 2.5 * step_s


def _off_fall(seen: Any, toss: Toss, time_s: float) -> list[float]:
    """Per pig, how far the vertical speed is off that of a free fall [m/s]."""
    return [
        abs(velocity[2] - float(start.velocity_m_s[2]) + G * time_s)
        for (_, _, velocity, _), start in zip(seen, toss.pigs, strict=True)
    ]


@pytest.mark.parametrize("restitution", [0.2, 0.42, 0.7])
def test_a_ball_rebounds_to_e2_h(
    loop: Any,
    setup: Setup,
    solid: Callable[..., PigModel],
    bare_table: Callable[..., Table],
    ball: Array,
    restitution: float,
) -> None:
    pig = solid(ball, [2e-7, 2e-7, 2e-7], mass_kg=0.005, restitution=restitution)
    heights = np.linspace(0.05, 0.2, 10)  # meet the steps in every phase
    with loop(replace(setup, black=pig, pink=pig, table=bare_table())) as engine:
        shares = [np.sqrt(_rebound_m(engine, height) / height) for height in heights]
    limit = 0.02 if loop.args == (PLAIN,) else 0.06  # a spring of a few steps
    assert np.mean(shares) == pytest.approx(restitution, abs=limit)
    assert np.std(shares) < limit


def _rebound_m(engine: Any, height_m: float) -> float:
    """How high the lowest point of a ball of 10 mm radius comes after a fall from `height_m`."""
    upright = np.array([0.0, 0.0, 0.0, 1.0])
    starts = [RigidState(np.array([x, 0.0, height_m + 0.01]), upright) for x in (-1.0, 1.0)]
    release(engine, Toss(*starts))
    top_m, rising = 0.0, False
    while not rising or engine.sample()[0][2][2] > 0.0:
        engine.step(1)
        position, _, velocity, _ = engine.sample()[0]
        rising = rising or velocity[2] > 0.0
        top_m = position[2] - 0.01
    return top_m


def test_a_block_slides_v2_over_2_mu_g(
    loop: Any, setup: Setup, box: Callable[..., PigModel], bare_table: Callable[..., Table]
) -> None:
    # The table's factor counts: 0.8 x 0.6.
    pig, table = box((0.04, 0.04, 0.01), friction=0.8), bare_table(lateral_friction=0.6)
    upright, velocity = np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.6, 0.0, 0.0])
    starts = [RigidState(np.array([0.0, y, 0.005]), upright, velocity) for y in (-0.2, 0.2)]
    with loop(replace(setup, black=pig, pink=pig, table=table)) as engine:
        release(engine, Toss(*starts))
        engine.step(1024)
        seen = engine.sample()
    for position, _, moved, _ in seen:
        assert position[0] == pytest.approx(0.6**2 / (2 * 0.48 * G), rel=0.03)
        assert np.linalg.norm(moved) < 1e-3


@needs_mujoco
def test_mujoco_has_the_pigs_mass_shape_and_factors(setup: Setup) -> None:

    from physim.physics.body import damping_ratio

    with two_pigs(MUJOCO, setup) as engine:
        model, body = engine.model, engine.bodies[0]
        upright = RigidState(np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.0, 0.0, 1.0]))
        release(engine, Toss(upright, replace(upright, position_m=np.array([0.1, -0.2, 0.3]))))
        engine.step(1)
        geoms = [g for g in range(model.ngeom) if model.geom_bodyid[g] == 1]
        corners = np.concatenate([_corners(engine, geom) for geom in geoms])
    axes = Rotation.from_quat(body.principal_xyzw) * Rotation.from_quat(
        np.roll(model.body_iquat[1], -1)
    )
    inertia = axes.as_matrix() @ np.diag(model.body_inertia[1]) @ axes.as_matrix().T
    assert model.body_mass[1] == pytest.approx(setup.black.mass_kg)
    assert np.allclose(model.body_ipos[1], 0.0)
    assert np.allclose(inertia, setup.black.inertia_kg_m2, rtol=1e-6, atol=1e-13)
    fallen = np.array([0.1, 0.2, 0.3 - G * setup.settings.time_step_s**2])
    expected = setup.black.vertices_m + fallen
    # The look is that of the step's start. Points inside the hull may have been dropped.
    for corner in corners:
        assert np.abs(expected - corner).sum(axis=1).min() < 1e-5
    assert np.allclose(corners.min(axis=0), expected.min(axis=0), atol=1e-5)
    assert np.allclose(corners.max(axis=0), expected.max(axis=0), atol=1e-5)
    surface = setup.table.surface
    on_table = surface.lateral_friction * setup.black.lateral_friction
    tables = [g for g in range(model.ngeom) if model.geom_bodyid[g] == 0]
    assert {float(model.geom_friction[g][0]) for g in tables} == {on_table}
    assert {float(model.geom_friction[g][0]) for g in geoms} == {setup.black.lateral_friction**2}
    # The damping of the pair: the root of a published formula, here against its values.
    assert damping_ratio(1.0) == pytest.approx(0.0, abs=1e-9)
    assert damping_ratio(np.exp(-np.pi / 2)) == pytest.approx(1 / np.sqrt(2), abs=1e-9)


def _corners(engine: Any, geom: int) -> Array:
    """(n, 3) corners of a mesh in the world [m]."""
    model, data = engine.model, engine.data
    mesh = model.geom_dataid[geom]
    first = model.mesh_vertadr[mesh]
    own = model.mesh_vert[first : first + model.mesh_vertnum[mesh]]
    return own @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]

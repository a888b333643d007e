"""Soft pigs: a spring and a damper at each point of contact, checked by what they must do."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from physim.physics.body import SOFT_GROUPS, Body, damping_kg_s, damping_ratio, restitution_of
from physim.physics.engine import UNITS_PER_M
from physim.physics.fast import pair, single
from physim.physics.fast.bounds import EnergyBound
from physim.physics.state import PlainState
from physim.physics.surfaces import table as table_named
from physim.pigs.model import load_model
from physim.simulator import RestTable, lying
from physim.types import PigModel, RigidState, Surface, Table
from tests.physics.engines import STEP_S, Alone, Beside, each_engine, opened
from tests.physics.worlds import UPRIGHT, G

MASS_KG, RADIUS_M, STIFFNESS_N_M = 0.04, 0.03, 2000.0
pybullet = pytest.importorskip("pybullet")
SPEED_M_S = 2.0


@pytest.fixture(scope="module")
def big() -> PigModel:
    return load_model("big")


@pytest.fixture
def ball(
    solid: Callable[..., PigModel], monkeypatch: pytest.MonkeyPatch
) -> Callable[[float], PigModel]:
    """Makes a soft ball of that restitution; all pigs of the engines become balls."""

    def shape(client: int, _: object) -> int:
        return int(
            pybullet.createCollisionShape(
                pybullet.GEOM_SPHERE, radius=RADIUS_M * UNITS_PER_M, physicsClientId=client
            )
        )

    monkeypatch.setattr(single, "make_shape", shape)
    monkeypatch.setattr(pair, "make_shape", shape)
    corners = RADIUS_M * np.vstack([np.eye(3), -np.eye(3)])
    moments = [0.4 * MASS_KG * RADIUS_M**2] * 3

    def make(e: float) -> PigModel:
        model = solid(corners, moments, mass_kg=MASS_KG, restitution=e)
        return replace(model, contact_stiffness_n_m=STIFFNESS_N_M)

    return make


def fall(engine: Alone | Beside) -> tuple[float, float, float]:
    """A ball that touches the table at 2 m/s: greatest depth [m], rebound, time in contact [s]."""
    down = np.array([0.0, 0.0, -SPEED_M_S])
    engine.place(RigidState(np.array([0.0, 0.0, RADIUS_M - 1e-8]), UPRIGHT, down))
    deepest = fastest = lasted = 0.0
    for number in range(round(0.03 / engine.client.settings.time_step_s)):
        state = engine.tick()
        depth, up = RADIUS_M - float(state.position_m[2]), float(state.velocity_m_s[2])
        deepest, fastest = max(deepest, depth), max(fastest, up)
        if not lasted and depth < 0.0 < up:
            lasted = number * engine.client.settings.time_step_s
    return deepest, fastest / SPEED_M_S, lasted


@each_engine
@pytest.mark.parametrize("e", [0.3, 0.5, 0.7])
def test_a_soft_impact_is_that_of_spring_and_damper(
    ball: Callable[[float], PigModel], bare_table: Callable[..., Table], kind: str, e: float
) -> None:
    """Against the equation of motion, integrated finely here."""
    model = ball(e)
    damping = damping_kg_s(model, bare_table().surface)
    x, u, time_s, deepest, step = 0.0, SPEED_M_S, 0.0, 0.0, 1e-6
    while STIFFNESS_N_M * x + damping * u > 0.0:
        u += step * (G - (STIFFNESS_N_M * x + damping * u) / MASS_KG)
        x += step * u
        time_s += step
        deepest = max(deepest, x)
    assert -u / SPEED_M_S == pytest.approx(e, abs=0.02)  # gravity takes a little of it
    with opened(model, bare_table(), kind) as engine:
        seen_deepest, rebound, _ = fall(engine)
    assert seen_deepest == pytest.approx(deepest, rel=0.03)
    assert rebound == pytest.approx(-u / SPEED_M_S, abs=0.02)


def test_a_soft_impact_lasts_half_a_swing(
    ball: Callable[[float], PigModel], bare_table: Callable[..., Table]
) -> None:
    ratio = damping_ratio(0.7)
    half_swing_s = math.pi * math.sqrt(MASS_KG / STIFFNESS_N_M) / math.sqrt(1.0 - ratio**2)
    with opened(ball(0.7), bare_table(), "solo") as engine:
        assert fall(engine)[2] == pytest.approx(half_swing_s, rel=0.08)


def test_the_rebound_of_a_soft_ball_converges_with_the_step(
    ball: Callable[[float], PigModel], bare_table: Callable[..., Table]
) -> None:
    """Measured, e = .5, at 1/1024, 1/2048, 1/4096, 1/8192 s: changes of .006, .004, .002."""
    found = []
    for step_s in (2 * STEP_S, STEP_S, STEP_S / 2, STEP_S / 4):
        with opened(ball(0.5), bare_table(), "solo", step_s) as engine:
            found.append(fall(engine)[1])
    changes = np.abs(np.diff(found))
    assert changes.max() < 0.02, found
    assert changes[2] < changes[0], found


def test_without_what_is_taken_off_the_damper_the_step_would_matter(
    ball: Callable[[float], PigModel],
    bare_table: Callable[..., Table],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check rejects a damper that is not matched to the step."""
    from physim.physics import engine

    soften = engine.soften
    monkeypatch.setattr(engine, "soften", lambda *given: soften(*given[:4], 0.0))
    with opened(ball(0.5), bare_table(), "solo") as engine:
        assert fall(engine)[1] < 0.5 - 0.05


@each_engine
def test_a_resting_ball_sinks_in_by_its_weight_over_the_stiffness(
    ball: Callable[[float], PigModel], bare_table: Callable[..., Table], kind: str
) -> None:
    with opened(ball(0.5), bare_table(), kind) as engine:
        engine.place(RigidState(np.array([0.0, 0.0, RADIUS_M]), UPRIGHT))
        for _ in range(round(0.5 / STEP_S)):
            state = engine.tick()
    sunk = RADIUS_M - float(state.position_m[2])
    assert sunk == pytest.approx(MASS_KG * G / STIFFNESS_N_M, rel=0.01)


@pytest.mark.parametrize("e", [0.14, 0.3, 0.5, 0.7, 0.9])
def test_ratio_and_restitution_belong_together(e: float) -> None:
    assert restitution_of(damping_ratio(e)) == pytest.approx(e, abs=1e-9)
    assert restitution_of(0.0) == 1.0


def test_a_rigid_pig_has_no_springs(standard: PigModel) -> None:
    body = Body.of(standard)
    assert body.static_compression_m == body.half_stiffness_over_weight == 0.0


def test_near_corners_of_a_soft_pig_are_in_different_groups(big: PigModel) -> None:
    """A corner that lies lower than its neighbours must not hide them from the engine."""
    body = Body.of(big)
    assert len(body.contact_hulls_m) <= SOFT_GROUPS
    corners = np.concatenate(body.contact_hulls_m)
    assert sorted(corners.tolist()) == sorted(body.hull_m.tolist())
    nearest = min(
        float(np.linalg.norm(group[i] - group[j]))
        for group in body.contact_hulls_m
        for i in range(len(group))
        for j in range(i)
    )
    assert nearest > 0.06 * big.length_m


def test_springs_count_as_energy(big: PigModel) -> None:
    """A pig pressed into the table is certain of less than one that lies on it."""
    table = table_named("floor")
    body, rests = Body.of(big), RestTable.of(big)
    bound = EnergyBound(body, rests.basins(), table)
    with single.SinglePig(body, table, _settings()) as client:
        found = []
        for depth_m in (0.0, 0.02):
            state = body.to_principal(lying(rests.rests[0].rest))
            lower = replace(state, position_m=state.position_m - np.array([0.0, 0.0, depth_m]))
            client.place(PlainState.of(lower))
            motion = client.sample()
            energy = motion.energy_on_table_m
            found.append(bound.basin(motion.quat_xyzw, energy))
            low = np.minimum(0.0, (_turned(body, lower) + lower.position_m)[:, 2])
            springs = 0.5 * STIFFNESS_N_M * float((low**2).sum())
            above_j = (
                big.mass_kg * G * (energy - float(lower.position_m[2]) - body.static_compression_m)
            )
            assert above_j == pytest.approx(springs, abs=1e-9)
    assert found == [0, None]


def test_a_soft_pig_comes_to_rest_where_a_rigid_one_would(big: PigModel) -> None:
    """Laid down a little above each of its likely rests, it stays in it and does not tremble."""
    table = table_named("floor")
    body, rests = Body.of(big), RestTable.of(big)
    for number, named in enumerate(rests.rests[:4]):
        state = lying(named.rest)
        state = replace(state, position_m=state.position_m + np.array([0.0, 0.0, 0.001]))
        with opened(big, table, "solo") as engine:
            engine.place(body.to_principal(state))
            for _ in range(round(0.6 / STEP_S)):
                end = engine.tick()
        left = body.to_body_frame(end)
        assert rests.nearest(left.quat_xyzw) == number
        speed = float(np.linalg.norm(end.velocity_m_s))
        speed += body.radius_m * float(np.linalg.norm(end.angular_velocity_rad_s))
        assert speed < 1e-3
        assert named.rest.height_m - left.position_m[2] < 2.0 * body.static_compression_m


def test_what_makes_a_rigid_pair_bounce_makes_a_soft_one() -> None:
    """Pig times surface, as for rigid ones."""
    pig = load_model("big")
    hard = damping_kg_s(pig, Surface("hard", 0.5, 0.6))
    same = damping_kg_s(replace(pig, restitution=0.6), Surface("other", 0.5, pig.restitution))
    assert hard == pytest.approx(same)


def _settings() -> single.EngineSettings:
    return single.EngineSettings()


def _turned(body: Body, state: RigidState) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_quat(state.quat_xyzw).apply(body.hull_m))

"""The compiled engine against the laws and against PyBullet."""

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from physim.config import COMPILED, MUJOCO, PYBULLET
from physim.geometry import rotate
from physim.physics.body import Body
from physim.physics.fast.single import SinglePig
from physim.physics.state import PlainState
from physim.physics.surfaces import BULLET, EngineSettings
from physim.simulator import RestTable, Setup, Simulator, lying
from physim.types import PigModel, RigidState, Table
from tests.physics.test_impact import off_the_law
from tests.physics.worlds import G, bits, landing

DIRECTIONS = np.arange(12) * math.pi / 6
SETTINGS = EngineSettings(engine=COMPILED)
FINE_S = 1 / 16384
DEEPEST = 0.025  # of the height


def compiled(toss: str, **options: Any) -> Setup:
    return Setup.named(toss=toss, engine=COMPILED, **options)


def with_settings(setup: Setup, **settings: Any) -> Setup:
    return replace(setup, settings=replace(setup.settings, **settings))


# --- impacts -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def single_corner(standard: PigModel) -> tuple[Body, list[RigidState]]:
    """200 states just before the first touch of one corner, at up to 3 m/s."""
    body = Body.of(standard)
    random = np.random.default_rng(29)
    found: list[RigidState] = []
    while len(found) < 200:
        start = RigidState(
            np.array([0.0, 0.0, random.uniform(0.05, 0.4)]),
            Rotation.random(random_state=random).as_quat(),
            random.normal(0, 0.4, 3),
            random.normal(0, 15, 3),
        )
        _, end = landing(body, start)
        heights = np.sort(rotate(end.quat_xyzw, body.hull_m)[:, 2])
        if heights[1] - heights[0] > 5e-4:  # no second one comes down within a step
            found.append(end)
    return body, found


def speed_of(body: Body, state: RigidState) -> float:
    """A bound on the speed of the body's points [m/s]."""
    turning = float(np.linalg.norm(state.angular_velocity_rad_s))
    return float(np.linalg.norm(state.velocity_m_s)) + body.radius_m * turning


def blows(pig: SinglePig, states: list[RigidState]) -> list[RigidState]:
    """The states a step later."""
    ends = []
    for state in states:
        pig.place(PlainState.of(state))
        pig.run(1)
        ends.append(pig.sample().plain().state())
    return ends


def test_impacts_are_pybullets(single_corner: tuple[Body, list[RigidState]]) -> None:
    """By Bullet's rules, with the corners as PyBullet rounds them; measured: below 2e-4."""
    body, states = single_corner
    table = Setup.named().table
    with ExitStack() as stack:
        mine, theirs = (
            blows(stack.enter_context(SinglePig(body, table, settings)), states)
            for settings in (replace(SETTINGS, contacts=BULLET), EngineSettings())
        )
    for state, one, other in zip(states, mine, theirs, strict=True):
        speed = speed_of(body, state)
        moved = one.velocity_m_s - other.velocity_m_s
        turned = one.angular_velocity_rad_s - other.angular_velocity_rad_s
        assert np.linalg.norm(moved) + body.radius_m * np.linalg.norm(turned) < 2e-3 * speed


@pytest.mark.parametrize("friction", ["pyramid", "cone"])
def test_impacts_obey_the_law(single_corner: tuple[Body, list[RigidState]], friction: str) -> None:
    """Restitution along the normal, friction within mu N, and a spin by the blow's moment.

    By the cone, friction is opposite to the sliding.
    """
    body, states = single_corner
    table = Setup.named().table
    e = body.model.restitution * table.surface.restitution
    mu = body.model.lateral_friction * table.surface.lateral_friction
    settings = replace(SETTINGS, friction=friction, time_step_s=FINE_S)
    with SinglePig(body, table, settings) as pig:
        ends = blows(pig, states)
    slid = 0
    for before, after in zip(states, ends, strict=True):
        arms = rotate(before.quat_xyzw, body.hull_m)
        arm = arms[arms[:, 2].argmin()]
        speeds = [
            state.velocity_m_s + np.cross(state.angular_velocity_rad_s, arm)
            for state in (before, after)
        ]
        change = after.velocity_m_s - before.velocity_m_s
        along = float(np.linalg.norm(change[:2]))
        limit = mu * (change[2] + G * FINE_S) * (1 + 1e-9)
        assert along <= limit * (1.0 if friction == "cone" else math.sqrt(2.0))
        sliding = np.linalg.norm(speeds[1][:2])
        if friction == "cone" and along > 0.999 * limit and sliding > 0.2:
            slid += 1
            assert -change[:2] @ speeds[1][:2] > 0.995 * along * sliding
        assert off_the_law(body, before, after, FINE_S) < 0.02
        if speeds[0][2] < -0.1:
            # The lever arm has turned meanwhile, by some thousandths.
            allowed = 0.01 * speed_of(body, before)
            assert speeds[1][2] == pytest.approx(-e * speeds[0][2], abs=allowed)
    assert slid > 20 or friction != "cone"


# --- sliding, flat landings, depth ---------------------------------------------------------------


def slid(body: Body, table: Table, start: PlainState) -> float:
    """How far a body slides until it stops [m]."""
    with SinglePig(body, table, SETTINGS) as pig:
        pig.place(start)
        for _ in range(2000):
            pig.run(8)
            if pig.sample().speed_m_s < 1e-4:
                break
        (x, y, _), _, _, _ = pig.engine_state()
    return math.hypot(x, y)


@pytest.fixture(params=["cube", "pig"])
def standing(
    request: pytest.FixtureRequest, box: Callable[..., PigModel], standard: PigModel
) -> tuple[Body, PlainState]:
    """A flat cube, and a pig on its feet."""
    if request.param == "cube":
        body = Body.of(box([0.02] * 3, friction=standard.lateral_friction, restitution=0.5))
        return body, PlainState((0.0, 0.0, 0.01), (0.0, 0.0, 0.0, 1.0), (0.0,) * 3, (0.0,) * 3)
    body = Body.of(standard)
    rest = next(one.rest for one in RestTable.of(standard).rests if one.pose.value == "trotter")
    state = PlainState.of(body.to_principal(lying(rest)))
    low = float(rotate(np.array(state.quat_xyzw), body.hull_m)[:, 2].min())
    return body, state._replace(centre_m=(0.0, 0.0, -low))


@pytest.mark.parametrize("speed", [0.3, 1.0])
def test_sliding_stops_alike_in_every_direction(
    standing: tuple[Body, PlainState], bare_table: Callable[..., Table], speed: float
) -> None:
    """Within 2 % of v^2 / (2 mu g); measured: .6 % at .3 m/s, .2 % at 1 m/s, equal in all."""
    body, state = standing
    expected = speed**2 / (2.0 * body.model.lateral_friction * G)
    for angle in DIRECTIONS:
        velocity = speed * math.cos(angle), speed * math.sin(angle), 0.0
        way = slid(body, bare_table(), state._replace(velocity_m_s=velocity))
        assert way == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("height_m", [0.2, 0.5, 1.0, 2.0])
def test_a_cube_that_lands_flat_stays_flat(
    box: Callable[..., PigModel], bare_table: Callable[..., Table], height_m: float
) -> None:
    """It tilts by less than 1 degree; measured: .25 degrees at most."""
    body = Body.of(box([0.02] * 3, friction=0.4, restitution=0.5))
    fall = PlainState(
        (0.0, 0.0, 0.01 + 1e-6),
        (0.0, 0.0, math.sin(0.2), math.cos(0.2)),
        (0.0, 0.0, -math.sqrt(2.0 * G * height_m)),
        (0.0, 0.0, 0.0),
    )
    least = 1.0
    with SinglePig(body, bare_table(), SETTINGS) as pig:
        pig.place(fall)
        for _ in range(400):
            pig.run(8, pig.halvings(body, pig.sample().point_speed_m_s))
            x, y, _, _ = pig.engine_state().quat_xyzw
            least = min(least, 1.0 - 2.0 * (x * x + y * y))
    assert math.degrees(math.acos(least)) < 1.0


def depths(setup: Setup, seed: int, rolls: int) -> Iterator[float]:
    """How deep the deepest corner over the table sank in, of each roll, over the height."""
    half = np.array([setup.table.length_m, setup.table.width_m]) / 2
    with Simulator(setup) as simulator:
        for index in range(rolls):
            _, trajectory = simulator.record(seed, index)
            deepest = 0.0
            for body, way in zip(trajectory.bodies, trajectory.pigs, strict=True):
                for piece in way._pieces:
                    if not isinstance(piece, PlainState) or piece.centre_m[2] > body.radius_m:
                        continue
                    corners = rotate(np.array(piece.quat_xyzw), body.hull_m) + piece.centre_m
                    over = corners[(np.abs(corners[:, :2]) < half).all(axis=1), 2]
                    deepest = max(deepest, -over.min(initial=0.0) / body.model.height_m)
            yield deepest


@pytest.mark.parametrize("toss", ["trapdoor", "hand"])
def test_no_corner_sinks_in_deep(toss: str) -> None:
    found = list(depths(compiled(toss), 5, 25))
    assert 0.005 < max(found) < DEEPEST


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("toss", "height_mm"), [("trapdoor", 127), ("trapdoor", 203), ("hand", None)]
)
def test_no_corner_sinks_in_deep_in_many_rolls(
    toss: str, height_mm: float | None, record_property: Callable[[str, object], None]
) -> None:
    deepest = max(depths(compiled(toss, height_mm=height_mm), 5, 500))
    record_property("deepest over the height", deepest)
    assert deepest < DEEPEST


# --- rolls -------------------------------------------------------------------------------------


@pytest.mark.parametrize("toss", ["trapdoor", "hand"])
def test_by_bullets_rules_rolls_are_pybullets(toss: str) -> None:
    """They differ by rounding, which changes the pose of 1 pig in some thousand."""
    exact = with_settings(compiled(toss), contacts=BULLET)
    with Simulator(exact) as mine, Simulator(Setup.named(toss=toss, engine=PYBULLET)) as theirs:
        for index in range(60):
            one, other = mine.roll(8, index), theirs.roll(8, index)
            assert [pig.pose for pig in one.pigs] == [pig.pose for pig in other.pigs], index


@pytest.mark.parametrize("pairs", [PYBULLET, MUJOCO])
@pytest.mark.parametrize("toss", ["trapdoor", "hand"])
def test_fast_rolls_are_full_ones_in_any_order(toss: str, pairs: str) -> None:
    pytest.importorskip(pairs)
    fast = with_settings(compiled(toss), pairs=pairs)
    full = replace(fast, settle="full")
    with Simulator(fast) as one, Simulator(full) as other:
        first = [one.roll(8, index) for index in range(60)]
        again = [one.roll(8, index) for index in reversed(range(60))][::-1]
        whole = [other.roll(8, index) for index in range(60)]
    assert [bits(roll) for roll in first] == [bits(roll) for roll in again]
    for short, long in zip(first, whole, strict=True):
        assert (short.outcome, short.score) == (long.outcome, long.score)
        assert [pig.rest for pig in short.pigs] == [pig.rest for pig in long.pigs]


def test_a_soft_pig_is_pybullets() -> None:
    with Simulator(Setup.named("big", toss="trapdoor_big", engine=COMPILED)) as simulator:
        assert simulator._world is not None
        assert not any(pig.compiled for pig in simulator._world.pigs)


@pytest.mark.parametrize("name", ["rolling_friction", "spinning_friction"])
def test_rolling_friction_is_pybullets(
    standard: PigModel, bare_table: Callable[..., Table], name: str
) -> None:
    table = bare_table()
    rough = replace(table, surface=replace(table.surface, **{name: 0.01}))
    for pig, on in ((replace(standard, **{name: 0.01}), table), (standard, rough)):
        assert not SinglePig(Body.of(pig), on, SETTINGS).compiled
    assert SinglePig(Body.of(standard), table, SETTINGS).compiled

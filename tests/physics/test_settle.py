"""Rolls from release to rest: what counts as rest, and the table's edge."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from physim.physics.body import Body
from physim.physics.fast.world import World
from physim.physics.state import RestCriterion
from physim.seeding import stream
from physim.simulator import RestTable, Setup, Simulator, lying
from physim.tosses.release import Draws
from physim.types import PigModel, Rest, RigidState, Status, Table, Toss
from tests.physics.worlds import bits, ended_together, go_on

Array = NDArray[np.float64]
G = 9.81
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


def turned_about_z(state: RigidState, angle_rad: float) -> RigidState:
    turn = Rotation.from_rotvec([0.0, 0.0, angle_rad])
    return RigidState(
        turn.apply(state.position_m),
        (turn * Rotation.from_quat(state.quat_xyzw)).as_quat(),
        turn.apply(state.velocity_m_s),
        turn.apply(state.angular_velocity_rad_s),
    )


def moved(state: RigidState, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> RigidState:
    return replace(state, position_m=state.position_m + np.array([x, y, z]))


def support_margin(points: Array, center: Array, within_m: float) -> float:
    """Distance of the centre of mass from the support polygon's nearest edge; negative outside."""
    feet = points[points[:, 2] < points[:, 2].min() + within_m][:, :2]
    equations = ConvexHull(feet, qhull_options="QJ").equations
    return float(-(equations[:, :2] @ center[:2] + equations[:, 2]).max())


def settled(
    model: PigModel,
    table: Table,
    black: RigidState,
    pink: RigidState | None = None,
    criterion: RestCriterion | None = None,
) -> Rest:
    """The rest after a release; without a second pig, that one lies far away."""
    body = Body.of(model)
    with World((body, body), table, criterion=criterion) as world:
        far = pink or moved(lying(RestTable.of(model).rests[0].rest), x=-0.12, y=-0.12)
        return world.settle(Toss(black, far))


# --- what counts as rest ---


def test_settled_pigs_stay_and_stand_over_their_support(
    standard: PigModel, placed: Callable[[Array, RigidState], Array]
) -> None:
    setup = Setup.named(toss="trapdoor", settle="full")
    with Simulator(setup) as simulator:
        checked = together = 0
        for index in range(12):
            toss = setup.toss.release(Draws(stream(21, index)), index, setup.pigs)
            rest = simulator.settle(toss)
            if (
                simulator.classify_and_score(21, index, rest).touching
                or rest.status is not Status.OK
            ):
                continue
            checked += 1
            world = simulator._world
            assert world is not None
            for state in rest.pigs:
                points = placed(standard.vertices_m, state)
                assert abs(points[:, 2].min()) < 0.005 * standard.height_m
                within = 0.005 * standard.height_m
                assert support_margin(points, state.position_m, within) > 0
            together += ended_together(world, rest)
            later = go_on(world, rest, 5.0)
            for old, new in zip(rest.pigs, later, strict=True):
                shift = placed(standard.vertices_m, old) - placed(standard.vertices_m, new)
                assert np.linalg.norm(shift, axis=1).max() < 1e-4
    assert checked >= 10
    assert together < checked  # pigs at rest in engines of their own too


def spinning_on_its_back(model: PigModel) -> RigidState:
    rests = RestTable.of(model).rests
    back = next(named.rest for named in rests if named.pose.value == "razorback")
    return replace(lying(back), angular_velocity_rad_s=np.array([0.0, 0.0, 60.0]))


def test_a_pig_spinning_on_its_back_is_waited_for(
    standard: PigModel, bare_table: Callable[..., Table]
) -> None:
    table = bare_table(1.2, lateral_friction=0.1, restitution=0.3)
    rest = settled(standard, table, spinning_on_its_back(standard))
    assert rest.status is Status.OK
    assert rest.time_s > 0.2  # a tenth of a second is the window alone
    assert np.linalg.norm(rest.pigs[0].angular_velocity_rad_s) < 0.5


def test_without_friction_it_spins_on_and_is_unsettled(
    standard: PigModel, bare_table: Callable[..., Table]
) -> None:
    table = bare_table(1.2, lateral_friction=0.0, restitution=0.3)
    rest = settled(
        standard, table, spinning_on_its_back(standard), criterion=RestCriterion(cap_s=1.5)
    )
    assert rest.status is Status.UNSETTLED
    assert rest.time_s == pytest.approx(1.5, abs=0.01)
    assert np.linalg.norm(rest.pigs[0].angular_velocity_rad_s) > 10


@pytest.mark.parametrize("beyond_deg", [-0.5, -0.1, 0.1, 0.5])
def test_a_slow_last_topple_is_waited_for(
    box: Callable[..., PigModel], bare_table: Callable[..., Table], beyond_deg: float
) -> None:
    """A cube balanced on an edge falls to the side of the edge on which its centre is."""
    side = 0.02
    cube = box([side] * 3, friction=0.8, restitution=0.3)
    turn = Rotation.from_euler("y", 45 + beyond_deg, degrees=True)
    corners = turn.apply(cube.vertices_m)
    start = RigidState(np.array([0.0, 0.0, -corners[:, 2].min()]), turn.as_quat())
    rest = settled(cube, bare_table(), start)
    end = rest.pigs[0]
    assert rest.status is Status.OK
    assert end.position_m[2] == pytest.approx(side / 2, rel=0.005)
    up = Rotation.from_quat(end.quat_xyzw).inv().apply([0.0, 0.0, 1.0])
    # Turned by less than 45 degrees about y it falls back, by more it falls over.
    fallen = [0.0, 0.0, 1.0] if beyond_deg < 0 else [-1.0, 0.0, 0.0]
    assert up == pytest.approx(fallen, abs=0.01)


@pytest.mark.parametrize("beyond_deg", [-0.5, 0.5])
def test_a_pig_balanced_on_an_edge_ends_in_a_stable_rest(
    standard: PigModel,
    bare_table: Callable[..., Table],
    placed: Callable[[Array, RigidState], Array],
    beyond_deg: float,
) -> None:
    table = bare_table(1.2, lateral_friction=0.6, restitution=0.6)
    for named in RestTable.of(standard).rests[:4]:
        corners = named.rest.support_points_m
        first, second = corners[0], corners[1]
        # Stand on the edge between two support points, the centre of mass right above it.
        along = (second - first) / np.linalg.norm(second - first)
        up = -(first - (first @ along) * along)
        up /= np.linalg.norm(up)
        balanced = Rotation.from_matrix(np.array([along, np.cross(up, along), up]))
        turn = Rotation.from_euler("x", beyond_deg, degrees=True) * balanced
        low = turn.apply(standard.vertices_m)[:, 2].min()
        rest = settled(standard, table, RigidState(np.array([0.0, 0.0, -low]), turn.as_quat()))
        assert rest.status is Status.OK
        end = rest.pigs[0]
        points = placed(standard.vertices_m, end)
        assert support_margin(points, end.position_m, 0.005 * standard.height_m) > 1e-4
        assert RestTable.of(standard).nearest(end.quat_xyzw) is not None


# --- the table's edge ---


@pytest.fixture(scope="module")
def plate(box: Callable[..., PigModel]) -> PigModel:
    return box([0.04, 0.02, 0.01], friction=0.7, restitution=0.3)


@pytest.mark.parametrize(
    ("inside_m", "status"),
    [(0.03, Status.OK), (0.003, Status.OK), (-0.003, Status.OFF_TABLE), (-0.05, Status.OFF_TABLE)],
)
@pytest.mark.parametrize("yaw_deg", [0, 90, 180, 270])
def test_a_plate_at_the_edge_falls_when_its_centre_is_over(
    plate: PigModel,
    bare_table: Callable[..., Table],
    inside_m: float,
    status: Status,
    yaw_deg: float,
) -> None:
    table = bare_table(0.4)
    start = RigidState(np.array([0.2 - inside_m, 0.05, 0.0052]), UPRIGHT)
    start = turned_about_z(start, np.radians(yaw_deg))
    rest = settled(plate, table, start, RigidState(np.array([0.0, 0.0, 0.0052]), UPRIGHT))
    assert rest.status is status
    assert (rest.pigs[0].position_m[2] < 0) == (status is Status.OFF_TABLE)


def test_a_pig_on_its_flank_stays_with_its_centre_3_mm_inside_the_edge(
    unfitted: PigModel, bare_table: Callable[..., Table]
) -> None:
    flank = next(n for n in RestTable.of(unfitted).rests if n.pose.value == "side_dot_up").rest
    state = lying(flank)
    feet = Rotation.from_quat(state.quat_xyzw).apply(flank.support_points_m)[:, :2]

    def held(yaw: float) -> float:
        """How far inside the support left on the table the centre of mass stands."""
        turned = feet @ np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])
        left = turned[turned[:, 0] < 0.003]
        if len(left) < 3:
            return -1.0
        equations = ConvexHull(left, qhull_options="QJ").equations
        return float(-equations[:, 2].max())

    yaws = np.linspace(0, 2 * np.pi, 73)
    yaw = max(yaws, key=held)
    assert held(yaw) > 5e-4, "this model needs another rest for the test"
    start = moved(turned_about_z(state, yaw), x=0.2 - 0.003, z=1e-4)
    rest = settled(unfitted, bare_table(0.4, lateral_friction=0.6), start)
    assert rest.status is Status.OK
    assert rest.pigs[0].position_m[2] == pytest.approx(flank.height_m, abs=2e-4)


def test_a_pig_dropped_half_over_the_edge_or_thrown_off_leaves_the_table(
    standard: PigModel, bare_table: Callable[..., Table]
) -> None:
    table = bare_table(0.4, lateral_friction=0.6, restitution=0.6)
    half_over = RigidState(np.array([0.205, 0.0, 0.05]), UPRIGHT)
    thrown = RigidState(np.array([0.0, 0.0, 0.05]), UPRIGHT, np.array([3.0, 0.0, 0.5]))
    lies = moved(lying(RestTable.of(standard).rests[0].rest), y=-0.1)
    for start in (half_over, thrown):
        rest = settled(standard, table, start, lies)
        assert rest.status is Status.OFF_TABLE
        assert rest.pigs[0].position_m[2] < 0 < rest.pigs[1].position_m[2]


def test_rolls_after_one_at_the_edge_are_the_same_bits(
    standard: PigModel, bare_table: Callable[..., Table]
) -> None:
    body = Body.of(standard)
    table = bare_table(0.4, lateral_friction=0.6, restitution=0.6)
    rng = np.random.default_rng(4)
    inner, over = (
        [
            Toss(
                *(
                    RigidState(np.array([x, y, 0.1]), Rotation.random(random_state=rng).as_quat())
                    for y in (-0.03, 0.03)
                )
            )
            for _ in range(3)
        ]
        for x in (0.0, 0.198)
    )

    with World((body, body), table) as world:
        alone = [bits(world.settle(toss)) for toss in inner]
    with World((body, body), table) as world:
        after = []
        for edge, toss in zip(over, inner, strict=True):
            world.settle(edge)
            assert world.pair.at_edge
            after.append(bits(world.settle(toss)))
    assert after == alone

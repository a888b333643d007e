"""The stable rests of the standard pig: by the quasi-static analysis, and by physics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import trimesh

from physim import pigs
from physim.geometry import up_in_body
from physim.simulator import NamedRest, RestTable, Setup, Simulator, lying, turn_down
from physim.statistics.counts import NAMED_POSES
from physim.types import PigModel, Pose, RigidState, Status, Toss
from tests.physics.worlds import go_on
from tests.pigs.shapes import write_model


@pytest.fixture(scope="module")
def table(standard: PigModel) -> RestTable:
    return RestTable.of(standard)


def test_there_are_the_six_poses_and_no_other(table: RestTable) -> None:
    assert {named.pose for named in table.rests} == set(NAMED_POSES)
    assert sum(named.rest.probability for named in table.rests) == pytest.approx(1.0, abs=1e-6)


def test_the_down_direction_of_a_rest_finds_it(table: RestTable) -> None:
    for index, named in enumerate(table.rests):
        assert table.nearest(lying(named.rest).quat_xyzw) == index
    assert table.nearest(np.array([0.0, 0.45, 0.0, 0.893])) is None  # nose 53 degrees down


def deepest(table: RestTable, pose: Pose) -> NamedRest:
    """The rest of that pose that most energy is needed to leave."""
    return max(
        (named for named in table.rests if named.pose is pose),
        key=lambda named: named.rest.barrier_m - named.rest.height_m,
    )


@pytest.mark.parametrize("pose", NAMED_POSES)
def test_a_pig_put_down_in_a_pose_stays_in_it(table: RestTable, pose: Pose) -> None:
    """Dropped by 0.05 mm, tilted by a quarter of a degree, for two seconds of rest."""
    named = deepest(table, pose)
    tilt = np.radians(0.25) / 2
    state = lying(named.rest)
    x, y, z, w = state.quat_xyzw
    # Turned about the world's x axis by 2 `tilt`: (tilt, 0, 0, 1) times q, to first order.
    quat = np.array([x + tilt * w, y - tilt * z, z + tilt * y, w - tilt * x])
    quat /= np.linalg.norm(quat)
    up = np.array([0.0, 0.0, 1.5e-4])
    black = RigidState(state.position_m + up, quat)
    pink = replace(black, position_m=black.position_m + [0.0, 0.2, 0.0])
    with Simulator(Setup.named()) as simulator:
        rest = simulator.settle(Toss(black, pink))
        assert rest.status is Status.OK
        roll = simulator.classify_and_score(0, 0, rest)
        assert simulator._world is not None
        later = go_on(simulator._world, rest, 2.0)
    for pig, state, before in zip(roll.pigs, later, rest.pigs, strict=True):
        assert pig.pose is pose
        assert pig.rest == named.rest.index
        assert np.linalg.norm(state.position_m - before.position_m) < 1e-4


@pytest.fixture(scope="module")
def scan(tmp_path_factory: pytest.TempPathFactory) -> PigModel:
    """A block of 30 x 20 x 16 mm as a scan gives it: many triangles, 0.02 mm of noise."""
    block = trimesh.creation.box((30.0, 20.0, 16.0))
    for _ in range(3):
        block = block.subdivide()
    vertices = block.vertices + np.random.default_rng(2).normal(0.0, 0.02, block.vertices.shape)
    folder = write_model(tmp_path_factory.mktemp("scan") / "block", vertices, block.faces)
    return pigs.load_model(folder)


def test_a_face_of_a_scan_is_one_rest_wherever_in_it_a_pig_lies(scan: PigModel) -> None:
    """On any of its small facets, and rocked by 2 degrees."""
    table = RestTable.of(scan)
    assert len(table.rests) == 6
    hull = trimesh.convex.convex_hull(scan.vertices_m)
    faces = np.abs(hull.face_normals).argmax(axis=1), hull.face_normals.max(axis=1) > 0.9
    flat = np.abs(hull.face_normals).max(axis=1) > 0.999
    rng = np.random.default_rng(7)
    found: dict[tuple[int, bool], set[int | None]] = {}
    for axis, up, normal in zip(*(x[flat] for x in (*faces, hull.face_normals)), strict=True):
        for tilt in (0.0, np.radians(2.0)):
            down = normal + tilt * rng.normal(size=3) / np.sqrt(3.0)
            quat = turn_down(down / np.linalg.norm(down))
            found.setdefault((axis, up), set()).add(table.nearest(quat))
    assert len(found) == 6
    assert sorted(index for rests in found.values() for index in rests) == list(range(6))


def test_thrown_scans_come_to_lie_on_six_faces(scan: PigModel) -> None:
    """The rest that is noted of a roll is the face that is down."""
    noted: dict[int | None, set[tuple[int, bool]]] = {}
    with Simulator(replace(Setup.named(), black=scan, pink=scan)) as simulator:
        for index in range(40):
            for pig in simulator.roll(5, index).pigs:
                if pig.rest is not None:
                    x, y, z = up = up_in_body(pig.quat_xyzw.tolist())
                    axis = int(np.abs(up).argmax())
                    noted.setdefault(pig.rest, set()).add((axis, (x, y, z)[axis] > 0))
    assert len(noted) >= 3
    assert all(len(faces) == 1 for faces in noted.values())
    assert len(set().union(*noted.values())) == len(noted)

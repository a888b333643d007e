"""A cube shows each face one time in six.

Orientation is uniformly random and the cube symmetric, so the six faces have equal
chances whatever the contact does: chi-square with five degrees of freedom.
"""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from scipy.stats import chisquare

from physim.physics.body import Body
from physim.physics.fast.world import World
from physim.seeding import stream
from physim.tosses.release import Draws, Drop
from physim.types import PigModel, Status, Table

Faces = Callable[[PigModel, int], NDArray[np.int64]]
SIDE_M = 0.02
ERROR_RATE = 1e-3  # of the 3,000 rolls; 1e-6 for the few of the fast test


@pytest.fixture(scope="module")
def faces(bare_table: Callable[..., Table]) -> Faces:
    """Counts the faces that point up after so many rolls of two cubes."""

    def count(cube: PigModel, rolls: int) -> NDArray[np.int64]:
        body = Body.of(cube)
        counts = np.zeros(6, dtype=np.int64)
        with World((body, body), bare_table(1.2)) as world:
            for index in range(rolls):
                toss = Drop(height_m=0.1, separation_m=0.15).release(
                    Draws(stream(17, index)), index, (cube, cube)
                )
                rest = world.settle(toss)
                assert rest.status is Status.OK
                for pig in rest.pigs:
                    up = Rotation.from_quat(pig.quat_xyzw).inv().apply([0.0, 0.0, 1.0])
                    axis = int(np.abs(up).argmax())
                    assert abs(up[axis]) > 0.999  # it lies on a face
                    counts[2 * axis + (up[axis] < 0)] += 1
        return counts

    return count


@pytest.fixture(scope="module")
def fair(box: Callable[..., PigModel]) -> PigModel:
    return box([SIDE_M] * 3, friction=0.5, restitution=0.4)


@pytest.fixture(scope="module")
def loaded(box: Callable[..., PigModel]) -> PigModel:
    return box([SIDE_M] * 3, shift_m=(0.25 * SIDE_M, 0, 0), friction=0.5, restitution=0.4)


def test_a_few_cubes(faces: Faces, fair: PigModel, loaded: PigModel) -> None:
    """So few tell only a strongly loaded cube."""
    assert chisquare(faces(fair, 150)).pvalue > 1e-6
    assert chisquare(faces(loaded, 150)).pvalue < 1e-6


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_fair_cube_shows_each_face_one_time_in_six(
    faces: Faces, fair: PigModel, record_property: Callable[[str, object], None]
) -> None:
    counts = faces(fair, 3000)
    record_property("faces", counts.tolist())
    assert chisquare(counts).pvalue > ERROR_RATE, counts


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_slightly_loaded_cube_is_rejected(faces: Faces, box: Callable[..., PigModel]) -> None:
    cube = box([SIDE_M] * 3, shift_m=(0.04 * SIDE_M, 0, 0), friction=0.5, restitution=0.4)
    assert chisquare(faces(cube, 3000)).pvalue < ERROR_RATE

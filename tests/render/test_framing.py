"""From where pigs are seen: what tells their poses is in sight."""

from __future__ import annotations

import numpy as np
import pytest

from physim.geometry import matrix
from physim.pigs.model import load_model
from physim.render.camera import framing
from physim.render.pig_meshes import PlacedPig, pig_look
from physim.render.scene import materials_at, rasterise
from physim.simulator import RestTable, lying
from physim.types import PINK, Pose

WIDTH, HEIGHT = 400, 300
MODEL = load_model("standard")
POSES = {
    pose: next((r.rest for r in RestTable.of(MODEL).rests if r.pose is pose), None)
    for pose in Pose
    if pose is not Pose.OTHER
}


def seen(pig: PlacedPig) -> dict[str, int]:
    """Pixels of each material in the picture of a pig alone."""
    look, view = pig_look(pig.model), framing([pig], WIDTH / HEIGHT)
    vertices = look.vertices_m @ matrix(pig.state.quat_xyzw).T + pig.state.position_m
    got = rasterise(view.project(vertices, WIDTH, HEIGHT), look.faces, WIDTH, HEIGHT)
    counts = np.bincount(materials_at(look, got), minlength=len(look.names))
    return dict(zip(look.names, counts.tolist(), strict=True))


@pytest.mark.parametrize("pose", list(POSES))
def test_snout_and_dot_are_in_sight_unless_the_dot_is_below(pose: Pose) -> None:
    rest = POSES[pose]
    if rest is None:
        pytest.skip(f"this pig cannot lie as {pose.value}")
    found = seen(PlacedPig("standard", PINK, lying(rest), MODEL.radius_m))
    assert found["snout"] > 100
    if pose is Pose.SIDE_DOT_DOWN:
        assert found["dot"] == 0
    else:
        assert found["dot"] > 100
    assert found["skin"] > 0.1 * WIDTH * HEIGHT  # it fills the picture

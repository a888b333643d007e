"""Poses from hand-made contacts, at their borders, and for the rests of the standard pig."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from physim.poses.classify import (
    LYING_DEG,
    TABLE_GAP_M,
    classify,
    classify_gaps,
    table_contacts,
    table_gaps,
)
from physim.simulator import RestTable, Setup, Simulator, lying
from physim.types import BODY_PARTS, FEET, PigModel, Pose, PoseReading, RigidState, Status

FLOOR = (0.0, 0.0, -1.0)  # down, for a pig on its feet
LEFT, RIGHT, BACK = (0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0)


def read(
    down: tuple[float, float, float], *touching: str, dot: str = "right", **gaps_mm: float
) -> PoseReading:
    """The reading of a pig whose parts are 5 mm up, but for those named."""
    gaps = dict.fromkeys(BODY_PARTS, 5e-3)
    gaps.update(dict.fromkeys(touching, 0.0))
    gaps.update({label: gap * 1e-3 for label, gap in gaps_mm.items()})
    return classify_gaps(np.array(down), gaps, dot)


SNOUT_AND_FRONT = ("snout", "front_left_foot", "front_right_foot")
LEFT_JOWL = ("snout", "left_ear", "front_left_foot")
CASES = [
    (Pose.TROTTER, FLOOR, FEET),
    (Pose.SNOUTER, (0.7, 0.0, -0.7), SNOUT_AND_FRONT),
    (Pose.LEANING_JOWLER, (0.6, 0.5, -0.6), LEFT_JOWL),
    (Pose.LEANING_JOWLER, (0.6, -0.5, -0.6), ("snout", "right_ear", "front_right_foot")),
    (Pose.SIDE_DOT_UP, LEFT, ("trunk", "front_left_foot", "left_ear")),
    (Pose.SIDE_DOT_UP, LEFT, ("hind_left_foot", "front_left_foot", "left_ear")),
    (Pose.SIDE_DOT_DOWN, RIGHT, ("trunk", "front_right_foot", "right_ear")),
    (Pose.RAZORBACK, BACK, ("shoulders", "rump", "left_ear", "right_ear")),
    (Pose.RAZORBACK, BACK, ("tail", "head")),
]


@pytest.mark.parametrize(("pose", "down", "touching"), CASES)
def test_each_pose(pose: Pose, down: tuple[float, float, float], touching: tuple[str, ...]) -> None:
    reading = read(down, *touching)
    assert reading.pose is pose
    assert reading.margin > 0.5


def test_the_dots_side_swaps_the_sides_and_nothing_else() -> None:
    swapped = {Pose.SIDE_DOT_UP: Pose.SIDE_DOT_DOWN, Pose.SIDE_DOT_DOWN: Pose.SIDE_DOT_UP}
    for pose, down, touching in CASES:
        assert read(down, *touching, dot="left").pose is swapped.get(pose, pose)


NEAR_MISSES = [
    ("three feet", FLOOR, FEET[:3]),
    ("belly on the table", FLOOR, (*FEET, "trunk")),
    ("snout and four feet", FLOOR, ("snout", *FEET)),
    ("snouter on an ear", (0.7, 0, -0.7), (*SNOUT_AND_FRONT, "left_ear", "right_ear")),
    ("snouter on a hind foot", (0.7, 0, -0.7), (*SNOUT_AND_FRONT, "hind_left_foot")),
    ("snouter on one front foot", (0.7, 0, -0.7), SNOUT_AND_FRONT[:2]),
    ("jowler on both ears", (0.6, 0.5, -0.6), (*LEFT_JOWL, "right_ear")),
    ("jowler without snout", (0.6, 0.5, -0.6), LEFT_JOWL[1:]),
    ("jowler on its belly", (0.6, 0.5, -0.6), (*LEFT_JOWL, "trunk")),
    ("side on ear and front foot alone", LEFT, ("left_ear", "front_left_foot")),
    ("back on the head alone", BACK, ("head", "left_ear", "right_ear")),
    ("back with a foot on the table", BACK, ("rump", "front_left_foot")),
    ("standing on its nose", (1.0, 0.0, 0.0), ("snout", "head")),
]


@pytest.mark.parametrize(("down", "touching"), [pytest.param(*c[1:], id=c[0]) for c in NEAR_MISSES])
def test_a_near_miss_is_other(down: tuple[float, float, float], touching: tuple[str, ...]) -> None:
    assert read(down, *touching).pose is Pose.OTHER


def test_a_foot_in_the_air_ends_the_trotter_at_the_contact_gap() -> None:
    limit = TABLE_GAP_M * 1e3
    gaps = np.linspace(0, 2 * limit, 41)
    readings = [read(FLOOR, *FEET, hind_left_foot=gap) for gap in gaps]
    for gap, reading in zip(gaps, readings, strict=True):
        assert (reading.pose is Pose.TROTTER) == (gap < limit - 1e-12)
        if gap < limit:
            assert reading.margin == pytest.approx((limit - gap) / limit, abs=1e-12)
        else:  # `other` misses the trotter by so much, or the next pose by less
            assert reading.margin <= (gap - limit) / limit + 1e-12
    assert read(FLOOR, *FEET, hind_left_foot=limit).margin == pytest.approx(0.0, abs=1e-12)


def test_a_belly_near_the_table_lowers_the_trotters_margin() -> None:
    limit = TABLE_GAP_M * 1e3
    margins = [read(FLOOR, *FEET, trunk=limit + up).margin for up in (0.0, 0.2, 0.5, 0.9, 1.5)]
    assert margins == pytest.approx([0.0, 0.2, 0.5, 0.9, 1.0], abs=1e-9)
    assert read(FLOOR, *FEET, trunk=limit - 0.01).pose is Pose.OTHER


@pytest.mark.parametrize(("axis", "pose"), [(LEFT, Pose.SIDE_DOT_UP), (BACK, Pose.RAZORBACK)])
def test_a_lying_pigs_margin_falls_to_zero_at_the_cones_border(
    axis: tuple[float, float, float], pose: Pose
) -> None:
    angles = np.array([0.0, 10.0, 30.0, 50.0, LYING_DEG - 0.01, LYING_DEG + 0.01, 65.0])
    margins = []
    for angle in angles:
        # Towards the snout: away from every other pose's cone.
        tilted = np.cos(np.radians(angle)) * np.array(axis)
        tilted[0] = np.sin(np.radians(angle))
        reading = read(tuple(tilted), "rump")
        assert (reading.pose is pose) == (angle < LYING_DEG)
        margins.append(reading.margin if angle < LYING_DEG else -reading.margin)
    assert margins == pytest.approx((LYING_DEG - angles) / LYING_DEG, abs=1e-9)


def test_models_without_named_parts_still_have_readings() -> None:
    assert classify_gaps(np.array(FLOOR), {"body": 0.0}, "right").pose is Pose.OTHER
    assert classify_gaps(np.array(BACK), {"body": 0.0}, "right").pose is Pose.RAZORBACK


# --- the standard pig ---


def test_every_pose_that_can_rest_has_its_name(standard: PigModel) -> None:
    """Named by hand from the rest's down direction and support labels."""
    axes = {Pose.SIDE_DOT_UP: LEFT, Pose.SIDE_DOT_DOWN: RIGHT, Pose.RAZORBACK: BACK}
    found = set()
    for named in RestTable.of(standard).rests:
        # Snout and head share corners; a rest's supports name one of them.
        parts = {
            "snout" if label == "head" else label
            for label in named.rest.supports
            if not label.endswith("leg")
        }
        found.add(named.pose)
        if parts == set(FEET):
            assert named.pose is Pose.TROTTER
        elif parts == set(SNOUT_AND_FRONT):
            assert named.pose is Pose.SNOUTER
        elif named.pose in axes:
            assert named.rest.down @ axes[named.pose] > 0.5
        elif named.pose is not Pose.OTHER:
            assert named.pose in (Pose.SNOUTER, Pose.LEANING_JOWLER)
            assert "snout" in parts
    assert found >= {Pose.SIDE_DOT_UP, Pose.SIDE_DOT_DOWN, Pose.TROTTER, Pose.RAZORBACK}


def test_a_turned_and_moved_pig_keeps_its_reading(standard: PigModel) -> None:
    for number, named in enumerate(RestTable.of(standard).rests):
        state = lying(named.rest)
        turn = Rotation.from_euler("z", 40.0 * number + 10, degrees=True)
        moved = RigidState(
            state.position_m + np.array([0.1, -0.2, 0.0]),
            (turn * Rotation.from_quat(state.quat_xyzw)).as_quat(),
        )
        reading = classify(standard, moved)
        assert reading.pose is named.pose
        assert reading.margin == pytest.approx(named.margin, abs=1e-6)


def test_a_lifted_pig_touches_nothing(standard: PigModel) -> None:
    state = lying(RestTable.of(standard).rests[0].rest)
    assert table_contacts(standard, state)
    lifted = RigidState(state.position_m + np.array([0, 0, 2 * TABLE_GAP_M]), state.quat_xyzw)
    assert table_contacts(standard, lifted) == ()
    assert min(table_gaps(standard, lifted).values()) == pytest.approx(2 * TABLE_GAP_M, abs=1e-9)
    assert classify(standard, lifted).pose is Pose.OTHER


def test_a_saved_final_state_is_read_the_same_again() -> None:
    setup = Setup.named(toss="trapdoor", settle="full")
    with Simulator(setup) as simulator:
        for index in range(6):
            roll = simulator.roll(41, index)
            if roll.status is not Status.OK:
                continue
            for pig in roll.pigs:
                saved = [float(f"{number:.17g}") for number in (*pig.position_m, *pig.quat_xyzw)]
                state = RigidState(np.array(saved[:3]), np.array(saved[3:]))
                reading = classify(setup.black, state)
                assert (reading.pose, reading.margin) == (pig.pose, pig.margin)
                again = {contact.part for contact in table_contacts(setup.black, state)}
                assert again == {c.part for c in pig.contacts if c.other == "table"}

"""What pictures show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from physim.physics.surfaces import table as table_named
from physim.pigs.model import load_model
from physim.render.camera import View, fitted, framing
from physim.render.light import OPEN_LIGHT, ShadowMap
from physim.render.pig_meshes import PlacedPig, linear, pig_look, srgb
from physim.render.scene import picture
from physim.simulator import RestTable, lying
from physim.types import BLACK, PINK, Pose, RigidState

WIDTH, HEIGHT = 120, 90


def pig_in(pose: Pose, name: str = PINK) -> PlacedPig:
    model = load_model("standard")
    rest = next(r for r in RestTable.of(model).rests if r.pose is pose)
    return PlacedPig("standard", name, lying(rest.rest), model.radius_m)


def moved(pig: PlacedPig, *by_m: float) -> PlacedPig:
    state = replace(pig.state, position_m=pig.state.position_m + np.array(by_m))
    return replace(pig, state=state)


def dark(image: np.ndarray) -> int:
    return int((image.max(axis=2) < 90).sum())


def pinkish(image: np.ndarray) -> int:
    plain = image.astype(int)
    return int((plain[:, :, 0] > plain[:, :, 1] + 25).sum())


def test_the_same_pigs_make_the_same_picture_to_the_last_bit() -> None:
    pigs = [pig_in(Pose.SNOUTER), moved(pig_in(Pose.RAZORBACK, BLACK), 0.05, 0.02, 0.0)]
    first = picture(pigs, WIDTH, HEIGHT)
    assert first.shape == (HEIGHT, WIDTH, 3)
    assert (picture(pigs, WIDTH, HEIGHT) == first).all()
    assert (picture(pigs[::-1], WIDTH, HEIGHT, framing(pigs, WIDTH / HEIGHT)) == first).all()


def test_the_pig_fills_the_picture_but_is_not_cut_off() -> None:
    image = picture([pig_in(Pose.TROTTER)], WIDTH, HEIGHT)
    assert 0.1 < pinkish(image) / (WIDTH * HEIGHT) < 0.7
    border = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])[None]
    assert pinkish(border) == 0


def test_the_black_pig_has_a_black_snout() -> None:
    pink, black = (picture([pig_in(Pose.TROTTER, name)], WIDTH, HEIGHT) for name in (PINK, BLACK))
    assert dark(black) > dark(pink) + 30


def test_the_dot_is_seen_where_it_is_up_and_from_above_only_there() -> None:
    from_above = [
        picture([pig], WIDTH, HEIGHT, framing([pig], WIDTH / HEIGHT, above=True))
        for pig in (pig_in(Pose.SIDE_DOT_UP), pig_in(Pose.SIDE_DOT_DOWN))
    ]
    assert dark(from_above[0]) > dark(from_above[1]) + 30


def test_the_nearer_pig_hides_the_other() -> None:
    view = View(np.array([0.0, 0.0, 0.01]), 0.4, azimuth_deg=0.0, elevation_deg=2.0)
    one, other = pig_in(Pose.TROTTER), moved(pig_in(Pose.TROTTER, BLACK), -0.07, 0.0, 0.0)
    alone = pinkish(picture([one], WIDTH, HEIGHT, view))
    assert pinkish(picture([one, other], WIDTH, HEIGHT, view)) < 1.2 * alone


def test_a_pig_below_the_table_is_hidden_by_it_and_seen_beside_it() -> None:
    table = table_named("wood")
    view = View(np.zeros(3), 3.0, azimuth_deg=0.0, elevation_deg=35.0)
    under = moved(pig_in(Pose.TROTTER), 0.0, 0.0, -0.3)
    beside = moved(pig_in(Pose.TROTTER), 0.9, 0.0, -0.1)

    def seen(pig: PlacedPig) -> int:
        empty = picture([moved(pig, 0.0, 0.0, -50.0)], WIDTH, HEIGHT, view, table)
        return int((picture([pig], WIDTH, HEIGHT, view, table) != empty).any(axis=2).sum())

    assert seen(under) == 0
    assert seen(beside) > 0


def test_shade_is_deep_under_a_pig_and_none_far_away() -> None:
    look, pig = pig_look("standard"), pig_in(Pose.TROTTER)
    points = look.points_m + pig.state.position_m  # upright: its rest turns it by nothing much
    shade = ShadowMap.of(points, look.spacing_m)
    left = shade.light / OPEN_LIGHT
    under = tuple(int(k) for k in -shade.corner_m / shade.texel_m)
    assert left[under].max() < 0.5 and left[0, 0].min() > 0.99
    high = ShadowMap.of(points + [0.0, 0.0, 0.3], look.spacing_m)
    assert high.light.min() > shade.light.min() + 0.2  # a pig in the air takes less of it


def test_surfaces_have_colours_of_their_own() -> None:
    pig = pig_in(Pose.TROTTER)
    corners = {
        name: tuple(picture([pig], 40, 30, table=table_named(name))[0, 0].tolist())
        for name in ("laminate", "wood", "felt")
    }
    assert len(set(corners.values())) == 3


def test_srgb_is_the_inverse_of_linear() -> None:
    colors = np.linspace(0.0, 1.0, 200)
    assert srgb(linear(colors)) == pytest.approx(colors, abs=2e-3)


def test_a_fitted_view_just_holds_the_points() -> None:
    points = np.random.default_rng(1).normal(size=(50, 3)) * [0.3, 0.05, 0.02]
    view = fitted(View(np.zeros(3), 1.0, 20.0, 30.0), points, 1.5, fill=0.8)
    places = view.project(points, 300, 200)
    aside = (places[:, :2] - [150, 100]) / [150, 100]
    assert np.abs(aside).max() == pytest.approx(0.8)
    wide = int(np.argmax(np.ptp(aside, axis=0)))  # it fills the picture from edge to edge
    assert (aside[:, wide].min(), aside[:, wide].max()) == pytest.approx((-0.8, 0.8))


def test_a_coarse_model_is_drawn_too() -> None:
    """The look of a cube needs no fine mesh; here only its shade's points are checked."""
    from physim.render.pig_meshes import _points

    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    points = _points(corners, faces)
    assert len(points) > 1000
    assert (points >= -1e-9).all() and (points.sum(axis=1) <= 1 + 1e-9).all()


def test_placed_pigs_show_their_state() -> None:
    pig = pig_in(Pose.TROTTER)
    turned = replace(pig, state=RigidState(pig.state.position_m, np.array([0, 0, 1.0, 0])))
    view = View(np.zeros(3), 0.3)
    assert (picture([pig], 40, 30, view) != picture([turned], 40, 30, view)).any()

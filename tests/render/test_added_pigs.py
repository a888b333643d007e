"""Pigs of a mesh from elsewhere: black and pink can be told apart, and so can their flanks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from physim.render import pig_meshes
from physim.render.pig_meshes import PigLook, pig_look, shaded_obj
from physim.types import PIG_NAMES

Array = NDArray[Any]


def look_of(vertices: Array, faces: Array, side: str) -> PigLook:
    plain = PigLook(
        vertices,
        pig_meshes.vertex_normals(vertices, faces),
        faces,
        np.zeros(len(faces), dtype=np.int64),
        ("skin",),
        None,
        np.linspace(0.0, 1.0, len(vertices), dtype=np.float32)[:, None],
        1.0,
        vertices,
        1.0,
    )
    return pig_meshes._dotted(plain, side)


def box(length: float, width: float, height: float) -> tuple[Array, Array]:
    signs = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1], indexing="ij"), axis=-1).reshape(-1, 3)
    return hull(signs * np.array([length, width, height]) / 2)


def hull(points: Array) -> tuple[Array, Array]:
    """Faces counter-clockwise seen from outside, the origin inside."""
    faces = ConvexHull(points).simplices.astype(np.int64)
    a, b, c = (points[faces[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a) < 0
    faces[inward] = faces[inward][:, ::-1]
    return points, faces


def areas(vertices: Array, faces: Array) -> Array:
    """(m, 3) area times outward normal of each face."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.asarray(np.cross(b - a, c - a) / 2)


SPHERE = np.random.default_rng(1).normal(size=(2_000, 3))
SHAPES = {
    "cube": box(0.02, 0.02, 0.02),
    "long": box(0.05, 0.01, 0.02),
    "ball": hull(0.01 * SPHERE / np.linalg.norm(SPHERE, axis=1)[:, None]),
}


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_dot_is_a_disc_on_the_flank_that_carries_it(shape: str, side: str) -> None:
    vertices, faces = SHAPES[shape]
    look = look_of(vertices, faces, side)
    assert look.names == ("skin", "dot")
    dot = look.faces[look.materials == 1]
    places = look.vertices_m[dot].reshape(-1, 3)
    assert (places[:, 1] > 0).all() if side == "left" else (places[:, 1] < 0).all()
    radius = 0.13 * np.ptp(vertices[:, 2])
    away = np.hypot(places[:, 0], places[:, 2])
    corner = radius / math.cos(math.pi / 36)  # of a polygon about the disc
    assert 0.99 * radius < away.max() <= corner * (1 + 1e-9)
    # Seen from the side it has a polygon's area, whatever the triangles are.
    seen = np.abs(areas(look.vertices_m, dot)[:, 1]).sum()
    assert seen == pytest.approx(36 * radius**2 * math.tan(math.pi / 36), rel=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_cut_surface_is_the_same_surface(shape: str) -> None:
    vertices, faces = SHAPES[shape]
    look = look_of(vertices, faces, "right")
    before, after = areas(vertices, faces), areas(look.vertices_m, look.faces)
    assert np.linalg.norm(after, axis=1).sum() == pytest.approx(
        np.linalg.norm(before, axis=1).sum()
    )
    assert after.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9)  # closed, and wound alike
    corners = (look.vertices_m[look.faces] * after[:, None] / 9).sum()
    assert corners == pytest.approx((vertices[faces] * before[:, None] / 9).sum())  # the volume
    assert len(look.normals) == len(look.visibility) == len(look.vertices_m) > look.faces.max()
    assert (look.visibility >= 0).all() and (look.visibility <= 1).all()


def test_where_there_is_no_flank_there_is_no_dot() -> None:
    """The body is elsewhere: no empty mesh comes of it, which no window takes."""
    far = SHAPES["cube"][0] + np.array([1.0, 0.0, 0.0])
    look = look_of(far, SHAPES["cube"][1], "right")
    assert look.names == ("skin",) and len(look.faces) == 12


def test_black_and_pink_differ_from_each_other_and_from_their_dot() -> None:
    look = look_of(*SHAPES["cube"], "right")
    skins = {}
    for name in PIG_NAMES:
        skins[name], dot = look.colors(name)
        assert np.linalg.norm(skins[name] - dot) > 0.4
    assert np.linalg.norm(skins["black"] - skins["pink"]) > 0.5
    files = [shaded_obj(look, material, 1.0) for material in (0, 1)]  # as the window has them
    assert sum(text.count("\nf ") for text in files) == len(look.faces)


def test_the_standard_pig_keeps_its_colours_and_its_own_dot() -> None:
    look = pig_look("standard")
    assert sorted(look.names) == ["dot", "eye", "skin", "snout"]
    black, pink = (dict(zip(look.names, look.colors(n).tolist(), strict=True)) for n in PIG_NAMES)
    assert {name for name in look.names if black[name] != pink[name]} == {"snout"}

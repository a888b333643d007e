"""Mass properties against formulas and a second route."""

from __future__ import annotations

import numpy as np
import pytest

from physim.errors import ModelError
from physim.pigs.mesh import MassProperties, uniform_solid
from tests.pigs.shapes import box, sphere


def mass_properties(
    vertices: np.ndarray, faces: np.ndarray, mass_kg: float, offset_m: np.ndarray | None = None
) -> MassProperties:
    offset = np.zeros(3) if offset_m is None else offset_m
    return uniform_solid(vertices, faces, "mesh").filled(mass_kg, offset)


def test_a_box_has_the_inertia_of_the_formula() -> None:
    vertices, faces = box((0.03, 0.02, 0.01))
    got = mass_properties(vertices + np.array([1.0, -2.0, 3.0]), faces, 0.005)
    expected = 0.005 / 12 * np.diag([0.02**2 + 0.01**2, 0.03**2 + 0.01**2, 0.03**2 + 0.02**2])
    assert got.volume_m3 == pytest.approx(6e-6)
    np.testing.assert_allclose(got.center_of_mass_m, [1.0, -2.0, 3.0], atol=1e-12)
    np.testing.assert_allclose(got.inertia_kg_m2, expected, rtol=1e-6, atol=1e-14)


def test_a_fine_sphere_has_the_inertia_of_the_formula() -> None:
    vertices, faces = sphere(0.01)
    got = mass_properties(vertices, faces, 0.004)
    assert got.volume_m3 == pytest.approx(4 / 3 * np.pi * 0.01**3, rel=3e-3)
    np.testing.assert_allclose(
        got.inertia_kg_m2, 0.4 * 0.004 * 0.01**2 * np.eye(3), rtol=3e-3, atol=1e-12
    )


def test_tetrahedra_from_the_origin_give_the_same_pig(standard_arrays) -> None:
    """Second route: exact integrals over signed tetrahedra, summed here."""
    vertices, faces = standard_arrays
    got = mass_properties(vertices, faces, 0.005)
    corners = vertices[faces]
    volumes = np.linalg.det(corners) / 6
    center = (volumes[:, None] * corners.sum(axis=1) / 4).sum(axis=0) / volumes.sum()
    corners = corners - center
    volumes = np.linalg.det(corners) / 6
    total = corners.sum(axis=1)
    second = np.einsum("n,nki,nkj->ij", volumes / 20, corners, corners)
    second += np.einsum("n,ni,nj->ij", volumes / 20, total, total)
    inertia = (np.trace(second) * np.eye(3) - second) * 0.005 / volumes.sum()
    np.testing.assert_allclose(got.center_of_mass_m, center, atol=1e-9)
    np.testing.assert_allclose(got.inertia_kg_m2, inertia, rtol=1e-6, atol=1e-13)


def test_an_offset_moves_only_the_centre() -> None:
    vertices, faces = box((0.03, 0.02, 0.01))
    plain = mass_properties(vertices, faces, 0.005)
    moved = mass_properties(vertices, faces, 0.005, np.array([0.001, 0.0, -0.002]))
    np.testing.assert_allclose(moved.center_of_mass_m, [0.001, 0.0, -0.002], atol=1e-12)
    np.testing.assert_array_equal(moved.inertia_kg_m2, plain.inertia_kg_m2)


@pytest.mark.parametrize("inside_out", [False, True])
def test_winding_does_not_matter(inside_out: bool) -> None:
    vertices, faces = box((0.03, 0.02, 0.01))
    faces = faces[:, ::-1] if inside_out else faces
    assert mass_properties(vertices, faces, 0.005).inertia_kg_m2[0, 0] > 0


def test_a_mesh_with_a_hole_is_refused() -> None:
    vertices, faces = box((0.03, 0.02, 0.01))
    with pytest.raises(ModelError, match="holes"):
        mass_properties(vertices, faces[1:], 0.005)


def test_a_flat_mesh_is_refused() -> None:
    vertices, faces = box((0.03, 0.02, 0.01))
    with pytest.raises(ModelError, match="flat"):
        mass_properties(vertices * np.array([1.0, 1.0, 0.0]), faces, 0.005)

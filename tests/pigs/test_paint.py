"""The colours, also on pigs whose snout has been moved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from physim.pigs.mesh_builder import MATERIALS, SculptedMesh, sculpt
from physim.pigs.model_file import model_folder, read_model_file
from physim.pigs.shape import PigShape

COARSE_MM = 0.6


def shape() -> PigShape:
    found = read_model_file(model_folder("standard_before_fit")).shape
    assert found is not None
    return found


def middles(mesh: SculptedMesh, material: str) -> NDArray[np.float64]:
    faces = mesh.faces[mesh.materials == MATERIALS.index(material)]
    return np.asarray(mesh.vertices_mm[faces].mean(axis=1))


@pytest.mark.parametrize("higher_mm", [-1.5, 0.0, 2.0])
def test_ears_are_not_painted_as_snout_and_both_eyes_show(higher_mm: float) -> None:
    moved = replace(shape(), snout_z_mm=shape().snout_z_mm + higher_mm, snout_x_mm=17.8)
    mesh = sculpt(moved, COARSE_MM)
    snout = middles(mesh, "snout")
    assert len(snout) > 50
    assert np.abs(snout[:, 1]).max() < 2.3 * moved.snout_radius_mm * moved.scale
    eyes = middles(mesh, "eye")
    for side in (-1.0, 1.0):
        of_side = eyes[side * eyes[:, 1] > 3.0]  # the nostrils are nearer to the middle
        assert len(of_side) >= 4
        assert 1.0 < np.ptp(of_side, axis=0).max() < 2.0

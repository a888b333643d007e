"""The standard pig, read once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

from physim import pigs

STANDARD = Path(pigs.model_folder("standard"))


@pytest.fixture(scope="session")
def standard() -> pigs.LoadedModel:
    return pigs.load_all("standard")


@pytest.fixture(scope="session")
def standard_arrays() -> tuple[np.ndarray, np.ndarray]:
    """Vertices [m] and faces as another library reads the file."""
    scene = trimesh.load(
        STANDARD / "pig.obj", process=False, group_material=False, skip_materials=True
    )
    mesh = scene if isinstance(scene, trimesh.Trimesh) else scene.to_geometry()
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    return np.asarray(mesh.vertices) * 1e-3, np.asarray(mesh.faces)


@pytest.fixture(scope="session")
def standard_rests(standard: pigs.LoadedModel) -> tuple[pigs.StableRest, ...]:
    return pigs.model_rests(standard.model)

"""The URDF, read by the engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from physim import pigs
from physim.pigs.model import write_urdf

pybullet = pytest.importorskip("pybullet")


def test_the_engine_reads_mass_inertia_and_parts(tmp_path: Path, standard) -> None:
    path = write_urdf(standard, tmp_path / "urdf")
    client = pybullet.connect(pybullet.DIRECT)
    try:
        body = pybullet.loadURDF(
            str(path), flags=pybullet.URDF_USE_INERTIA_FROM_FILE, physicsClientId=client
        )
        info = pybullet.getDynamicsInfo(body, -1, physicsClientId=client)
        shapes = pybullet.getCollisionShapeData(body, -1, physicsClientId=client)
    finally:
        pybullet.disconnect(client)
    assert info[0] == pytest.approx(standard.model.mass_kg)
    np.testing.assert_allclose(
        np.sort(info[2]), np.linalg.eigvalsh(standard.model.inertia_kg_m2), rtol=1e-4
    )
    np.testing.assert_allclose(info[3], 0, atol=1e-9)
    assert len(shapes) == len(standard.model.parts) <= 16


def test_a_name_with_markup_does_not_break_the_file(tmp_path: Path) -> None:
    from xml.etree import ElementTree

    from tests.pigs.shapes import box, write_model

    loaded = pigs.load_all(write_model(tmp_path / "a--b<c>&", *box((30.0, 20.0, 10.0))))
    root = ElementTree.parse(write_urdf(loaded, tmp_path / "out")).getroot()
    assert [e.get("name") for e in root.iter("collision")] == ["trunk"]

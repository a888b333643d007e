"""The Big Pigs' model: the standard pig's shape, larger, and what its YAML may say."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from physim.errors import ConfigError
from physim.pigs import load_all, model_folder
from physim.pigs.model_file import read_model_file
from physim.simulator import RestTable
from physim.types import Pose

BIG = Path(model_folder("big"))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(BIG, tmp_path / "pig"))


def test_it_is_the_standard_pig_about_150_mm_long() -> None:
    big, standard = load_all("big"), load_all("standard")
    assert big.model.length_m == pytest.approx(0.150, abs=0.006)
    factor = big.model.length_m / standard.model.length_m
    assert big.mass.volume_m3 == pytest.approx(factor**3 * standard.mass.volume_m3, rel=1e-3)
    # Foam is evenly filled; the standard pig's centre of mass is fitted.
    shift_m = factor * standard.settings.offset_m
    for large, small in zip(big.model.parts, standard.model.parts, strict=True):
        assert large.label == small.label
        np.testing.assert_allclose(
            large.vertices_m, factor * small.vertices_m + shift_m, atol=2e-3 * big.model.length_m
        )


def test_it_is_of_light_foam_and_can_lie_as_the_rules_say() -> None:
    big = load_all("big")
    density = big.mass.mass_kg / big.mass.volume_m3
    assert 50.0 < density < 210.0  # kg/m3: the range that the YAML gives
    assert big.model.contact_stiffness_n_m > 0.0
    poses = {named.pose for named in RestTable.of(big.model).rests}
    wanted = {named.pose for named in RestTable.of(load_all("standard").model).rests}
    assert poses - {Pose.OTHER} == wanted - {Pose.OTHER}
    assert poses >= {Pose.TROTTER, Pose.RAZORBACK, Pose.SIDE_DOT_UP, Pose.SIDE_DOT_DOWN}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("shape_of: standard", "shape_of: ../standard", "must name a model that comes with"),
        ("shape_of: standard", "shape_of: nobody", "must name a model that comes with"),
        ("shape_of: standard", "shape_of: 3", "must name a model that comes with"),
        ("shape_of: standard", "shape_of: big", "must name a model that comes with"),
        ("shape_of: standard", "shape: {scale: 4}", "`shape_scale` goes with `shape_of`"),
        ("shape_of: standard", "shape_of: standard\nshape: {scale: 4}", "not both"),
        ("shape_scale: 3.95", "shape_scale: 99", "makes the scale"),
        ("shape_scale: 3.95", "shape_scale: -1", "`shape_scale` must lie in"),
        ("shape_scale: 3.95\n", "", "`shape_scale`"),
        ("stiffness_n_m: 2000", "stiffness_n_m: 0", "`contact_stiffness_n_m` must lie in"),
        ("stiffness_n_m: 2000", "stiffness_n_m: soft", "`contact_stiffness_n_m` must be"),
    ],
)
def test_unusable_values_are_refused(copy: Path, old: str, new: str, message: str) -> None:
    path = copy / "model.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(ConfigError, match=message):
        read_model_file(copy)

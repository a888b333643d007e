from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from physim.calibrate.priors import (
    DEFAULT,
    SHAPE,
    TOSS,
    Space,
    known_parameters,
    registry,
    setup,
    values_of,
)
from physim.errors import ConfigError, ModelError
from physim.pigs.model import build_folder
from physim.pigs.model_file import model_folder, read_model_file
from physim.pigs.shape import PigShape
from physim.simulator import Setup
from physim.tosses.release import Trapdoor, from_mapping, toss, yaml_values


@pytest.fixture(scope="module")
def base() -> Setup:
    return Setup.named("standard_before_fit", toss="trapdoor_before_fit")


def test_every_parameter_is_bounded_about_its_prior(base: Setup) -> None:
    for parameter in known_parameters(base).values():
        assert parameter.low < parameter.prior_mean < parameter.high or parameter.low == 0
        assert 0 < parameter.prior_sd < parameter.high - parameter.low
        assert parameter.description


def test_every_number_of_toss_and_shape_can_be_fitted(base: Setup) -> None:
    names = set(known_parameters(base))
    numbers = set(yaml_values(base.toss)) - {"kind", "facing", "heights_mm"}
    assert {name.removeprefix(TOSS) for name in names if name.startswith(TOSS)} == numbers
    shape = {f.name for f in fields(PigShape) if not f.name.startswith("dot_")}
    assert {name.removeprefix(SHAPE) for name in names if name.startswith(SHAPE)} == shape
    assert not any(name.startswith(SHAPE) for name in registry(None))


def test_a_toss_without_a_door_has_no_parameters(base: Setup) -> None:
    known = known_parameters(replace(base, toss=toss("drop")))
    assert set(known_parameters(base)) - set(known) == {
        name for name in known_parameters(base) if name.startswith(TOSS)
    }
    assert [one.name for one in Space.of(None, known).parameters] == list(DEFAULT[:5])
    with pytest.raises(ConfigError, match=r"unknown parameter `toss\.slide_m_s`"):
        Space.of(("toss.slide_m_s",), known)


def test_the_setup_as_it_is_lies_inside_all_bounds(base: Setup) -> None:
    known = known_parameters(base)
    values = values_of(base, known)
    assert all(known[name].low <= value <= known[name].high for name, value in values.items())
    assert values["restitution"] == pytest.approx(0.7 * 0.6)
    assert values["friction"] == pytest.approx(0.8 * 0.6)
    assert values["toss.door_angle_deg"] == 20 and values["shape.scale"] == 1.02


def test_a_point_of_the_cube_and_its_values_are_one(base: Setup) -> None:
    space = Space.of(DEFAULT, known_parameters(base))
    point = np.linspace(0.1, 0.9, len(DEFAULT))
    assert np.allclose(space.to_unit(space.from_unit(point)), point, rtol=0, atol=1e-12)
    assert list(space.from_unit(np.zeros(len(DEFAULT))).values()) == space.low.tolist()
    outside = dict.fromkeys(DEFAULT, 1e9)
    assert space.to_unit(outside).tolist() == [1.0] * len(DEFAULT)


def test_the_penalty_is_that_of_a_normal_prior(base: Setup) -> None:
    space = Space.of(("com_up_mm", "restitution"), known_parameters(base))
    assert space.penalty({"com_up_mm": 0.6, "restitution": 0.38}) == pytest.approx(4 + 1)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("com_forward",), "unknown parameter `com_forward`; did you mean `com_forward_mm`"),
        (("friction", "friction"), "named twice"),
        ((), "at least one"),
    ],
)
def test_bad_names_are_told(base: Setup, names: tuple[str, ...], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        Space.of(names, known_parameters(base))


def test_the_centre_of_mass_moves_and_nothing_else(base: Setup) -> None:
    moved = setup(base, {"com_forward_mm": 0.5, "com_up_mm": -0.25})
    assert moved.black is moved.pink
    shift = base.black.vertices_m - moved.black.vertices_m
    assert np.allclose(shift, [0.5e-3, 0, -0.25e-3], rtol=0, atol=1e-12)
    assert np.array_equal(moved.black.inertia_kg_m2, base.black.inertia_kg_m2)
    assert moved.toss == base.toss and moved.black.restitution == base.black.restitution


def test_a_pairs_coefficients_are_carried_by_the_pig(base: Setup) -> None:
    changed = setup(base, {"restitution": 0.3, "friction": 0.5})
    surface = base.table.surface
    assert changed.table == base.table
    assert changed.black.restitution * surface.restitution == pytest.approx(0.3)
    assert changed.black.lateral_friction * surface.lateral_friction == pytest.approx(0.5)
    with pytest.raises(ConfigError, match="must not exceed"):
        setup(base, {"restitution": 0.7})


def test_a_toss_is_changed_by_its_name_in_the_file(base: Setup) -> None:
    changed = setup(base, {"toss.door_angle_deg": 30.0, "toss.separation_mm": 90.0}).toss
    assert isinstance(changed, Trapdoor) and isinstance(base.toss, Trapdoor)
    assert changed.door_angle_rad == pytest.approx(np.pi / 6)
    expected = replace(
        base.toss, door_angle_rad=changed.door_angle_rad, separation_m=changed.separation_m
    )
    assert changed == expected and changed.separation_m == pytest.approx(0.09)
    with pytest.raises(ConfigError, match="the toss has no `speed_m_s`"):
        setup(base, {"toss.speed_m_s": 1.0})


def test_numbers_that_make_no_pig_together_are_told(
    base: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("QH6154")

    monkeypatch.setattr("physim.calibrate.priors.model_from_shape", fail)
    with pytest.raises(ModelError, match="make no pig together"):
        setup(base, {"shape.scale": 1.0})


@pytest.mark.parametrize("name", ["trapdoor", "hand", "drop"])
def test_a_toss_is_what_its_yaml_values_say(name: str) -> None:
    assert from_mapping(yaml_values(toss(name)), "here") == toss(name)


def test_a_shape_is_sculpted_anew(base: Setup, tmp_path: Path) -> None:
    """As near as the digits of the files to a model that is built from the same numbers."""
    changed = setup(base, {"shape.rump_width_mm": 13.0, "com_up_mm": 0.2, "friction": 0.3})
    text = (model_folder("standard_before_fit") / "model.yaml").read_text()
    text = text.replace("rump_width_mm: 11.66", "rump_width_mm: 13.0")
    text = text.replace("lateral_friction: 0.8", "lateral_friction: 0.5")
    (tmp_path / "model.yaml").write_text(text + "center_of_mass_offset_mm: [0, 0, 0.2]\n")
    build_folder(tmp_path)
    built = Setup.named(tmp_path).black
    assert [p.label for p in built.parts] == [p.label for p in changed.black.parts]
    for one, two in zip(built.parts, changed.black.parts, strict=True):
        assert np.ptp(one.vertices_m, axis=0) == pytest.approx(
            np.ptp(two.vertices_m, axis=0), abs=2e-6
        )
        assert one.vertices_m.min(axis=0) == pytest.approx(two.vertices_m.min(axis=0), abs=2e-6)
    assert built.lateral_friction == pytest.approx(changed.black.lateral_friction)
    assert built.inertia_kg_m2 == pytest.approx(changed.black.inertia_kg_m2, rel=1e-3)
    assert read_model_file(tmp_path).offset_m[2] == pytest.approx(2e-4)
    assert values_of(Setup.named(tmp_path), ["com_up_mm"]) == pytest.approx({"com_up_mm": 0.2})
    # The number is the shift from the even body, not from where the centre of mass is now.
    again = setup(Setup.named(tmp_path), {"com_up_mm": 0.2}).black
    assert again.vertices_m == pytest.approx(built.vertices_m, abs=1e-12)

"""The YAML of tosses: names, units, and what it refuses."""

import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from physim.config import load
from physim.errors import ConfigError
from physim.tosses.release import Drop, Hand, Trapdoor, from_mapping, toss, toss_names


def mapping(name: str, **changes: Any) -> dict[str, Any]:
    from physim.tosses.release import TOSSES_YAML

    return {**load(TOSSES_YAML)[name], **changes}


def test_names_are_public() -> None:
    assert set(toss_names()) == {
        "trapdoor",
        "hand",
        "drop",
        "trapdoor_before_fit",
        "trapdoor_big",
        "hand_big",
    }
    with pytest.raises(ConfigError, match="unknown toss `trapdor`; did you mean `trapdoor`"):
        toss("trapdor")


def test_a_file_of_one_toss_is_a_toss_too(tmp_path: Path) -> None:
    """Such as `physim calibrate` writes."""
    path = tmp_path / "toss.yaml"
    path.write_text(yaml.safe_dump({"fitted": mapping("trapdoor", separation_mm=77)}))
    model = toss(str(path))
    assert isinstance(model, Trapdoor) and model.separation_m == pytest.approx(0.077)
    two = {"one": mapping("drop"), "other": mapping("hand")}
    for content in (two, {}, {"fitted": 3}, {"fitted": {"kind": "trapdoor"}}):
        path.write_text(yaml.safe_dump(content))
        with pytest.raises(ConfigError, match="toss"):
            toss(str(path))
    with pytest.raises(ConfigError, match="cannot be read"):
        toss(str(tmp_path / "nowhere.yaml"))


def test_units_become_si() -> None:
    model = from_mapping(mapping("trapdoor", door_angle_deg=90, separation_mm=50), "here")
    assert isinstance(model, Trapdoor)
    assert model.door_angle_rad == pytest.approx(math.pi / 2)
    assert model.separation_m == pytest.approx(0.05)
    dropped = from_mapping(mapping("drop", height_mm=12), "here")
    assert isinstance(dropped, Drop)
    assert dropped.height_m == pytest.approx(0.012)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("drop", {"hieght_mm": 3}, "unknown key `hieght_mm`; did you mean `height_mm`"),
        ("drop", {"height_mm": math.nan}, "`height_mm` must be a finite number"),
        ("drop", {"height_mm": "high"}, "`height_mm` must be a finite number"),
        ("drop", {"height_mm": True}, "`height_mm` must be a finite number"),
        ("drop", {"height_mm": 9000}, "height must lie between"),
        ("drop", {"separation_mm": -1}, "`separation_mm` must lie in"),
        ("drop", {"kind": "catapult"}, "`kind` must be one of"),
        ("hand", {"spin_spread_rad_s": -1}, "`spin_spread_rad_s` must lie in"),
        ("hand", {"speed_m_s": math.inf}, "`speed_m_s` must be a finite number"),
        ("trapdoor", {"yaw_spread_deg": -0.1}, "`yaw_spread_deg` must lie in"),
        ("trapdoor", {"heights_mm": []}, "`heights_mm` must be a list"),
        ("trapdoor", {"heights_mm": [127, None]}, "`heights_mm` must be a finite number"),
        ("trapdoor", {"heights_mm": [0.0]}, "height must lie between"),
        ("trapdoor", {"facing": ["up"]}, "`facing` must list some of"),
        ("trapdoor", {"facing": []}, "`facing` must list some of"),
    ],
)
def test_unusable_values_are_refused(name: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refused:
        from_mapping(mapping(name, **changes), "my file")
    assert "my file" in str(refused.value) or "height must lie" in message


def test_a_missing_key_is_named() -> None:
    data = mapping("drop")
    del data["separation_mm"]
    with pytest.raises(ConfigError, match="`separation_mm` is missing"):
        from_mapping(data, "my file")


def test_a_scaled_toss_is_slower_by_the_root_of_its_size() -> None:
    small, large = toss("trapdoor"), toss("trapdoor_big")
    assert isinstance(small, Trapdoor) and isinstance(large, Trapdoor)
    factor = large.heights_m[0] / small.heights_m[0]
    assert factor == pytest.approx(3.95)
    assert large.heights_m[1] == pytest.approx(factor * small.heights_m[1])
    assert large.separation_spread_m == pytest.approx(factor * small.separation_spread_m)
    # v^2 / (g l) and w^2 l / g stay.
    assert large.slide_m_s**2 / factor == pytest.approx(small.slide_m_s**2)
    assert large.pitch_rate_spread_rad_s**2 * factor == pytest.approx(
        small.pitch_rate_spread_rad_s**2
    )
    assert (large.door_angle_rad, large.facing) == (small.door_angle_rad, small.facing)
    hand = toss("hand_big")
    assert isinstance(hand, Hand) and hand.start_x_m < -1.0


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"scaled": "drop"}, "`by` is missing"),
        ({"scaled": "drop", "by": 0}, "`by` must lie in"),
        ({"scaled": "nobody", "by": 2}, "`scaled` must name a toss"),
        ({"scaled": "mine", "by": 2}, "`scaled` must name a toss"),
        ({"scaled": "drop", "by": 2, "height_mm": 3}, "unknown key `height_mm`"),
        ({"scaled": "drop", "by": 100}, "height must lie between"),
    ],
)
def test_unusable_scaled_tosses_are_refused(
    entry: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from physim.tosses import release

    known = {**load(release.TOSSES_YAML), "mine": entry}
    monkeypatch.setattr(release, "load", lambda _: known)
    with pytest.raises(ConfigError, match=message):
        toss("mine")

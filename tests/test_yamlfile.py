"""What YAML files hold is what a person reads there: numbers are decimal, words are words."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from physim import config
from physim.calibrate.priors import read_fit
from physim.errors import ConfigError
from physim.pigs.model import load_model
from physim.rules.ruleset import SETS_FOLDER, load_rules, read_change
from physim.tosses.release import toss
from tests.pigs.shapes import box, write_model

TOSS = """mine:
  kind: drop
  height_mm: {}
  separation_mm: 100
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.yaml"


def read(path: Path, text: str) -> Any:
    path.write_text(f"key: {text}\n", encoding="utf-8")
    return config.load(path)["key"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0100", 100),
        ("-0100", -100),
        ("08", 8),
        ("00", 0),
        ("+5", 5),
        ("0100.50", 100.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("-.5e1", -5.0),
        ("1e3", 1000.0),
        ("1E-2", 0.01),
        ("-.inf", -math.inf),
        ("true", True),
        ("~", None),
        ("", None),
    ],
)
def test_numbers_are_decimal(path: Path, text: str, value: object) -> None:
    found = read(path, text)
    assert found == value and type(found) is type(value)


def test_not_a_number_stays_one(path: Path) -> None:
    assert math.isnan(read(path, ".nan"))


OTHER_NOTATIONS = ["1:40", "0x10", "0b1", "0o17", "1_000", "2026-12-01", "1:30:45.5", "१००"]


@pytest.mark.parametrize("text", [*OTHER_NOTATIONS, "yes", "No", "on", "OFF", "y", "=", "<<"])
def test_all_else_is_a_text(path: Path, text: str) -> None:
    assert read(path, text) == text


@pytest.mark.parametrize("text", OTHER_NOTATIONS)
def test_other_notations_are_refused_where_a_number_is_meant(path: Path, text: str) -> None:
    path.write_text(f"key: {text}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"`key` must be a finite number, found") as no:
        config.number_at(config.load(path), "key", str(path))
    assert text in str(no.value)
    assert str(path) in str(no.value) and "; write it as a decimal number" in str(no.value)
    path.write_text('key: "100"\n')
    with pytest.raises(ConfigError, match=r"`key` must be .* found '100'; write it without quotes"):
        config.number_at(config.load(path), "key", str(path))


TAGGED = ["!!int 1:40", "!!int 0100", "!!float 3", "!!timestamp 2026-12-01", "!!bool yes"]
TAGGED += ["!!binary aGk=", "!!set {a, b}", "!!omap [a: 1]", "!!null x", "!!str 5", "! 5", "!a 5"]


@pytest.mark.parametrize("text", [*TAGGED, "[!!bool yes]", "!!python/object/apply:os.getcwd []"])
def test_a_tag_makes_nothing_of_them(path: Path, text: str) -> None:
    with pytest.raises(
        ConfigError, match=r"at line 1, column \d+: a tag \(!\) is not taken; write"
    ):
        read(path, text)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "9" * 400, ".inf", ".nan"])
def test_numbers_without_end_are_refused_where_one_is_meant(path: Path, text: str) -> None:
    path.write_text(f"key: {text}\n")
    with pytest.raises(ConfigError, match="`key` must be a finite number, found"):
        config.number_at(config.load(path), "key", str(path))


def test_words_are_keys_too(path: Path) -> None:
    path.write_text("on: 1\nno: 2\n2026-12-01: 3\n1:40: 4\n")
    assert config.load(path) == {"on": 1, "no": 2, "2026-12-01": 3, "1:40": 4}


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        "a: &a [1]\nb: *a\n",
        "a: &a [*a]\n",
        "a: &a {x: 1}\nb: {<<: *a}\n",
        "a: &a [1, 1]\n"
        + "".join(f"a{k}: &a{k} [*a{k - 1 if k else ''}, *a]\n" for k in range(30)),
    ],
)
def test_aliases_are_refused(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"at line \d+, column \d+: an alias .* is not taken"):
        config.load(path)


@pytest.mark.parametrize("text", ["a: 1\na: 2\n", 'a: 1\n"a": 2\n', "b: {on: 1, on: 2}\n"])
def test_a_key_is_there_once(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(ConfigError, match="is there twice"):
        config.load(path)


def test_what_is_written_is_read_back_by_either_kind_of_yaml(path: Path) -> None:
    texts = [*OTHER_NOTATIONS, "0100", "1e3", "0123456789", "12e4567890123456", "yes", "~", "", "."]
    data = {"texts": texts, "numbers": [1, -0.5, 1e-9, 1e22, 127.0], "0100": True, "none": None}
    path.write_text(config.dumped(data), encoding="utf-8")
    assert config.load(path) == data
    assert yaml.safe_load(path.read_text(encoding="utf-8")) == data


# --- in every file that holds numbers --------------------------------------------------------


def rules_with(path: Path, line: str) -> Path:
    key = line.split(":", maxsplit=1)[0]
    lines = (SETS_FOLDER / "box.yaml").read_text().splitlines()
    path.write_text("\n".join([one for one in lines if not one.startswith(f"{key}:")] + [line]))
    return path


def test_rules(path: Path) -> None:
    assert load_rules(str(rules_with(path, "target: 0100"))).target == 100
    assert load_rules("box", dict([read_change("target=0100")])).target == 100
    for text in ("1:40", "0x64", "1_00", "2026-12-01"):
        with pytest.raises(ConfigError, match=r"`target` must be a whole number.*decimal"):
            load_rules(str(rules_with(path, f"target: {text}")))
        with pytest.raises(ConfigError, match=r"`target` must be a whole number.*decimal"):
            load_rules("box", dict([read_change(f"target={text}")]))
    with pytest.raises(ConfigError, match="`hog_call` must be true or false, found 'yes'"):
        load_rules(str(rules_with(path, "hog_call: yes")))
    assert load_rules(str(rules_with(path, "title: No"))).title == "No"


def test_tosses(path: Path) -> None:
    def height_m(text: str) -> float:
        path.write_text(TOSS.format(text))
        found: float = toss(str(path)).height_m  # type: ignore[attr-defined]
        return found

    assert height_m("0100") == height_m("1e2") == height_m("100") == 0.1
    for text in ("1:40", "0x64", "1_00"):
        with pytest.raises(ConfigError, match=rf"`height_mm` must be .*'{text}'.*decimal"):
            height_m(text)


def test_models(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "block", *box((30.0, 20.0, 10.0)))
    written = (folder / "model.yaml").read_text()
    mass = yaml.safe_load(written)["mass_g"]

    def mass_kg(text: str) -> float:
        lines = [line for line in written.splitlines() if not line.startswith("mass_g:")]
        (folder / "model.yaml").write_text("\n".join([*lines, f"mass_g: {text}"]))
        return load_model(str(folder)).mass_kg

    assert mass_kg(f"0{mass}") == mass_kg(str(mass))
    assert mass_kg("010") == pytest.approx(0.010)
    for text in ("1:40", "0x10", "1_0"):
        with pytest.raises(ConfigError, match=rf"`mass_g` must be .*'{text}'.*decimal"):
            mass_kg(text)


def test_fits(path: Path) -> None:
    def value(text: str) -> float:
        path.write_text(f"parameters:\n  restitution: {{value: {text}}}\n")
        return read_fit(path)["restitution"]

    assert value("00.5") == value(".5") == value("5e-1") == 0.5
    with pytest.raises(ConfigError, match=r"restitution: `value` must be .*decimal"):
        value("0:30")

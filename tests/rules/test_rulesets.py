"""Rule sets as files: what the four say, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from physim.errors import ConfigError
from physim.rules.ruleset import (
    OPTIONS,
    SETS_FOLDER,
    load_rules,
    read_change,
    rule_set_names,
    to_options,
)

# Typed from the sources, not from the files; what a source leaves open is not here.
SAID = {
    "box": {"target": 100, "oinker_costs": "game_score", "piggyback": "eliminates",
            "hog_call": True, "hog_call_least_points": 20, "hog_call_predicts": "positions",
            "hog_call_pays": "double_double", "end": "at_once", "reach": "at_least"},
    "world_championship": {"target": 100, "oinker_costs": "game_score", "hog_call": False,
                           "piggyback": "eliminates", "reach": "at_least"},
    "table": {"target": 100, "oinker_costs": "turn", "off_table": "roll_again", "hog_call": True,
              "end": "at_once", "hog_call_pays": "double_double"},
    "wikipedia": {"target": 100, "oinker_costs": "game_score", "hog_call_predicts": "points",
                  "hog_call_pays": "single_double", "hog_call_least_points": 20},
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_what_the_source_says(name: str) -> None:
    assert to_options(load_rules(name)).items() >= SAID[name].items()


def test_there_are_four_and_the_box_is_the_default() -> None:
    from physim.rules.ruleset import DEFAULT, RuleSet

    assert rule_set_names() == sorted(SAID)
    assert load_rules(DEFAULT) == RuleSet()


def test_options_are_changed_by_key() -> None:
    rules = load_rules("box", {"target": "longer", "oinker_costs": "turn"})
    assert to_options(rules) == to_options(load_rules("box")) | {
        "target": 500,
        "oinker_costs": "turn",
    }


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    text = (SETS_FOLDER / "box.yaml").read_text(encoding="utf-8")
    file = tmp_path / "mine.yaml"
    file.write_text(text.replace("target: 100", "target: 250"), encoding="utf-8")
    assert load_rules(file).target == 250


@pytest.mark.parametrize(
    ("line", "instead", "says"),
    [
        ("target: 100", "target: 0", "`target` must be a whole number from 1 to"),
        ("target: 100", "target: soon", "`target` must be a whole number"),
        ("target: 100", "target: 100.5", "`target` must be a whole number"),
        ("reach: at_least", "reach: at_lest", "did you mean `at_least`"),
        ("reach: at_least", "reach: [1, 2]", "must be one of at_least, exactly"),
        ("reach: at_least", "", "the key `reach` is missing"),
        ("reach: at_least", "reach: exactly\nreach: exactly", "is there twice"),
        ("reach: at_least", "reech: at_least", "did you mean `reach`"),
        ("hog_call: true", "hog_call: maybe", "`hog_call` must be true or false"),
        ("hog_call: true", "hog_call: 1", "`hog_call` must be true or false"),
        ("hog_call_least_points: 20", "hog_call_least_points: -1", "whole number from 0"),
        ("target: 100", "target: !!python/object:os.system x", "broken YAML"),
    ],
)
def test_a_bad_file_is_refused_with_its_name(
    tmp_path: Path, line: str, instead: str, says: str
) -> None:
    text = (SETS_FOLDER / "box.yaml").read_text(encoding="utf-8")
    assert line in text
    file = tmp_path / "mine.yaml"
    file.write_text(text.replace(line, instead), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"mine\.yaml") as refusal:
        load_rules(file)
    assert says in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "says"),
    [("tabel", "did you mean `table`"), ("", "must not be empty"), ("no.yaml", "cannot be read")],
)
def test_unknown_rules_are_refused(name: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load_rules(name)


@pytest.mark.parametrize("text", ["", "target", "=5", "target="])
def test_a_change_has_a_key_and_a_value(text: str) -> None:
    with pytest.raises(ConfigError, match="key=value"):
        read_change(text)


@pytest.mark.parametrize("key", ["title", "source", "name", "targte"])
def test_only_options_are_changed(key: str) -> None:
    with pytest.raises(ConfigError, match=f"unknown key `{key}`"):
        load_rules("box", {key: "x"})


def test_changes_are_read_as_the_files_are() -> None:
    assert read_change("target = 60") == ("target", 60)
    assert read_change("hog_call=false") == ("hog_call", False)
    assert read_change("end=end_of_round") == ("end", "end_of_round")
    assert {key for key, _ in map(read_change, (f"{name}=1" for name in OPTIONS))} == set(OPTIONS)

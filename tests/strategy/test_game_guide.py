"""docs/game.md: its example runs; its options, rule sets, keys and strategies are all there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from physim.cli.strategy import strategy, tournament
from physim.rules.ruleset import OPTIONS, load_rules, rule_set_names, to_options
from physim.strategy.policies import KINDS

GUIDE = (Path(__file__).parents[2] / "docs" / "game.md").read_text(encoding="utf-8")


def first_column(title: str) -> list[str]:
    """The names in the first column of the table under that head."""
    _, _, rest = GUIDE.partition(f"| {title} |")
    table, _, _ = rest.partition("\n\n")
    return [name.split(":")[0] for name in re.findall(r"^\| `([^`]+)`", table, re.M)]


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```", GUIDE, re.M | re.S)
    names: dict[str, object] = {}
    exec(example, names)
    assert capsys.readouterr().out == "Ben [57, 95, 81]\n"
    state = names["game"].state  # type: ignore[attr-defined]
    assert (state.scores, state.turn_total, state.current) == ([42, 95, 81], 15, 0)


def test_every_option_that_is_named_is_one() -> None:
    known = {name for command in (strategy, tournament) for option in command.params
             for name in option.opts}  # fmt: skip
    named = set(re.findall(r"(?<!-)--[a-z][a-z-]*", GUIDE))
    assert named and named <= known


def test_every_rule_set_key_and_strategy_is_told() -> None:
    assert first_column("name") == ["box", "world_championship", "table", "wikipedia"]
    assert sorted(first_column("name")) == rule_set_names()
    assert first_column("key") == list(OPTIONS)
    assert set(first_column("strategy")) == set(KINDS)


def test_the_defaults_told_are_those_of_the_box() -> None:
    for key, value in to_options(load_rules("box")).items():
        (cell,) = re.findall(rf"^\| `{key}` \| `?([\w]+)`?", GUIDE, re.M)
        assert cell == (str(value).lower() if isinstance(value, bool) else str(value))

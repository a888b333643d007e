"""Every source of outcomes plays the same game; none needs physics."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from games import begin

from physim.errors import ConfigError
from physim.game.game_state import Thrown
from physim.game.outcomes import Distribution, draws, throw_of_roll
from physim.rules.score import Throw, labelled_throws, read_throw
from physim.types import Ended, Outcome, PigResult, Pose, Roll, Status

LINES = ("trotter snouter", "side_dot_up side_dot_up", "pig_out")


def roll(outcome: Outcome, score: int | None, *poses: Pose) -> Roll:
    pigs = tuple(
        PigResult(name, pose, None, 1.0, (), np.zeros(3), np.array([0, 0, 0, 1.0]), 0.5)
        for name, pose in zip(("black", "pink"), poses, strict=True)
    )
    return Roll(0, 0, Status.OK, outcome, score, False, Ended.REST, (pigs[0], pigs[1]), 0.5)


ROLLS = (
    roll(Outcome.MIXED_COMBO, 15, Pose.TROTTER, Pose.SNOUTER),
    roll(Outcome.SIDER, 1, Pose.SIDE_DOT_UP, Pose.SIDE_DOT_UP),
    roll(Outcome.PIG_OUT, 0, Pose.SIDE_DOT_UP, Pose.SIDE_DOT_DOWN),
)


@pytest.mark.parametrize(
    "source",
    [map(read_throw, LINES), map(throw_of_roll, ROLLS)],
    ids=["texts", "rolls"],
)
def test_a_turn_from_any_source(source: Iterator[Throw]) -> None:
    game = begin([0, 0])
    totals = []
    for _ in range(3):
        game.do(Thrown(next(source)))
        totals.append(game.state.turn_total)
    assert totals == [15, 16, 0] and game.current.name == "Ben"


def test_draws_have_the_distribution_and_are_fixed_by_the_seed() -> None:
    """Error rate: 1e-6 for each throw, six standard deviations at most."""
    throws = labelled_throws()
    named = (throws["trotter"], throws["pig_out"], throws["sider"])
    source = Distribution("three", named, (1.0, 2.0, 5.0))
    drawn = draws(source, np.random.default_rng(4))
    labels = [next(drawn).label for _ in range(9_000)]
    again = draws(source, np.random.default_rng(4))
    assert labels == [next(again).label for _ in range(9_000)]
    counts = Counter(labels)
    for label, p in (("trotter", 1 / 8), ("pig_out", 1 / 4), ("sider", 5 / 8)):
        assert abs(counts[label] - 9_000 * p) < 5 * (9_000 * p * (1 - p)) ** 0.5
    assert abs(counts["trotter"] - 9_000 / 6) > 5 * (9_000 / 8 * 7 / 8) ** 0.5  # a wrong one


def test_a_line_that_is_no_throw_can_be_typed_again() -> None:
    source = map(read_throw, ["troter snouter", "trotter snouter"])
    with pytest.raises(ConfigError, match="did you mean `trotter`"):
        next(source)
    assert next(source).points == 15


@pytest.mark.parametrize("text", ["", "mixed_combo", "trotter snouter sider", "x" * 300, "hold"])
def test_what_is_no_throw(text: str) -> None:
    with pytest.raises(ConfigError, match=r"is no throw|unknown throw") as refusal:
        read_throw(text)
    assert len(str(refusal.value)) < 130


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("pig out", "pig_out"), ("Double Trotter", "double_trotter"), ("t t", "double_trotter"),
        ("leaning jowler", "leaning_jowler"), ("Makin' Bacon!", "oinker"), ("off", "off_table"),
        ("makin’ bacon", "oinker"), ("Trotter", "trotter"), ("double j", "double_leaning_jowler"),
        ("Trotter and Razorback", "trotter+razorback"), ("razorback-trotter", "trotter+razorback"),
        ("Leaning Jowler and Snouter", "snouter+leaning_jowler"), ("off the table", "off_table"),
        ("side dot up and t", "trotter"), ("up DOWN", "pig_out"), ("piggy-back", "piggyback"),
        ("double leaning jowler", "double_leaning_jowler"), ("SIDER", "sider"), ("s&j",
         "snouter+leaning_jowler"),
    ],
)  # fmt: skip
def test_the_words_of_the_rulebook_and_of_a_table_of_people(text: str, label: str) -> None:
    assert read_throw(text).label == label


def test_rules_and_game_work_without_physics_meshes_and_tables() -> None:
    code = """
import sys
for name in ("pybullet", "trimesh", "pyarrow", "scipy", "matplotlib", "skimage"):
    sys.modules[name] = None
import physim.game.record, physim.game.game, physim.game.outcomes
from physim.game.game import read_move
from physim.game.game import Game
from physim.game.game_state import start
from physim.rules.ruleset import load_rules
game = Game(start(load_rules("box"), ["Ana", "Ben"]))
for move in ("trotter snouter", "bank"):
    game.do(read_move(move, game.players, game.start.rules))
print(game.state.scores, [name for name in sys.modules if name.startswith("physim.physics")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[15, 0] []"

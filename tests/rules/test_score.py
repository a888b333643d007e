"""The scoring rules, against a table typed from the rulebook."""

import itertools
import subprocess
import sys

import pytest

from physim.errors import ConfigError
from physim.rules.score import Score, outcome_of, score, score_of
from physim.types import Outcome, Pose, Status

UP, DOWN, T, R, S, J = (
    "side_dot_up",
    "side_dot_down",
    "trotter",
    "razorback",
    "snouter",
    "leaning_jowler",
)
# Typed by hand from the rulebook, all 36 ordered pairs: outcome and points.
TABLE = {
    (UP, UP): ("sider", 1),
    (UP, DOWN): ("pig_out", 0),
    (UP, T): ("trotter", 5),
    (UP, R): ("razorback", 5),
    (UP, S): ("snouter", 10),
    (UP, J): ("leaning_jowler", 15),
    (DOWN, UP): ("pig_out", 0),
    (DOWN, DOWN): ("sider", 1),
    (DOWN, T): ("trotter", 5),
    (DOWN, R): ("razorback", 5),
    (DOWN, S): ("snouter", 10),
    (DOWN, J): ("leaning_jowler", 15),
    (T, UP): ("trotter", 5),
    (T, DOWN): ("trotter", 5),
    (T, T): ("double_trotter", 20),
    (T, R): ("mixed_combo", 10),
    (T, S): ("mixed_combo", 15),
    (T, J): ("mixed_combo", 20),
    (R, UP): ("razorback", 5),
    (R, DOWN): ("razorback", 5),
    (R, T): ("mixed_combo", 10),
    (R, R): ("double_razorback", 20),
    (R, S): ("mixed_combo", 15),
    (R, J): ("mixed_combo", 20),
    (S, UP): ("snouter", 10),
    (S, DOWN): ("snouter", 10),
    (S, T): ("mixed_combo", 15),
    (S, R): ("mixed_combo", 15),
    (S, S): ("double_snouter", 40),
    (S, J): ("mixed_combo", 25),
    (J, UP): ("leaning_jowler", 15),
    (J, DOWN): ("leaning_jowler", 15),
    (J, T): ("mixed_combo", 20),
    (J, R): ("mixed_combo", 20),
    (J, S): ("mixed_combo", 25),
    (J, J): ("double_leaning_jowler", 60),
}
ALL_PAIRS = list(itertools.product(Pose, Pose))


def test_the_table_is_complete() -> None:
    assert set(TABLE) == set(itertools.product((UP, DOWN, T, R, S, J), repeat=2))


@pytest.mark.parametrize(("pair", "expected"), TABLE.items())
def test_all_ordered_pairs(pair: tuple[str, str], expected: tuple[str, int]) -> None:
    result = score(*pair)
    assert (result.outcome.value, result.score) == expected
    assert score(Pose(pair[0]), Pose(pair[1])) == result


@pytest.mark.parametrize(("black", "pink"), ALL_PAIRS)
def test_touching_and_piggyback_override_every_pair_of_poses(black: Pose, pink: Pose) -> None:
    assert score(black, pink, touching=True) == Score(Outcome.OINKER, 0)
    assert score(black, pink, piggyback=True) == Score(Outcome.PIGGYBACK, 0)
    assert score(black, pink, touching=True, piggyback=True) == Score(Outcome.PIGGYBACK, 0)


@pytest.mark.parametrize(("black", "pink"), ALL_PAIRS)
@pytest.mark.parametrize("touching", [False, True])
@pytest.mark.parametrize("piggyback", [False, True])
def test_what_physics_did_comes_first(
    black: Pose, pink: Pose, touching: bool, piggyback: bool
) -> None:
    for status, outcome in (
        (Status.OFF_TABLE, Outcome.OFF_TABLE),
        (Status.UNSETTLED, Outcome.UNSETTLED),
    ):
        named = outcome_of(black, pink, status=status, touching=touching, piggyback=piggyback)
        assert named is outcome
        assert score_of(named, black, pink) is None


@pytest.mark.parametrize("pose", list(Pose))
def test_a_pose_the_rules_do_not_name_is_ambiguous(pose: Pose) -> None:
    assert score(pose, Pose.OTHER) == Score(Outcome.AMBIGUOUS, None)
    assert score(Pose.OTHER, pose) == Score(Outcome.AMBIGUOUS, None)


@pytest.mark.parametrize(("black", "pink"), ALL_PAIRS)
@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize("touching", [False, True])
def test_symmetric_in_the_two_pigs(black: Pose, pink: Pose, status: Status, touching: bool) -> None:
    one = outcome_of(black, pink, status=status, touching=touching)
    assert one is outcome_of(pink, black, status=status, touching=touching)
    assert score_of(one, black, pink) == score_of(one, pink, black)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("troter", "trotter"), ("Snouter", "snouter"), ("side_up", "side_dot_up")],
)
def test_an_unknown_pose_names_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(ConfigError, match=f"unknown pose `{name}`; did you mean `{nearest}"):
        score(name, "trotter")
    with pytest.raises(ConfigError, match=f"unknown pose `{name}`"):
        score("trotter", name)


@pytest.mark.parametrize("name", ["", "xyz", "*", 5, None, [], "a" * 5000])
def test_nonsense_gets_no_suggestion(name: object) -> None:
    with pytest.raises(ConfigError, match="unknown pose") as refusal:
        score(name, "trotter")  # type: ignore[arg-type]
    assert "did you mean" not in str(refusal.value) and len(str(refusal.value)) < 300


def test_a_mixed_combo_needs_two_scoring_poses() -> None:
    with pytest.raises(ValueError, match="no mixed combo"):
        score_of(Outcome.MIXED_COMBO, Pose.TROTTER, Pose.SIDE_DOT_UP)


def test_works_without_physics_and_mesh_libraries() -> None:
    code = """
import sys
for name in ("pybullet", "trimesh", "pyarrow"):
    sys.modules[name] = None
import physim.rules.score
from physim.statistics import compare, counts, report, tables
result = physim.rules.score.score("trotter", "snouter")
comparison = compare.compare(counts.Counts(), tables.load_table("kern2006"))
report.format_stats(counts.Counts(), comparison)
print(result.outcome.value, result.score)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["mixed_combo", "15"]

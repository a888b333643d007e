"""What is counted where, by hand and by two routes."""

import dataclasses
import json
from typing import Any

import numpy as np
import pytest

from physim.errors import DatasetError
from physim.statistics.counts import Counts
from physim.statistics.report import to_json, to_text
from physim.statistics.tables import load_table
from physim.statistics.tests import compare
from physim.types import Ended, Outcome, PigResult, Pose, Roll, Status

UP, T, OTHER = Pose.SIDE_DOT_UP, Pose.TROTTER, Pose.OTHER


def roll(
    black: Pose,
    pink: Pose,
    outcome: Outcome,
    score: int | None,
    *,
    status: Status = Status.OK,
    touching: bool = False,
    rests: tuple[int | None, int | None] = (0, 1),
) -> Roll:
    pigs = tuple(
        PigResult(name, pose, rest, 1.0, (), np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), 0.5)
        for name, pose, rest in zip(("black", "pink"), (black, pink), rests, strict=True)
    )
    assert len(pigs) == 2
    return Roll(1, 0, status, outcome, score, touching, Ended.REST, (pigs[0], pigs[1]), 0.5)


ROLLS = [
    roll(UP, T, Outcome.TROTTER, 5, rests=(0, 3)),
    roll(T, UP, Outcome.TROTTER, 5, rests=(3, 0)),
    roll(T, T, Outcome.DOUBLE_TROTTER, 20, rests=(3, 3)),
    roll(OTHER, UP, Outcome.AMBIGUOUS, None, rests=(7, None)),
    roll(T, T, Outcome.OINKER, 0, touching=True, rests=(3, None)),
    roll(OTHER, UP, Outcome.PIGGYBACK, 0, touching=True, rests=(None, 0)),
    roll(UP, UP, Outcome.OFF_TABLE, None, status=Status.OFF_TABLE, rests=(0, 0)),
    roll(UP, OTHER, Outcome.UNSETTLED, None, status=Status.UNSETTLED, rests=(0, None)),
]


def as_row(one: Roll) -> dict[str, Any]:
    """The row of `physim roll --json`, as far as it is counted; pink first."""
    row = {
        "status": one.status.value,
        "outcome": one.outcome.value,
        "score": one.score,
        "touching": one.touching,
        "pigs": [
            {"name": pig.name, "pose": pig.pose.value, "rest": pig.rest} for pig in one.pigs[::-1]
        ],
    }
    return dict(json.loads(json.dumps(row)))


def nonzero(counts: Any) -> dict[Any, int]:
    return {key: count for key, count in counts.items() if count}


def test_what_is_counted_where() -> None:
    counts = Counts.from_rows(ROLLS)
    assert counts.rolls == 8
    assert nonzero(counts.poses) == {T: 4, UP: 3, OTHER: 1}
    assert counts.pigs == 8
    assert counts.rests == {
        ("black", 0): 1,
        ("black", 3): 2,
        ("black", 7): 1,
        ("pink", 0): 1,
        ("pink", 3): 2,
    }
    assert nonzero(counts.pairs) == {(UP, T): 2, (T, T): 1, (UP, OTHER): 1}
    assert len(counts.pairs) == 28
    assert counts.outcomes[Outcome.TROTTER] == 2
    assert sum(counts.outcomes.values()) == 8
    assert counts.touching == 2
    assert counts.scores == {5: 2, 20: 1, 0: 2, None: 3}
    assert nonzero(counts.statuses) == {Status.OK: 6, Status.OFF_TABLE: 1, Status.UNSETTLED: 1}


def test_rows_of_json_count_like_rolls() -> None:
    assert Counts.from_rows(map(as_row, ROLLS)) == Counts.from_rows(ROLLS)


@pytest.mark.parametrize("cut", range(9))
def test_parts_add_up_to_the_whole(cut: int) -> None:
    parts = Counts.from_rows(ROLLS[:cut]) + Counts.from_rows(ROLLS[cut:])
    assert parts == Counts.from_rows(ROLLS)
    assert Counts() + parts == parts == parts + Counts()


@pytest.mark.parametrize("form", ["list", "strings", "objects", "codes"])
def test_columns_in_every_form_count_like_rows(form: str) -> None:
    def column(kind: list[Any], members: list[Any]) -> Any:
        names = [member.value for member in members]
        codes = np.array([kind.index(member) for member in members], dtype=np.int8)
        return {
            "list": names,
            "strings": np.array(names),
            "objects": np.array(names, dtype=object),
            "codes": codes,
        }[form]

    def rests(pig: int) -> Any:
        return np.array([np.nan if x is None else x for x in (r.pigs[pig].rest for r in ROLLS)])

    counts = Counts.from_columns(
        status=column(list(Status), [r.status for r in ROLLS]),
        outcome=column(list(Outcome), [r.outcome for r in ROLLS]),
        score=[r.score for r in ROLLS],
        touching=np.array([r.touching for r in ROLLS]),
        black_pose=column(list(Pose), [r.pigs[0].pose for r in ROLLS]),
        pink_pose=column(list(Pose), [r.pigs[1].pose for r in ROLLS]),
        black_rest=rests(0),
        pink_rest=rests(1),
    )
    assert counts == Counts.from_rows(ROLLS)


def _columns(**changed: Any) -> dict[str, Any]:
    columns = {
        "status": ["ok"], "outcome": ["sider"], "score": [1], "touching": [False],
        "black_pose": ["side_dot_up"], "pink_pose": ["side_dot_up"],
        "black_rest": [0], "pink_rest": [0],
    }  # fmt: skip
    return {**columns, **changed}


@pytest.mark.parametrize(
    "changed",
    [
        {"status": ["fine"]},
        {"black_pose": [None]},
        {"pink_pose": np.array([7])},
        {"outcome": np.array([-1])},
        {"score": ["one"]},
        {"score": [1, 2]},
        {"touching": []},
    ],
)
def test_damaged_columns_are_refused(changed: dict[str, Any]) -> None:
    assert Counts.from_columns(**_columns()).rolls == 1
    with pytest.raises(DatasetError):
        Counts.from_columns(**_columns(**changed))


def test_damaged_rows_are_refused() -> None:
    row = as_row(ROLLS[0])
    with pytest.raises(DatasetError, match="touching"):
        Counts.from_rows([{key: row[key] for key in row if key != "touching"}])
    with pytest.raises(DatasetError, match="black and pink"):
        Counts.from_rows([{**row, "pigs": row["pigs"][:1]}])


def test_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Counts().rolls = 1  # type: ignore[misc]


def test_json_names() -> None:
    counts = Counts.from_rows(ROLLS)
    result = json.loads(json.dumps(to_json(counts, compare(counts, load_table("kern2006")))))
    assert list(result["poses"]) == [pose.value for pose in Pose]
    assert list(result["outcomes"]) == [outcome.value for outcome in Outcome]
    assert result["poses"]["trotter"]["count"] == 4
    assert result["poses"]["trotter"]["frequency"] == 0.5
    # Clopper-Pearson for 4 of 8, from printed tables.
    assert result["poses"]["trotter"]["low"] == pytest.approx(0.1570, abs=5e-5)
    assert result["poses"]["trotter"]["high"] == pytest.approx(0.8430, abs=5e-5)
    assert {key: cell["count"] for key, cell in result["rests"].items()} == {"0": 2, "3": 4, "7": 1}
    assert result["rests"]["3"]["frequency"] == 0.5
    assert result["scores"] == {"null": 3, "0": 2, "5": 2, "20": 1}
    against = result["against"]
    assert {"name", "tv", "g", "df", "p", "reference"} <= set(against)
    assert against["left_out"] == 1
    assert against["reference"]["snouter"]["count"] == 363


def test_rests_of_two_models_are_kept_apart() -> None:
    rests = to_json(Counts.from_rows(ROLLS), same_model=False)["rests"]
    assert {name: {key: cell["count"] for key, cell in rests[name].items()} for name in rests} == {
        "black": {"0": 1, "3": 2, "7": 1},
        "pink": {"0": 1, "3": 2},
    }
    assert rests["black"]["3"]["frequency"] == 0.5


@pytest.mark.parametrize("name", ["kern2006", "kern2006_pairs"])
@pytest.mark.parametrize("rolls", [[], ROLLS, ROLLS * 20_000])
def test_text_fits_a_terminal(name: str, rolls: list[Roll]) -> None:
    counts = Counts.from_rows(rolls[: len(ROLLS)])
    if len(rolls) > len(ROLLS):  # big numbers without counting them one by one
        for _ in range(17):
            counts += counts
    text = to_text(counts, compare(counts, load_table(name)))
    assert max(map(len, text.splitlines())) <= 80
    assert "nan" not in text
    for word in ("leaning_jowler", "unsettled", "ambiguous", "off_table", "oinker", name):
        assert word in text


def test_pigs_that_lie_as_no_rule_says_are_told_apart_by_their_rests() -> None:
    other = roll(OTHER, OTHER, Outcome.AMBIGUOUS, None, rests=(4, 9))
    counts = Counts.from_rows([other, other, roll(OTHER, T, Outcome.AMBIGUOUS, None, rests=(9, 3))])
    alike = to_text(counts).splitlines()
    start = next(k for k, line in enumerate(alike) if line.startswith("rest (see `physim model`)"))
    assert [line.split()[:3] for line in alike[start + 1 : start + 4]] == [
        ["9", "3", "50.00"],
        ["4", "2", "33.33"],
        ["3", "1", "16.67"],
    ]
    unlike = to_text(counts, same_model=False)
    assert "9 of pink" in unlike and "9 of black" in unlike and "66.67" in unlike
    assert "rest (see" not in to_text(Counts.from_rows([roll(UP, T, Outcome.TROTTER, 5)] * 60))

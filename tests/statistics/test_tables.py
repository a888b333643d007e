"""The reference tables, against the published numbers."""

from collections import Counter
from pathlib import Path

import pytest

from physim import config
from physim.errors import ConfigError
from physim.rules.score import score
from physim.statistics.counts import NAMED_PAIRS, pair_name
from physim.statistics.tables import load_table, pool_poses, table_folder, table_names
from physim.types import Pose

POOLED = {
    Pose.SIDE_DOT_DOWN: 4180,
    Pose.SIDE_DOT_UP: 3607,
    Pose.RAZORBACK: 2674,
    Pose.TROTTER: 1057,
    Pose.SNOUTER: 363,
    Pose.LEANING_JOWLER: 73,
}


def test_names_and_sources() -> None:
    assert table_names() == ["kern2006", "kern2006_pairs"]
    for name in table_names():
        table, about = load_table(name), config.load(table_folder() / f"{name}.yaml")
        assert table.name == name
        assert "Kern" in about["source"]
        assert about["method"]
        assert about["notes"]
        assert about["sample_size"] == table.sample_size == sum(table.counts.values())


def test_pooled_table() -> None:
    assert load_table("kern2006").counts == {pose.value: n for pose, n in POOLED.items()}


def test_the_pooled_table_follows_from_the_pairs() -> None:
    assert pool_poses(load_table("kern2006_pairs")) == POOLED
    assert pool_poses(load_table("kern2006")) == POOLED


def test_pairs_have_four_blocks_of_1500_rolls() -> None:
    blocks: Counter[tuple[float, int]] = Counter()
    touching: Counter[float] = Counter()
    for row in load_table("kern2006_pairs").rows:
        blocks[row.height_in, row.start_code] += row.rolls
        touching[row.height_in] += row.rolls if row.black is None else 0
    assert blocks == {(5, 0): 1500, (5, 1): 1500, (8, 0): 1500, (8, 2): 1500}
    assert touching == {5: 11, 8: 12}


def test_pair_cells() -> None:
    counts = load_table("kern2006_pairs").counts
    assert len(NAMED_PAIRS) == 21
    assert list(counts) == [*(pair_name(*pair) for pair in NAMED_PAIRS), "touching"]
    assert counts["touching"] == 23
    assert pair_name(Pose.RAZORBACK, Pose.TROTTER) == "trotter+razorback"
    assert pair_name(Pose.TROTTER, Pose.RAZORBACK) == "trotter+razorback"


def test_scores_of_the_6000_real_rolls() -> None:
    points: Counter[int | str | None] = Counter()
    for row in load_table("kern2006_pairs").rows:
        if row.black is None or row.pink is None:
            points["touching"] += row.rolls
        else:
            points[score(row.black, row.pink).score] += row.rolls
    expected = {
        "touching": 23, 0: 1279, 1: 1304, 5: 2337, 10: 508, 15: 171, 20: 373, 25: 2, 40: 2, 60: 1,
    }  # fmt: skip
    assert points == expected


def test_an_unknown_table_names_the_valid_ones() -> None:
    with pytest.raises(ConfigError, match=r"kern2007.*valid: kern2006, kern2006_pairs"):
        load_table("kern2007")


def test_a_csv_of_one_s_own_rolls_needs_no_start_code(tmp_path: Path) -> None:
    from physim.statistics.tables import read_pair_rows

    path = tmp_path / "counts.csv"
    path.write_text("height_in,black,pink,rolls\n5,trotter,razorback,4\n8,touching,touching,1\n")
    rows = read_pair_rows(path)
    assert [(row.height_in, row.rolls) for row in rows] == [(5.0, 4), (8.0, 1)]
    assert rows[1].black is None

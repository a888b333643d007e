from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from physim.calibrate.target import load_target
from physim.errors import ConfigError
from physim.resources import data_folder
from physim.statistics.pairs import NAMED_POSES
from physim.statistics.tables import load_table

CSV = data_folder("calibration") / "tables" / "kern2006_pairs.csv"


def test_the_real_rolls_are_those_of_both_tables() -> None:
    sample = load_target().sample
    assert sample.rolls == 6000 and sample.heights_mm == (127, 203)
    assert [sample.fate("touching", height) for height in (127, 203)] == [11, 12]
    pooled = load_table("kern2006").counts
    assert {pose.value: sample.poses()[pose] for pose in NAMED_POSES} == pooled


def test_a_file_of_counts_does_as_well(tmp_path: Path) -> None:
    assert load_target(CSV).sample == load_target().sample
    path = tmp_path / "few.csv"
    path.write_text("height_in,start_code,black,pink,rolls\n5,0,trotter,touching,2\n")
    with pytest.raises(ConfigError, match="must stand for both pigs"):
        load_target(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        load_target(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("", "counts no rolls"),
        ("5,0,trotter,trotter,0", "counts no rolls"),
        ("nan,0,trotter,trotter,2", "line 2: `height_in` must lie above 0"),
        ("inf,0,trotter,trotter,2", "line 2: `height_in` must lie above 0"),
        ("5,0,trotter,trotter,-3", "line 2: `rolls` must lie in"),
        (f"5,0,trotter,trotter,{'9' * 30}", "line 2: `rolls` must lie in"),
        ("5,0,trotter", "line 2: other than one entry a column"),
        ("5,0,trotter,trotter,2,7", "line 2: other than one entry a column"),
        ("5,0,trotter,horse,2", "line 2: 'horse' is not a valid Pose"),
        ("5,0,trotter,trotter,1", "fewer than two real rolls from 5 inches"),
    ],
)
def test_a_line_that_is_no_count_is_told(lines: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text(f"height_in,start_code,black,pink,rolls\n{lines}\n")
    with pytest.raises(ConfigError) as refusal:
        load_target(path, half=1)
    assert told in str(refusal.value)


def test_the_halves_have_no_roll_in_common_and_miss_none() -> None:
    one, two = load_target(half=1).sample, load_target(half=2).sample
    assert one + two == load_target().sample
    assert [half.fate("rolls", h) for half in (one, two) for h in (127, 203)] == [1500] * 2 + [
        1500
    ] * 2
    assert one == load_target(half=1).sample


def test_the_halves_are_two_samples_of_the_same() -> None:
    """Error rate: 1e-3, once: the split is fixed. Beside it 250 of 6,000 pigs turned over."""
    halves = [load_target(half=half).sample.poses() for half in (1, 2)]
    counts = np.array([[half[pose] for pose in NAMED_POSES] for half in halves])
    assert chi2_contingency(counts).pvalue > 1e-3
    moved = counts.copy()
    moved[1, 0] += 250
    moved[1, 1] -= 250
    assert chi2_contingency(moved).pvalue < 1e-3


def test_a_table_of_single_pigs_is_refused() -> None:
    with pytest.raises(ConfigError, match="counts single pigs"):
        load_target("kern2006")
    with pytest.raises(ConfigError, match="unknown table"):
        load_target("kern")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("5,touching,touching,10\n8,touching,touching,9\n", "counts no pigs from 127 mm"),
        ("5,trotter,razorback,3\n8,touching,touching,9\n", "counts no pigs from 203 mm"),
    ],
)
def test_a_table_without_poses_is_refused(tmp_path: Path, rows: str, told: str) -> None:
    path = tmp_path / "touch.csv"
    path.write_text("height_in,black,pink,rolls\n" + rows)
    with pytest.raises(ConfigError, match=told):
        load_target(path)


def test_a_height_of_no_rolls_is_none(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("height_in,black,pink,rolls\n5,trotter,razorback,3\n8,trotter,trotter,0\n")
    assert load_target(path).sample.heights_mm == (127,)


def test_a_spreadsheet_s_mark_of_utf_8_is_read_over(tmp_path: Path) -> None:
    path = tmp_path / "bom.csv"
    path.write_text("height_in,black,pink,rolls\n5,trotter,razorback,3\n", encoding="utf-8-sig")
    assert load_target(path).sample.rolls == 3

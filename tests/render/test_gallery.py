"""Contact sheets, and the rolls of a dataset seen again."""

from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy.spatial.transform import Rotation

import physim
from physim.calibrate.priors import setup
from physim.dataset.parquet import read_columns
from physim.dataset.run import run_batch
from physim.errors import DatasetError
from physim.render import gallery
from physim.render.gallery import GAP, TILE, Tile, contact_sheet
from physim.render.pictures import headline, title_of
from physim.render.replay import DatasetReplaySource, Replay, ReplaySource, differences, read_row
from physim.simulator import Setup, Simulator
from physim.types import PIG_NAMES, RigidState
from physim.validate.datasets import SetupPlan


def test_a_dataset_s_rolls_are_seen_at_rest_and_pass_through_their_rows(dataset: Path) -> None:
    """The rows are of fast rolls: they hold pigs that were certain, not at rest."""
    rows = pandas.read_parquet(dataset / "rolls").to_dict("records")
    assert len(rows) == 20
    with DatasetReplaySource(dataset) as source, Simulator(Setup.named(settle="full")) as simulator:
        for row in rows:
            replay = source.replay(row["index"])
            expected = simulator.roll(5, row["index"])
            assert headline(replay.roll).split(":")[0] == title_of(row["outcome"])
            for number, (name, pig) in enumerate(zip(PIG_NAMES, expected.pigs, strict=True)):
                shown = replay.at_rest()[number].state
                assert shown.position_m.tolist() == pig.position_m.tolist()
                assert shown.quat_xyzw.tolist() == pig.quat_xyzw.tolist()
                then = replay.recording.at(row[f"{name}_time_s"])[number]
                place = [row[f"{name}_{axis}"] for axis in ("x_m", "y_m", "z_m")]
                turn = [row[f"{name}_{axis}"] for axis in ("qx", "qy", "qz", "qw")]
                assert then.position_m.tolist() == place
                assert then.quat_xyzw.tolist() == turn
                assert replay.roll.pigs[number].pose.value == row[f"{name}_pose"]
                if not row["touching"] and row["status"] == "ok":
                    assert lies_as_named(shown, row[f"{name}_pose"])


def lies_as_named(state: RigidState, pose: str) -> bool:
    """What is seen of a pig, by its axes in the world and not by the classifier."""
    forward, left, up = Rotation.from_quat(state.quat_xyzw).as_matrix()[2].tolist()
    return {
        "side_dot_up": left < -0.7,  # the dot is on the right
        "side_dot_down": left > 0.7,
        "trotter": up > 0.9,
        "razorback": up < -0.6,
        "snouter": forward < -0.2 and up > 0.3,
        "leaning_jowler": forward < -0.2 and abs(left) > 0.3,
        "other": True,
    }[pose]


def test_a_row_with_another_bit_or_label_is_told(dataset: Path) -> None:
    with DatasetReplaySource(dataset) as source:
        replay = source.replay(2)
        row = read_row(dataset, source.manifest, 2)
        assert differences(replay, row) == []
        other = {**row, "pink_qx": float(np.nextafter(row["pink_qx"], 2.0)), "outcome": "oinker"}
        assert differences(replay, other) == ["outcome", "pink_qx"]


def test_rows_that_are_not_there_and_counts_are_refused(dataset: Path, tmp_path: Path) -> None:
    with (
        DatasetReplaySource(dataset) as source,
        pytest.raises(DatasetError, match=r"no roll 20 \(asked for: 0 to 19\)"),
    ):
        source.replay(20)
    physim.batch(4, tmp_path / "c", seed=5, workers=1, counts_only=True)
    with pytest.raises(DatasetError, match="counts only"):
        DatasetReplaySource(tmp_path / "c")


def test_a_dataset_without_a_roll_has_no_sheet(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes((dataset / "manifest.json").read_bytes())
    for sheet in (gallery.pose_sheet, gallery.outcome_sheet):
        with pytest.raises(DatasetError, match="holds no roll; run the same"):
            sheet(tmp_path)


def test_rolls_of_a_validation_are_seen_where_names_make_its_setup(tmp_path: Path) -> None:
    """Its datasets are of setups, not of named batches."""
    named, unnamed = Setup.named(), setup(Setup.named(), {"friction": 0.3})
    for name, thrown in (("named", named), ("unnamed", unnamed)):
        run_batch(SetupPlan.make("main", thrown, seed=7, rolls=2), tmp_path / name, workers=1)
    with DatasetReplaySource(tmp_path / "named") as source:
        assert source.replay(1).roll.index == 1
    with pytest.raises(DatasetError, match="a setup that no names make again"):
        DatasetReplaySource(tmp_path / "unnamed")
    manifest = tmp_path / "named" / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"label"', '"lable"'))
    with pytest.raises(DatasetError, match="a setup that no names make again"):
        DatasetReplaySource(tmp_path / "named")


def test_sheets_of_a_dataset(dataset: Path) -> None:
    told: list[tuple[int, int]] = []
    poses = gallery.pose_sheet(dataset, lambda done, total: told.append((done, total)))
    assert told[-1] == (6, 6)
    assert poses.size[0] == 3 * (TILE[0] + GAP) + GAP
    outcomes = gallery.outcome_sheet(dataset)
    kinds = len(set(read_columns(dataset, ["outcome"])["outcome"]))
    assert outcomes.size[1] > -(-kinds // 3) * TILE[1]
    for image in (poses, outcomes):
        assert len(set(image.convert("L").tobytes())) > 60


def test_the_rests_of_a_model_and_rolls_in_a_row(source: ReplaySource) -> None:
    rests = gallery.rest_sheet("standard")
    rolls = gallery.rolls_sheet(source, 0, 2)
    assert rests.size[0] == 3 * (TILE[0] + GAP) + GAP
    assert rolls.size[0] == 2 * (TILE[0] + GAP) + GAP


def test_what_did_not_occur_is_said(replay: Replay) -> None:
    empty = contact_sheet("t", [Tile("a", "b", ())])
    full = contact_sheet("t", [Tile("a", "b", tuple(replay.at_rest()))])
    assert empty.tobytes() != full.tobytes()

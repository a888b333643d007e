"""The contact sheet of a dataset whose rows hold pigs that were certain, not at rest."""

from pathlib import Path

import physim
from physim.batch.manifest import read_manifest
from physim.roll import Setup, Simulator
from physim.view.poses import _at_rest, pose_sheet


def test_a_sheet_shows_the_rolls_of_its_dataset_at_rest(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    physim.batch(12, folder, seed=5, workers=1)
    image = pose_sheet(folder)
    assert min(image.size) > 300 and len(set(image.convert("L").tobytes())) > 20
    pig = _at_rest(read_manifest(folder), 3, "pink")
    with Simulator(Setup.named(settle="full")) as simulator:
        expected = simulator.roll(5, 3).pigs[1]
    assert pig.state.position_m.tolist() == expected.position_m.tolist()
    assert pig.state.quat_xyzw.tolist() == expected.quat_xyzw.tolist()

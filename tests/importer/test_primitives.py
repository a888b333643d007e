"""Shapes of known answer, from a file to rolls."""

from __future__ import annotations

from pathlib import Path

import manifold3d as m3
import numpy as np
import pytest
from scipy.stats import chisquare

from physim.dataset.parquet import read_counts
from physim.dataset.plan import BatchPlan
from physim.dataset.run import run_batch
from physim.importer.build import Options, import_mesh
from physim.importer.folder import write_folder
from physim.pigs.model import load_all
from physim.simulator import RestTable
from physim.statistics.counts import NAMED_POSES, Counts
from physim.types import Outcome, Pose
from tests.importer import made

# Square faces of steel boxes x by 1 by 1, thrown by students: share and throws. F. Budden's counts
# of 1980, as given in note 97.16, Mathematical Gazette 97, March 2013, table 1.
THROWN = {0.63: (0.738, 840), 0.97: (0.385, 530), 1.23: (0.154, 532), 1.60: (0.017, 702)}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def rolled(solid: m3.Manifold, folder: Path, n: int, toss: str) -> tuple[Path, Counts]:
    """The model of a solid, and what came of its rolls."""
    folder.mkdir()
    file = made.write(folder / "a.stl", made.mesh_of(solid))
    write_folder(import_mesh(file, Options(unit="mm")), folder / "model", "primitive")
    run_batch(BatchPlan(n=n, seed=5, model=str(folder / "model"), toss=toss), folder / "rolls")
    return folder / "model", read_counts(folder / "rolls")


def rests(counts: Counts, number: int) -> np.ndarray:
    """(number,) pigs in each stable rest, both pigs together."""
    found = np.zeros(number)
    for (_, index), count in counts.rests.items():
        found[index] += count
    return found


def test_a_ball_has_none_of_the_six_poses(tmp_path: Path) -> None:
    ball = m3.Manifold.sphere(15.0, 32)
    _, counts = rolled(ball, tmp_path / "ball", 20, "hand")
    assert sum(counts.poses[pose] for pose in NAMED_POSES) == 0
    beside = (Outcome.UNSETTLED, Outcome.AMBIGUOUS, Outcome.OFF_TABLE, Outcome.OINKER)
    assert sum(counts.outcomes[outcome] for outcome in beside) == counts.rolls == 20
    assert counts.poses[Pose.OTHER] == counts.pigs


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_cube_shows_each_face_one_time_in_six(tmp_path: Path) -> None:
    cube = m3.Manifold.cube((20.0, 20.0, 20.0), True)
    _, counts = rolled(cube, tmp_path / "cube", 1500, "trapdoor")
    assert chisquare(rests(counts, 6)).pvalue > 0.01


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("ratio", THROWN)
def test_boxes_come_near_those_that_were_thrown(ratio: float, tmp_path: Path) -> None:
    """Within 5 points, with the pig's friction and restitution; quasi-statics miss by up to 23."""
    box = m3.Manifold.cube((16.0 * ratio, 16.0, 16.0), True)
    model, counts = rolled(box, tmp_path / "box", 1000, "hand")
    named = RestTable.of(load_all(model).model).rests
    square = [abs(one.rest.down[0]) > 0.9 for one in named]
    found = rests(counts, len(named))
    assert found[square].sum() / found.sum() == pytest.approx(THROWN[ratio][0], abs=0.05)

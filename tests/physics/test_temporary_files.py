"""The engine's temporary files may be removed by others, and there may be no place for them."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from physim.dataset.plan import BatchPlan
from physim.errors import ConfigError
from physim.physics.engine import make_shape, make_shape_of
from physim.simulator import Simulator
from physim.types import PigModel

PLAN = BatchPlan(n=1, toss="hand")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where they are."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_removed_files_are_written_again_and_the_rolls_stay_the_same(place: Path) -> None:
    with Simulator(PLAN.setup()) as simulator:
        rolls = [simulator.roll(5, index) for index in range(12)]
    with Simulator(PLAN.setup()) as simulator:
        removed = 0
        for index, roll in enumerate(rolls):
            assert repr(simulator.roll(5, index)) == repr(roll)
            for folder in place.iterdir():
                removed += 1
                shutil.rmtree(folder)
        assert removed > 2
    assert not list(place.iterdir())


def test_a_place_that_is_gone_or_full_is_told(
    place: Path, standard: PigModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [part.vertices_m for part in standard.parts]
    with pytest.raises(ConfigError, match=r"physim-.*no_parts\.obj.*TMPDIR"):
        make_shape_of(0, place / "physim-x" / "no_parts.obj")

    def full(*given: object, **how: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(ConfigError, match=r"TMPDIR .*No space"):
        patch.setattr(Path, "write_text", full)
        make_shape(0, parts)
    place.rmdir()
    with (
        pytest.raises(ConfigError, match=r"temporary files.*No such file.*TMPDIR"),
        Simulator(PLAN.setup()) as simulator,
    ):
        for index in range(12):
            simulator.roll(5, index)

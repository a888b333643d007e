"""The engine's temporary files may be removed by others, and there may be no place for them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from physim.config import HAS_PYBULLET
from physim.dataset.plan import BatchPlan
from physim.errors import ConfigError
from physim.physics import engine
from physim.simulator import Simulator
from physim.types import PigModel

PLAN = BatchPlan(n=1, toss="hand")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where they are."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_no_file_stays_while_pigs_are_rolled(place: Path) -> None:
    with Simulator(PLAN.setup()) as simulator:
        for index in range(12):
            simulator.roll(5, index)
            assert not list(place.iterdir())


@pytest.mark.skipif(not HAS_PYBULLET, reason="needs PyBullet")
def test_a_place_that_is_gone_or_full_is_told(
    place: Path, standard: PigModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = engine.obj_text([part.vertices_m for part in standard.parts])
    with monkeypatch.context() as patch, pytest.raises(ConfigError, match=r"physim-.*obj.*TMPDIR"):
        patch.setattr(engine, "write_passing", lambda path, _: path)  # somebody has removed it
        engine.make_shape(0, parts)

    def full(*given: object, **how: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(ConfigError, match=r"TMPDIR .*No space"):
        patch.setattr(Path, "write_text", full)
        engine.make_shape(0, parts)
    place.rmdir()
    with (
        pytest.raises(ConfigError, match=r"temporary files.*No such file.*TMPDIR"),
        Simulator(PLAN.setup()) as simulator,
    ):
        for index in range(12):
            simulator.roll(5, index)

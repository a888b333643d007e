from __future__ import annotations

from pathlib import Path

import pytest

from tests.terminal.commands import Desk


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Desk:
    return Desk(tmp_path, monkeypatch, capfd)

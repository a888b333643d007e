"""Pictures are drawn with settings of their own, whatever the user's are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from physim.errors import ConfigError
from physim.figures import drawn

pytest.importorskip("matplotlib")

DRAW = """
import sys
from pathlib import Path
from physim.figures import drawn
with drawn(Path("a.png"), 3, 2) as figure:
    figure.subplots(1, 1).set_title("$x$")
"""


def test_odd_settings_change_nothing(tmp_path: Path) -> None:
    """One of them in the folder, one in a variable; and no place to keep anything."""
    pictures = []
    odd = {"MPLBACKEND": "nonsense", "HOME": "/dev/null/x", "MPLCONFIGDIR": "/dev/null/y"}
    for name, variables in (("plain", {}), ("odd", odd)):
        folder = tmp_path / name
        folder.mkdir()
        if variables:
            (folder / "matplotlibrc").write_text(
                "text.usetex: True\nfigure.dpi: abc\nfigure.facecolor: red\nnonsense: 1\n"
            )
        run = subprocess.run(
            [sys.executable, "-c", DRAW],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
        pictures.append((folder / "a.png").read_bytes())
    assert pictures[0] == pictures[1]


def test_settings_of_the_caller_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib

    monkeypatch.setitem(matplotlib.rcParams, "font.size", 31.0)
    monkeypatch.setenv("MPLBACKEND", "svg")
    with drawn(tmp_path / "a.pdf", 3, 2):
        assert matplotlib.rcParams["font.size"] == 10.0
    assert matplotlib.rcParams["font.size"] == 31.0 and os.environ["MPLBACKEND"] == "svg"
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


def test_a_picture_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigError, match=r"a\.png: cannot be written \(No such file"),
        drawn(tmp_path / "gone" / "a.png", 3, 2),
    ):
        pass

"""The fork server: it loads what its parent would load, and nothing that forking could break."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from physim.batch import processes

ROOT = Path(processes.__file__).resolve().parents[2]

SCRIPT = """
import sys
import physim
assert physim.batch(6, seed=1, workers=2).counts == physim.batch(6, seed=1, workers=1).counts
"""

PRELOADED = """
import os, sys
import physim.batch.preload
print(sorted({"numba", "scipy", "pybullet", "trimesh", "pyarrow"} & {*sys.modules}))
print(len(os.listdir("/proc/self/task")))
import scipy.spatial
"""


def run(code: str, folder: Path) -> str:
    return subprocess.run(
        [sys.executable, str(script_in(folder.parent, code))],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def script_in(folder: Path, code: str) -> Path:
    script = folder / "script.py"
    script.write_text(code)
    return script


def test_workers_take_no_module_from_the_current_folder(tmp_path: Path) -> None:
    here = tmp_path / "here"
    (here / "physim").mkdir(parents=True)
    for name in ("physim/__init__.py", "numba.py", "numpy.py", "socket.py"):
        (here / name).write_text("from pathlib import Path\nPath('taken').write_text(__name__)\n")
    run(SCRIPT, here)
    assert not (here / "taken").exists(), (here / "taken").read_text()


@pytest.mark.skipif(not processes.FORKS, reason="no fork server here")
def test_the_server_loads_the_engine_but_no_threads_and_no_scipy(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    loaded, threads = run(PRELOADED, tmp_path / "here").splitlines()
    assert "pybullet" in loaded and "scipy" not in loaded and "trimesh" not in loaded
    assert threads == "1"


def test_the_environment_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    with processes._same_path():
        assert os.environ["PYTHONSAFEPATH"] == "1"
        assert os.environ["PYTHONPATH"] == os.pathsep.join(sys.path)
    assert "PYTHONSAFEPATH" not in os.environ
    assert os.environ["PYTHONPATH"] == "/somewhere"

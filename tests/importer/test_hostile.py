"""Broken and hostile files: a clear message or a right result."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from physim.errors import ModelError
from physim.importer.build import Options, PreparedMesh, RefusedMeshError, import_mesh, prepare
from physim.importer.child import ChildError, run_limited
from tests.importer import hostile


def outcome(path: Path) -> PreparedMesh:
    """What `prepare` gives; one that is refused is raised."""
    try:
        made = prepare(path, Options())
    except MemoryError:  # as `run_limited` tells it
        raise ChildError(f"{path}: needs more memory") from None
    if any(not problem.solved for problem in made.problems):
        raise RefusedMeshError(str(path), made.problems)
    return made


def written(folder: Path, case: tuple[str, hostile.Maker]) -> Path:
    path = folder / case[0]
    path.write_bytes(case[1]())
    return path


@pytest.mark.parametrize("kind", hostile.REFUSED)
def test_a_file_that_is_of_no_use_gets_one_message_with_its_name(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path, hostile.REFUSED[kind])
    with pytest.raises(ModelError) as caught:
        outcome(path)
    text = str(caught.value)
    assert path.name in text
    assert "Traceback" not in text
    assert len(text) < 600


@pytest.mark.parametrize("kind", hostile.FINE)
def test_a_file_that_can_be_mended_becomes_a_solid(kind: str, tmp_path: Path) -> None:
    made = outcome(written(tmp_path, hostile.FINE[kind]))
    a, b, c = (made.vertices_mm[made.faces[:, k]] for k in range(3))
    volume = float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)
    box = 40.0 * 20 * 30
    ball = 4 / 3 * np.pi * 20**3
    expected = {
        "mixed_winding": ball,
        "small_hole": ball,
        "100000_faces": ball,
        "30_overlapping_bodies": (40 + 29 * 1.7) * 20 * 30,
        "a_cavity": box * (1 - 1 / 8),
    }.get(kind, box)
    assert volume == pytest.approx(expected, rel=0.012)  # the balls have flat faces


def test_there_are_at_least_forty_kinds() -> None:
    assert len(hostile.REFUSED) + len(hostile.FINE) >= 40


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.stl").mkdir()
    for path in (tmp_path / "a.stl", tmp_path / "b.stl"):
        with pytest.raises(ModelError):
            prepare(path, Options())


def loop_for_ever() -> None:
    while True:
        pass


def take_memory() -> int:
    return len(bytearray(1 << 40))


def crash() -> None:
    import ctypes

    ctypes.string_at(0)


@pytest.mark.parametrize(
    ("task", "message"),
    [(loop_for_ever, "longer"), (take_memory, "memory"), (crash, "crashed")],
)
def test_a_child_that_hangs_grows_or_crashes_is_an_error(task: object, message: str) -> None:
    start = time.monotonic()
    with pytest.raises(ChildError, match=message):
        run_limited(task, time_s=2, doing="trying")  # type: ignore[arg-type]
    assert time.monotonic() - start < 60


LIMITED = """
import resource
from physim.errors import ModelError
from physim.importer.child import run_limited
space, seconds = 1_900_000_000, 25
resource.setrlimit(resource.RLIMIT_AS, (space, space))
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
for which in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_CORE):
    print(*run_limited(resource.getrlimit, which, time_s=30, doing="trying"))
try:
    run_limited(bytearray, space + 10_000_000, time_s=30, doing="trying")
except ModelError as error:
    print(error)
"""


def test_limits_of_the_user_s_own_hold_and_are_named() -> None:
    """Case 122: the smaller of both; what is over it blames no file."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, check=True
    )
    space, seconds, core, message = done.stdout.splitlines()
    assert (space, seconds, core) == ("1900000000 1900000000", "25 25", "0 0")
    assert "ulimit -v" in message and "1811 MB" in message and "raise" in message


@pytest.mark.slow
@pytest.mark.parametrize("kind", hostile.REFUSED)
def test_the_same_in_a_child_process(kind: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        import_mesh(written(tmp_path, hostile.REFUSED[kind]), Options())

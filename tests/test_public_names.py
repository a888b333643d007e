"""`import physim`: the public names, and that they cost nothing before they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import physim

SCRIPT_WITHOUT_GUARD = "import physim\nprint(physim.batch(6, seed=2, workers=2).counts.rolls)\n"


def run_python(code: str) -> str:
    run = subprocess.run(
        [sys.executable, "-"], input=code, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_every_public_name_is_there() -> None:
    for name in physim.__all__:
        assert getattr(physim, name) is not None
    with pytest.raises(AttributeError, match="no attribute `pigsty`"):
        _ = physim.pigsty  # type: ignore[attr-defined]


def test_functions_stay_functions_when_their_modules_are_imported() -> None:
    import physim.dataset.run
    import physim.simulator

    assert callable(physim.roll) and callable(physim.batch)


def test_scores_need_neither_physics_nor_meshes() -> None:
    code = (
        "import sys\n"
        "for name in ('pybullet', 'trimesh', 'pyarrow', 'scipy'): sys.modules[name] = None\n"
        "import physim, physim.cli.main\n"
        "print(physim.score('trotter', 'snouter').score)\n"
    )
    assert run_python(code) == "15\n"


def test_a_roll_is_fixed_by_seed_and_index() -> None:
    one, two = physim.roll(5, 1), physim.roll(seed=5, index=1)
    assert one.pigs[0].position_m.tolist() == two.pigs[0].position_m.tolist()
    assert (one.seed, one.index) == (5, 1)


def test_a_script_without_a_main_guard_can_use_workers() -> None:
    assert run_python(SCRIPT_WITHOUT_GUARD) == "6\n"

"""Every example runs and prints what it promises."""

import subprocess
import sys
from pathlib import Path

import pytest

from physim.config import HAS_PYBULLET

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("roll_and_score.py", (), ("black:", "pink:", "margin")),
        ("compare_surfaces.py", ("6",), ("laminate", "felt", "interval")),
        ("cost_of_rolls.py", ("2",), ("workers", "corners", "335", "1536")),
        ("many_workers.py", ("40", "5", "0", "8"), ("workers", "counts", "us a roll")),
        (
            "time_of_a_roll.py",
            ("3", "compiled"),
            ("physics", "meetings", "naming", "rolls a second"),
        ),
        pytest.param(
            "research/do_the_pigs_differ.py",
            (),
            ("two models gain", "pink: the two heights", "p = 0.62"),
            marks=pytest.mark.slow,
        ),
        ("what_the_rolls_tell.py", (), ("identified", "weakly identified", "ear_tip_y_mm")),
        pytest.param(
            "big_pigs.py",
            ("1", "1"),
            ("| Big Pigs |", "combination 1", "air drag", "least of"),
            marks=pytest.mark.skipif(not HAS_PYBULLET, reason="needs PyBullet"),
        ),
    ],
)
def test_example(name: str, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    for word in words:
        assert word in run.stdout


def test_no_example_is_left_out() -> None:
    names = {path.name for path in EXAMPLES.glob("*.py")}
    assert names == {
        "roll_and_score.py",
        "compare_surfaces.py",
        "cost_of_rolls.py",
        "many_workers.py",
        "time_of_a_roll.py",
        "big_pigs.py",
        "what_the_rolls_tell.py",
    }
    assert {path.name for path in (EXAMPLES / "research").glob("*.py")} == {
        "castings.py",
        "do_the_pigs_differ.py",
        "fisher_information.py",
        "fit.py",
    }

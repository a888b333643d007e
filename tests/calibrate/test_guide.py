"""The example of docs/calibration.md runs, and its commands have the options that it names."""

from __future__ import annotations

import re
from pathlib import Path

from physim.cli.calibrate import calibrate

GUIDE = (Path(__file__).parents[2] / "docs" / "calibration.md").read_text(encoding="utf-8")


def test_the_example_runs() -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```", GUIDE, re.M | re.S)
    names: dict[str, object] = {}
    exec(example.replace("count=100", "count=8"), names)
    assert names["sample"].rolls == 8  # type: ignore[attr-defined]


def test_every_option_that_is_named_is_one() -> None:
    known = {name for option in calibrate.params for name in option.opts}
    text = re.sub(r"physim batch[^\n]*", "", GUIDE)
    named = set(re.findall(r"(?<!-)--[a-z][a-z-]*", text))
    assert named and named <= known

"""What Python code may pass, and that everything else is a PhysimError."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import physim
from physim import config, errors
from physim.dataset.plan import BatchPlan
from physim.dataset.run import run_batch
from physim.errors import ConfigError, PhysimError
from physim.pigs.model_file import model_folder
from physim.simulator import Setup

LONG = "a" * 5000


@pytest.mark.parametrize(
    "call",
    [
        *(lambda s=s: physim.roll(s) for s in ("x", 1.5, None, True, -1, 10**5000, [])),
        *(lambda i=i: physim.roll(1, i) for i in ("x", 1.5, None, True, -1)),
        *(lambda m=m: physim.roll(1, model=m) for m in (None, 5, [], b"standard", LONG, "", "a\0")),
        *(lambda m=m: physim.roll(1, black=m) for m in (5, [], "", Path("nowhere"))),
        *(lambda t=t: physim.roll(1, toss=t) for t in (None, 5, [], "", LONG)),
        *(lambda s=s: physim.roll(1, surface=s) for s in (5, [], "", "mud")),
        *(lambda h=h: physim.roll(1, height_mm=h) for h in ("x", [], True, 10**400, np.nan)),
        *(lambda t=t: physim.roll(1, time_step_s=t) for t in ("x", [], True, 0, -1, np.inf)),
        *(lambda s=s: physim.roll(1, settle=s) for s in ("x", None, 5, [])),
        *(lambda n=n: physim.batch(n) for n in ("2", 1.5, True, 0, None)),
        *(lambda w=w: physim.batch(1, workers=w) for w in ("2", 1.5, True, 0)),
        *(lambda o=o: physim.batch(1, out=o) for o in (5, "a\0b", "", b"d", [])),
        *(lambda c=c: physim.batch(1, chunk_size=c) for c in ("2", 1.5, True, 0)),
        lambda: physim.batch(1, progress=5),
        lambda: Setup.named(settings=5),
        lambda: Setup.named(toss=None),
        lambda: Setup.named(height_mm="x"),
        lambda: Setup.named(surface=""),
    ],
)
def test_what_cannot_be_used_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(PhysimError) as refusal:
        call()
    assert len(str(refusal.value)) < 500


def test_what_stands_for_the_same_is_the_same(tmp_path: Path) -> None:
    odd = BatchPlan(
        n=np.int64(3),  # type: ignore[arg-type]
        seed=np.uint8(4),  # type: ignore[arg-type]
        model=Path(model_folder("standard")),
        height_mm=np.float32(100),  # type: ignore[arg-type]
        time_step_s=np.float64(1 / 1024),
        chunk_size=np.int16(2),  # type: ignore[arg-type]
    )
    plain = BatchPlan(
        n=3,
        seed=4,
        model=str(model_folder("standard")),
        height_mm=100.0,
        time_step_s=1 / 1024,
        chunk_size=2,
    )
    assert odd == plain and json.dumps(odd.names()) == json.dumps(plain.names())
    kinds = {name: type(value) for name, value in vars(odd).items()}
    assert kinds == {name: type(value) for name, value in vars(plain).items()}
    assert run_batch(odd, tmp_path, workers=np.int8(1)).counts.rolls == 3  # type: ignore[arg-type]


def test_a_roll_takes_the_options_of_the_command_line() -> None:
    full = physim.roll(np.int64(5), 0, time_step_s=1 / 1024)  # type: ignore[arg-type]
    fast = physim.roll(5, 0, time_step_s=1 / 1024, settle="fast")
    assert type(full.seed) is int
    assert fast.time_s <= full.time_s and fast.outcome is full.outcome
    assert full.time_s != physim.roll(5, 0).time_s


@pytest.mark.parametrize(
    "value", [LONG, [LONG] * 999, 10**5000, {LONG: LONG}, b"a" * 9999], ids=type
)
def test_values_are_repeated_in_short(value: Any) -> None:
    assert len(errors.shown(value)) < 400


@pytest.mark.parametrize(
    ("name", "found"), [("trapdor", "trapdoor"), ("xyz", ""), ("", ""), ("*" * 9999, "")]
)
def test_only_near_names_are_suggested(name: str, found: str) -> None:
    wanted = f"; did you mean `{found}`?" if found else ""
    assert errors.hint(name, ("trapdoor", "hand", "drop")) == wanted


def test_paths_are_texts_too() -> None:
    assert config.text("model", Path("a/b")) == "a/b"
    with pytest.raises(ConfigError, match="must not be empty"):
        config.path("out", " ")

"""A validation end to end, on drawn rolls: which samples it asks for, and what it says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from physim.cli import validate as command
from physim.errors import ConfigError, DatasetError
from physim.poses import classify
from physim.simulator import Setup
from physim.statistics.counts import total
from physim.statistics.tables import load_table, real_by_height
from physim.validate import validation
from physim.validate.checks import plot_validation
from physim.validate.datasets import Folder, Request, plan
from physim.validate.validation import (
    GROUPS,
    Validation,
    provenance,
    to_json,
    to_text,
    validate,
)
from tests.validate import drawn
from tests.validate.drawn import Drawn

REAL = real_by_height(load_table("kern2006_pairs").rows)
SURFACES = ("surface_wood", "surface_glass", "surface_cloth", "surface_felt", "surface_floor")


@pytest.fixture(scope="module")
def request_() -> Request:
    return Request(Setup.named(), seed=50, rolls=100_000, fewer_rolls=2_000)


def failed(result: Validation) -> set[str]:
    return {check.name for check in result.checks if check.ok is False}


@pytest.fixture(scope="module")
def right(request_: Request) -> Validation:
    return validate(request_, REAL, Drawn())


def test_a_right_model_passes(right: Validation) -> None:
    assert failed(right) == set()
    assert right.passed
    assert {check.name.split(".")[0] for check in right.checks} == (
        set(GROUPS) - {"surfaces"} | {"surface"}
    )


def test_the_samples_and_their_seeds(request_: Request) -> None:
    source = Drawn()
    validate(request_, REAL, source)
    assert set(source.asked) == {
        "main", "half_step", "finer_solver", "full_settle", "other_engine", "hand",
        *SURFACES,
    }  # fmt: skip
    main, half, solver, full, hand = (
        source.asked[name] for name in ("main", "half_step", "finer_solver", "full_settle", "hand")
    )
    seeds = [asked.seed for name, asked in source.asked.items() if name != "full_settle"]
    assert len(set(seeds)) == len(seeds) and min(seeds) == main.seed == full.seed == 50
    assert max(seeds) - 50 <= command.SEEDS
    assert {main.n, half.n, solver.n} == {100_000} and {full.n, hand.n} == {2_000}
    here = main.setup()
    assert (here.settle, full.setup().settle) == ("fast", "full")
    assert full.setup() == replace(here, settle="full")
    finer = half.setup().settings
    assert finer.time_step_s == here.settings.time_step_s / 2
    assert finer.check_interval_s == here.settings.check_interval_s
    iterations = solver.setup().settings
    assert iterations.solver_iterations == 2 * here.settings.solver_iterations
    assert iterations.solver_tolerance_m_s < here.settings.solver_tolerance_m_s
    assert iterations.time_step_s == here.settings.time_step_s
    other = source.asked["other_engine"].setup().settings
    assert {here.settings.engine, other.engine} == {"pybullet", "compiled"}
    assert type(hand.setup().toss).__name__ == "Hand"
    assert source.asked["surface_felt"].setup().table.surface.name == "felt"
    configurations = [json.dumps(asked.configuration()) for asked in source.asked.values()]
    assert len(set(configurations)) == len(configurations)


def test_what_is_wrong_is_found_where_it_is(request_: Request) -> None:
    shifted = drawn.moved(0.02, "side_dot_down", "side_dot_up")
    assert failed(validate(request_, REAL, Drawn(main=shifted, full_settle=shifted))) == {
        "poses.tv", "poses.side_dot_up", "poses.side_dot_down", "poses.g", "pairs.g",
        "height.203.tv", "step.tv", "solver.tv", "engine.tv",
    }  # fmt: skip
    assert failed(validate(request_, REAL, Drawn(half_step=shifted))) == {"step.tv"}
    assert failed(validate(request_, REAL, Drawn(finer_solver=shifted))) == {"solver.tv"}
    assert failed(validate(request_, REAL, Drawn(other_engine=shifted))) == {"engine.tv"}
    assert failed(validate(request_, REAL, Drawn(full_settle=shifted))) == {
        "settle.differing_rolls"
    }


def test_only_some_checks_need_only_their_samples(request_: Request, right: Validation) -> None:
    source = Drawn()
    told: list[str] = []
    result = validate(request_, REAL, source, only=["hand", "pairs"], say=told.append)
    assert list(source.asked) == ["main", "hand"]
    assert told == [
        "sample 1 of 2: main, 100,000 rolls of seed 50",
        "sample 2 of 2: hand, 2,000 rolls of seed 53",
    ]
    assert validate(request_, REAL, Drawn(), only=["hand"]).passed is None
    groups = [check.name.split(".")[0] for check in result.checks]
    assert list(dict.fromkeys(groups)) == ["pairs", "hand"]
    # The same answers, whatever else is asked.
    assert result.checks[0] == next(check for check in right.checks if check.name == "pairs.g")


def test_a_group_that_nothing_checks_is_told(
    request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match=r"unknown group of checks `pose`.*poses"):
        validate(request_, REAL, Drawn(), only=["poses", "pose"])
    monkeypatch.setattr(validation, "GROUPS", (*GROUPS, "ears"))
    with pytest.raises(NotImplementedError, match="`ears`"):
        validate(request_, REAL, Drawn(), only=["ears"])


def test_a_small_sample_is_told_what_the_limits_suit(request_: Request, right: Validation) -> None:
    assert "limits suit" not in to_text(right)
    small = validate(replace(request_, rolls=2_000), REAL, Drawn(), only=["poses"])
    assert "suit 100,000 rolls and 6,000 real ones: with 2,000 and 6,000 chance" in to_text(small)


def test_json_is_plain_and_complete(right: Validation) -> None:
    plain = json.loads(json.dumps(to_json(right), allow_nan=False))
    assert plain["passed"] is True
    assert {"name", "value", "limit", "p", "ok"} <= set(plain["checks"][0])
    main = plain["samples"]["main"]
    assert main["seed"] == 50 and main["rolls"] == 100_000
    cell = main["heights"]["203"]["by_pig"]["pink"]["razorback"]
    assert cell["low"] < cell["frequency"] < cell["high"]
    assert plain["real"]["poses"]["leaning_jowler"]["count"] == 73
    assert plain["real"]["heights"]["127"]["touching"]["count"] == 11
    assert set(plain["samples"]) == {
        "main", "half_step", "finer_solver", "full_settle", "other_engine", "hand",
        *SURFACES,
    }  # fmt: skip


def test_the_constants_in_force_are_told(
    request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = provenance(request_.setup)
    monkeypatch.setattr(classify, "LYING_DEG", 54.0)
    after = provenance(request_.setup)
    assert before["classifier"] != after["classifier"]
    assert after["classifier"]["constants"]["lying_deg"] == 54.0
    assert after["tolerances"] == before["tolerances"]
    criterion = replace(request_.setup.criterion, window_s=0.05)
    changed = provenance(replace(request_.setup, criterion=criterion))
    assert changed["rest_criterion"]["constants"]["window_s"] == 0.05


def test_the_text_says_what_failed(request_: Request, right: Validation) -> None:
    text = to_text(right)
    assert "checks passed\n" in text + "\n" and " NO" not in text
    assert max(map(len, (line for line in text.splitlines() if "likely" not in line))) <= 90
    wrong = validate(
        request_, REAL, Drawn(main=drawn.swapped("trotter", "snouter")), only=["poses"]
    )
    assert "failed: poses.tv, poses.trotter, poses.snouter, poses.g" in to_text(wrong)


def test_a_toss_from_elsewhere_is_refused(request_: Request) -> None:
    for toss, height_mm in (("drop", None), ("trapdoor", 127.0), ("hand", None)):
        elsewhere = replace(request_, setup=Setup.named(toss=toss, height_mm=height_mm))
        with pytest.raises(ConfigError, match="127 and 203 mm"):
            validate(elsewhere, REAL, Drawn())


def test_a_toss_from_one_height_stands_beside_real_rolls_from_there(
    tmp_path: Path, request_: Request
) -> None:
    drop = replace(request_, setup=Setup.named(toss="drop"), rolls=20)
    source = Folder(tmp_path, workers=1, stream=None)
    found = validate(drop, {0.15: total(REAL)}, source, only=["poses", "height"])
    assert {"poses.tv", "height.150.tv"} <= {check.name for check in found.checks}
    assert found.rolls["main"].by_height()[0.15].rolls == 20


def test_the_picture_is_written(tmp_path: Path, right: Validation) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "validation.png"
    plot_validation(right.rolls["main"].by_height(), REAL, path)
    assert path.read_bytes()[1:4] == b"PNG"


def test_the_command_offers_these_checks() -> None:
    assert command.GROUPS == GROUPS


def test_rolls_are_kept_and_those_of_another_setup_refused(
    tmp_path: Path, request_: Request
) -> None:
    """Physics, a few rolls of it."""
    small = replace(request_, rolls=6)
    made = Folder(tmp_path, 1, None)(plan("main", small))
    assert made.n == 6 and sum(counts.rolls for counts in made.by_height().values()) == 6
    part = next((tmp_path / "main" / "rolls").glob("*.parquet"))
    before = part.stat().st_mtime_ns
    again = Folder(tmp_path, 1, None)(plan("main", small))
    assert (again.columns["black_pose"] == made.columns["black_pose"]).all()
    assert part.stat().st_mtime_ns == before
    other = replace(small, setup=Setup.named(surface="felt"))
    with pytest.raises(DatasetError, match="another configuration"):
        Folder(tmp_path, 1, None)(plan("main", other))

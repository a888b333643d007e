"""Slopes and information, against a made-up simulator whose slopes are known."""

from __future__ import annotations

import json
import runpy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray

from physim.calibrate.priors import Parameter
from physim.errors import ConfigError
from physim.simulator import Setup
from physim.statistics.tables import load_table, real_by_height
from physim.validate.checks import plot_sensitivity
from physim.validate.datasets import Rolls, SetupPlan
from physim.validate.sensitivity import (
    RESPONSES,
    Sensitivity,
    Varied,
    sensitivity,
    to_json,
    to_text,
)
from tests.validate import drawn

SCRIPT = Path(__file__).parents[2] / "examples" / "research" / "fisher_information.py"
research = runpy.run_path(str(SCRIPT))
fisher_information = research["fisher_information"]
IDENTIFIED, UNRESOLVED = research["IDENTIFIED"], research["UNRESOLVED"]
WEAKLY_IDENTIFIED = research["WEAKLY_IDENTIFIED"]
REAL = real_by_height(load_table("kern2006_pairs").rows)

# Change of the six frequencies for 1 unit of each parameter. `half` does half of what `twin` does;
# `idle` does nothing.
EFFECT = {
    "one": np.array([0.02, -0.02, 0.0, 0.0, 0.0, 0.0]),
    "twin": np.array([0.01, -0.01, 0.0, 0.0, 0.0, 0.0]),
    "half": np.array([0.005, -0.005, 0.0, 0.0, 0.0, 0.0]),
    "other": np.array([0.0, 0.0, 0.01, -0.015, 0.005, 0.0]),
    "idle": np.zeros(6),
}
TOUCHING = {"other": 0.001}
SCALE = 2.0  # units a prior standard deviation


class Made:
    """Setups whose time step stands for the values, rolls drawn from frequencies linear in them."""

    def __init__(self, values: Mapping[str, float] | None = None) -> None:
        self.values = dict(values or {})
        self.known: dict[float, dict[str, float]] = {}

    def change(self, base: Setup, moved: Mapping[str, float]) -> Setup:
        cap_s = 10.0 + len(self.known)
        self.known[cap_s] = {**self.values, **moved}
        return replace(base, criterion=replace(base.criterion, cap_s=cap_s))

    def source(self, plan: SetupPlan) -> Rolls:
        values = self.known[plan.setup().criterion.cap_s]
        shares = drawn.REAL + sum(
            (value * EFFECT[name] for name, value in values.items()), np.zeros(6)
        )
        touching = 0.01 + sum(value * TOUCHING.get(name, 0.0) for name, value in values.items())
        # Both heights alike, but for twice the effect of `one` from the upper one.
        upper = shares + values.get("one", 0.0) * EFFECT["one"]
        return drawn.rolls(plan.n, plan.seed, (shares, upper), touching=touching)


def varied(*names: str, by: float = 1.0) -> list[Varied]:
    return [Varied(name, "mm", 0.0, -by, by, SCALE) for name in names]


def found(*names: str, rolls: int = 20_000, seed: int = 1) -> Sensitivity:
    made = Made()
    return sensitivity(
        Setup.named(), varied(*names), made.source, made.change, seed=seed, rolls=rolls
    )


def test_known_slopes_are_recovered() -> None:
    """Fails a right estimate with probability 1e-3 or so, whatever the seed."""
    got = found("one", "other", "idle")
    for row, name in enumerate(("one", "other", "idle")):
        for slopes, factor in ((got.heights[0.127], 1.0), (got.heights[0.203], 2.0)):
            wanted = SCALE * EFFECT[name] * (factor if name == "one" else 1.0)
            off = np.abs(slopes.slope[row, :6] - wanted)
            assert (off <= 4.5 * slopes.error[row, :6] + 1e-12).all(), name
        assert got.pooled.slope[row, 6] == pytest.approx(
            SCALE * TOUCHING.get(name, 0.0), abs=4.5 * got.pooled.error[row, 6] + 1e-12
        )
    assert (got.pooled.slope[2] == 0).all()  # the same random numbers: not one roll differs
    assert (got.pooled.error[2] == 0).all()
    assert got.pooled.frequency[:6] == pytest.approx(drawn.REAL, abs=0.012)


def test_the_standard_errors_are_right_and_common_numbers_make_them_small() -> None:
    slopes: list[NDArray[np.float64]] = []
    errors: list[NDArray[np.float64]] = []
    for seed in range(60):
        got = found("one", "other", rolls=1_000, seed=seed)
        slopes.append(got.pooled.slope)
        errors.append(got.pooled.error)
    spread = np.std(slopes, axis=0, ddof=1)
    told = np.sqrt(np.mean(np.square(errors), axis=0))
    # The spread of 60 has a relative standard error of 9 %.
    for row, column in ((0, 0), (0, 1), (1, 2), (1, 3), (1, 4), (1, 6)):
        assert spread[row, column] == pytest.approx(told[row, column], rel=0.4)
    # Independent samples of 2,000 pigs would have this error.
    apart = SCALE / 2.0 * np.sqrt(2 * drawn.REAL * (1 - drawn.REAL) / 2_000)
    assert (told[0, :2] < 0.6 * apart[:2]).all()


def test_the_table_tells_a_sum_and_not_its_parts() -> None:
    first, second = fisher_information(found("twin", "half"), REAL).combinations
    assert (first.verdict, second.verdict) == (IDENTIFIED, WEAKLY_IDENTIFIED)
    assert first.weights == pytest.approx([2 / np.sqrt(5), 1 / np.sqrt(5)], abs=0.05)
    assert abs(second.eigenvalue) <= max(1e-9, 2 * second.noise)


def test_two_heights_tell_what_one_could_not() -> None:
    """`one` does twice as much from the upper height, `twin` the same from both."""
    got = found("one", "twin")
    assert {each.verdict for each in fisher_information(got, REAL).combinations} == {IDENTIFIED}
    lower = replace(got, heights={0.127: got.heights[0.127]})
    known = fisher_information(lower, {0.127: REAL[0.127]})
    assert [each.verdict for each in known.combinations] == [IDENTIFIED, WEAKLY_IDENTIFIED]


def test_the_information_is_that_of_the_multinomial() -> None:
    """By hand: sum over heights and poses of n slope^2 / f, and of touching."""
    got = fisher_information(found("other"), REAL)
    slope = SCALE * EFFECT["other"]
    pigs = sum(sum(counts.pose_cells().values()) for counts in REAL.values())
    by_hand = float((slope**2 / drawn.REAL).sum()) * pigs
    by_hand += (SCALE * TOUCHING["other"]) ** 2 / (0.01 * 0.99) * 6_000
    assert got.matrix[0, 0] == pytest.approx(by_hand, rel=0.25)
    assert got.posterior_sd[0] == pytest.approx(1 / np.sqrt(1 + got.matrix[0, 0]))


def test_what_does_nothing_is_not_told() -> None:
    known = fisher_information(found("one", "idle"), REAL)
    last = known.combinations[-1]
    assert last.verdict == WEAKLY_IDENTIFIED
    assert abs(float(last.weights[1])) > 0.999
    assert known.posterior_sd[1] == pytest.approx(1.0)
    assert known.posterior_sd[0] < 0.5


def test_too_few_rolls_leave_a_direction_open() -> None:
    """Independent random numbers: noise alone looks like information, and is not taken for it."""

    class Apart(Made):
        def source(self, plan: SetupPlan) -> Rolls:
            return super().source(replace(plan, seed=crc32(plan.label.encode())))

    made = Apart()
    got = sensitivity(Setup.named(), varied("idle"), made.source, made.change, seed=1, rolls=400)
    (only,) = fisher_information(got, REAL).combinations
    assert only.noise > 10
    assert only.verdict == UNRESOLVED


def test_each_parameter_is_moved_alone_and_within_its_bounds() -> None:
    at_bound = Parameter("x", "mm", 0.0, 1.0, 0.5, 0.4, "a made-up one")
    assert Varied.of(at_bound, 0.5, 0.5) == Varied("x", "mm", 0.5, 0.3, 0.7, 0.4)
    assert Varied.of(at_bound, 0.0, 0.5) == Varied("x", "mm", 0.0, 0.0, 0.2, 0.4)
    with pytest.raises(ConfigError, match="outside its bounds"):
        Varied.of(at_bound, 1.5, 0.5)
    made = Made()
    told: list[str] = []
    sensitivity(
        Setup.named(),
        varied("one", "other"),
        made.source,
        made.change,
        fitted={"idle": 3.0, "one": 9.0},
        seed=1,
        rolls=100,
        say=told.append,
    )
    assert list(made.known.values()) == [
        {"idle": 3.0, "one": 9.0},
        {"idle": 3.0, "one": -1.0},
        {"idle": 3.0, "one": 1.0},
        {"idle": 3.0, "one": 9.0, "other": -1.0},
        {"idle": 3.0, "one": 9.0, "other": 1.0},
    ]
    assert len(told) == 5 and told[1] == "sample 2 of 5: one.low, -1 mm"


def test_json_text_and_heat_map(tmp_path: Path) -> None:
    got = found("one", "other", rolls=2_000)
    known = fisher_information(got, REAL)
    plain = json.loads(json.dumps(to_json(got), allow_nan=False))
    assert list(plain["pooled"]["slopes"]["one"]) == list(RESPONSES)
    assert set(plain["heights"]) == {"127", "203"}
    assert "one (+2 mm)" in to_text(got)
    told = "\n".join(research["lines"](known, ["one", "other"]))
    assert told.count(IDENTIFIED) == 2 and "+1.00 one" in told
    pytest.importorskip("matplotlib")
    path = tmp_path / "map.png"
    labels = [parameter.label for parameter in got.parameters]
    plot_sensitivity(labels, got.pooled.slope, got.pooled.error, path)
    assert path.read_bytes()[1:4] == b"PNG"

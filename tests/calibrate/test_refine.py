"""Estimates that move to where all samples point, and are rolled there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from physim.calibrate.checkpoint import FILE_NAME, read_checkpoint
from physim.calibrate.earlier import earlier_samples
from physim.calibrate.emulator import Emulator
from physim.calibrate.fit import SURFACE, Fit, Problem, run
from physim.calibrate.fit_plan import FitPlan
from physim.calibrate.posterior import Density, Observed, density_about, spreads
from physim.calibrate.waves import optimum_of, refine
from physim.errors import ConfigError, DatasetError
from tests.calibrate.made_up import NAMES, TRUTH, MadeUp, at_prior, problem, real_rolls


@dataclass
class Told:
    """Lines that were told."""

    lines: list[str]

    def __call__(self, line: str) -> None:
        self.lines.append(line)


def given(rolls: int = 100) -> Problem:
    return problem(real_rolls(), generations=1, rolls=rolls, method=SURFACE)


def refined(folder: Path, count: int, rolls: MadeUp | None = None, tell: Told | None = None) -> Fit:
    folder.mkdir(exist_ok=True)
    rolls = rolls or MadeUp()
    fit = run(given(), rolls, folder, at_prior)
    return refine(given(), rolls, folder, fit, count, tell=tell)


def far(fit: Fit) -> float:
    return max(abs(fit.values[name] - TRUTH[name]) for name in NAMES)


def test_the_optimum_is_where_the_counts_are_met() -> None:
    """One parameter, log-odds .2 + x with no doubt, and a weak prior about 0."""
    coefficients = np.array([[0.2], [1.0], [0.0], [0.0], [0.0], [0.0], [0.0]])
    emulator = Emulator(np.zeros((1, 1)), coefficients, np.zeros((7, 7)), np.ones((3, 1)))
    counts = np.array([[50_000, 100_000], [50_000, 100_000]])
    observed = Observed(emulator, np.array([-0.5, 0.5]), counts)
    density = Density([observed], np.zeros(1), np.full(1, -2.5), np.full(1, 2.5))
    assert optimum_of(density) == pytest.approx(np.log(2.0) - 0.2, abs=1e-3)
    cut = Density([observed], np.zeros(1), np.full(1, -2.5), np.full(1, 0.1))
    assert optimum_of(cut) == pytest.approx(0.1, abs=1e-3)


def test_it_moves_to_a_likelier_place_and_keeps_every_estimate(tmp_path: Path) -> None:
    told = Told([])
    before = refined(tmp_path / "fit", 0)
    after = refined(tmp_path / "fit", 2, tell=told)
    kept = read_checkpoint(tmp_path / "fit")
    assert kept is not None and len(kept.refined) == 2 and len(told.lines) == 2
    assert [values for values, _ in kept.estimates()] == [
        before.values,
        kept.refined[0]["values"],
        after.values,
    ]
    assert len({str(sample.to_json()) for _, sample in kept.estimates()}) == 3
    density = density_about(given(), after)
    there = given().space.to_unit
    at = [(there(v) - there(after.values)) / spreads(given().space) for v in (before.values,)]
    log = density.log(np.array([*at, np.zeros(3)]))
    assert log[1] > log[0]
    assert far(after) < 0.35
    assert after.distance.tv < 0.02


def test_it_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    whole = refined(tmp_path / "whole", 2)
    with pytest.raises(KeyboardInterrupt):
        refined(tmp_path / "stopped", 2, MadeUp(stop_before=3))  # one generation, two estimates
    kept = read_checkpoint(tmp_path / "stopped")
    assert kept is not None and len(kept.refined) == 1
    again = MadeUp()
    assert refined(tmp_path / "stopped", 2, again).values == whole.values
    assert again.calls == 1
    files = [(tmp_path / name / FILE_NAME).read_bytes() for name in ("whole", "stopped")]
    assert files[0] == files[1]


def test_what_was_rolled_with_other_numbers_is_kept(tmp_path: Path) -> None:
    first = refined(tmp_path / "fit", 1)
    more = problem(real_rolls(), generations=2, rolls=100, method=SURFACE)
    fit = run(more, MadeUp(), tmp_path / "fit", at_prior)
    assert fit.estimates()[0][0] != first.estimates()[0][0]
    rolls = MadeUp()
    again = refined(tmp_path / "fit", 1, rolls)
    assert rolls.calls == 0 and again.values == first.values
    kept = read_checkpoint(tmp_path / "fit")
    assert kept is not None and len(kept.others) == 1


def test_where_there_is_no_pig_it_goes_less_far(tmp_path: Path) -> None:
    before = refined(tmp_path / "fit", 0)
    free = refined(tmp_path / "free", 1)
    name = max(NAMES, key=lambda one: abs(free.values[one] - before.values[one]))
    way = free.values[name] - before.values[name]
    border = before.values[name] + 0.6 * way

    def refuses(values: object) -> str:
        assert isinstance(values, dict)
        return "no pig" if (values[name] - border) * way > 0 else ""

    kept = read_checkpoint(tmp_path / "fit")
    assert kept is not None
    after = refine(given(), MadeUp(refuses=refuses), tmp_path / "fit", before, 1)
    assert after.values[name] == pytest.approx(before.values[name] + 0.5 * way, abs=0.003)


def test_where_there_is_no_pig_at_all_it_stays(tmp_path: Path) -> None:
    before, told = refined(tmp_path / "fit", 0), Told([])
    after = refine(
        given(), MadeUp(refuses=lambda values: "no"), tmp_path / "fit", before, 1, tell=told
    )
    assert after is before and "no pig" in told.lines[0]


def test_other_fits_get_the_refined_samples_too(tmp_path: Path) -> None:
    refined(tmp_path / "fit", 2)
    earlier, _ = earlier_samples([tmp_path / "fit"], given(), TRUTH)
    assert len(earlier) == 32 + 3


def test_refinements_are_of_use_to_surfaces_alone() -> None:
    with pytest.raises(
        ConfigError, match="refinements and waves are of use to the method `surface` alone"
    ):
        FitPlan(refinements=1).problem  # noqa: B018


def test_fewer_of_them_are_the_fit_of_that_number(tmp_path: Path) -> None:
    refined(tmp_path / "fit", 3)
    cut, fresh = refined(tmp_path / "fit", 1), refined(tmp_path / "fresh", 1)
    assert cut.values == fresh.values and cut.refinements == 1
    assert [values for values, _ in cut.estimates()] == [v for v, _ in fresh.estimates()]
    x = np.random.default_rng(1).normal(scale=0.3, size=(5, 3))
    logs = [density_about(given(), fit).log(x) for fit in (cut, fresh)]
    assert logs[0] == pytest.approx(logs[1], abs=1e-9)
    kept = read_checkpoint(tmp_path / "fit")
    assert kept is not None and len(kept.refined) == 3


def test_fewer_generations_draw_from_their_own_samples_alone(tmp_path: Path) -> None:
    (tmp_path / "fit").mkdir()
    more = problem(real_rolls(), generations=3, rolls=100, method=SURFACE)
    run(more, MadeUp(), tmp_path / "fit", at_prior)
    cut, fresh = refined(tmp_path / "fit", 1), refined(tmp_path / "fresh", 1)
    assert cut.values == fresh.values
    assert len(cut.candidates()) == len(fresh.candidates()) == 32


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"lead": 1e9}, "an estimate: `lead` out of its bounds"),
        ({"lead": None}, "an estimate: `lead` is no number"),
        ({"lead": "0.5"}, "an estimate: `lead` is no number"),
        ({"other": 1.0}, "an estimate of other parameters"),
    ],
)
def test_damaged_refinements_are_refused(tmp_path: Path, damage: object, message: str) -> None:
    refined(tmp_path / "fit", 1)
    path = tmp_path / "fit" / FILE_NAME
    data = json.loads(path.read_text())
    data["refined"][0]["values"].update(damage)
    path.write_text(json.dumps(data))
    with pytest.raises(DatasetError, match=message):
        refined(tmp_path / "fit", 1)


@pytest.mark.parametrize("damage", [{"rolls": None}, {"generations": "2"}])
def test_damaged_estimates_are_refused(tmp_path: Path, damage: dict[str, object]) -> None:
    refined(tmp_path / "fit", 0)
    path = tmp_path / "fit" / FILE_NAME
    data = json.loads(path.read_text())
    for key, value in damage.items():
        if value is None:
            del data["final"][key]
        else:
            data["final"][key] = value
    path.write_text(json.dumps(data))
    with pytest.raises(DatasetError, match="no usable checkpoint"):
        read_checkpoint(tmp_path / "fit")


def test_a_start_beyond_the_bounds_is_gone_on_from(tmp_path: Path) -> None:
    (tmp_path / "fit").mkdir()
    far = {"lead": 2.5, "bounce": 0.0, "lean": 0.0}
    run(given(), MadeUp(), tmp_path / "fit", lambda: far)
    rolls = MadeUp()
    run(given(), rolls, tmp_path / "fit", lambda: far)
    assert rolls.calls == 0

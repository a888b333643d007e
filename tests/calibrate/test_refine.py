"""Estimates that move to where all samples point, and are rolled there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from physim.calibrate.checkpoint import FILE_NAME, read_checkpoint
from physim.calibrate.emulator import Emulator
from physim.calibrate.fit import Fit, Tell, run
from physim.calibrate.posterior import LogPosterior, Observed
from physim.calibrate.priors import Values
from physim.calibrate.problem import SURFACE, FitProblem
from physim.errors import ConfigError, DatasetError
from tests.calibrate.made_up import NAMES, START, TRUTH, MadeUp, problem, real_rolls


def given(refinements: int = 0, generations: int = 1) -> FitProblem:
    return problem(
        real_rolls(),
        generations=generations,
        rolls=100,
        method=SURFACE,
        refinements=refinements,
    )


def refined(folder: Path, count: int, rolls: MadeUp | None = None, tell: Tell | None = None) -> Fit:
    folder.mkdir(exist_ok=True)
    return run(given(count), rolls or MadeUp(), folder, tell=tell)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The checkpoint of a fit that was refined once."""
    folder = tmp_path_factory.mktemp("fits") / "whole"
    refined(folder, 1)
    return (folder / FILE_NAME).read_text()


def far(fit: Fit) -> float:
    return max(abs(fit.values[name] - TRUTH[name]) for name in NAMES)


def test_the_optimum_is_where_the_counts_are_met() -> None:
    """One parameter, log-odds .2 + x without uncertainty, and a weak prior about 0."""
    coefficients = np.array([[0.2], [1.0], [0.0], [0.0], [0.0], [0.0], [0.0]])
    emulator = Emulator(np.zeros((1, 1)), coefficients, np.zeros((7, 7)), np.ones((3, 1)))
    counts = np.array([[50_000, 100_000], [50_000, 100_000]])
    observed = Observed(emulator, np.array([-0.5, 0.5]), counts)
    density = LogPosterior([observed], np.zeros(1), np.full(1, -2.5), np.full(1, 2.5))
    assert density.optimum() == pytest.approx(np.log(2.0) - 0.2, abs=1e-3)
    cut = LogPosterior([observed], np.zeros(1), np.full(1, -2.5), np.full(1, 0.1))
    assert cut.optimum() == pytest.approx(0.1, abs=1e-3)


def test_it_moves_to_a_likelier_place_and_keeps_every_estimate(tmp_path: Path) -> None:
    told: list[str] = []
    before = refined(tmp_path / "fit", 0)
    after = refined(tmp_path / "fit", 2, tell=told.append)
    assert [line.split(":")[0] for line in told[1:]] == ["refinement 1", "refinement 2"]
    kept = read_checkpoint(tmp_path / "fit")
    assert kept is not None and list(kept.evaluations())[-3:] == list(after.estimates)
    assert after.estimates[0].point == before.estimates[0].point
    assert len({str(one.sample) for one in after.estimates}) == 3
    there, space = given().space.to_unit, given().space
    density = after.log_posterior(given())
    log = density(np.array([(there(before.values) - there(after.values)) / space.spreads, [0] * 3]))
    assert log[1] > log[0]
    assert far(after) < 0.35
    assert after.distance.tv < 0.02


def test_it_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    whole = refined(tmp_path / "whole", 2)
    with pytest.raises(KeyboardInterrupt):
        refined(tmp_path / "stopped", 2, MadeUp(stop_before=3))  # one generation, two estimates
    kept = read_checkpoint(tmp_path / "stopped")
    assert kept is not None and len(kept.steps) == 3
    again = MadeUp()
    assert refined(tmp_path / "stopped", 2, again).values == whole.values
    assert again.calls == 1
    files = [(tmp_path / name / FILE_NAME).read_bytes() for name in ("whole", "stopped")]
    assert files[0] == files[1]


def test_what_was_rolled_with_other_numbers_is_kept(tmp_path: Path) -> None:
    first = refined(tmp_path / "fit", 1)
    fit = run(given(0, generations=2), MadeUp(), tmp_path / "fit")
    assert fit.values != first.values
    rolls = MadeUp()
    again = refined(tmp_path / "fit", 1, rolls)
    assert rolls.calls == 0 and again.values == first.values


def test_where_there_is_no_pig_it_goes_less_far(tmp_path: Path) -> None:
    before = refined(tmp_path / "fit", 0)
    free = refined(tmp_path / "free", 1)
    name = max(NAMES, key=lambda one: abs(free.values[one] - before.values[one]))
    way = free.values[name] - before.values[name]
    border = before.values[name] + 0.6 * way

    def refuses(values: Values) -> str:
        return "no pig" if (values[name] - border) * way > 0 else ""

    after = refined(tmp_path / "fit", 1, MadeUp(refuses=refuses))
    assert after.values[name] == pytest.approx(before.values[name] + 0.5 * way, abs=0.003)


def test_where_there_is_no_pig_at_all_it_stays(tmp_path: Path) -> None:
    before, told = refined(tmp_path / "fit", 0), list[str]()
    after = refined(tmp_path / "fit", 1, MadeUp(refuses=lambda values: "no"), told.append)
    assert after.values == before.values and "no pig" in told[-1]


def test_refinements_are_of_use_to_surfaces_alone() -> None:
    with pytest.raises(
        ConfigError, match="refinements and waves are of use to the method `surface` alone"
    ):
        FitProblem.named(refinements=1)


def test_fewer_of_them_are_the_fit_of_that_number(tmp_path: Path) -> None:
    refined(tmp_path / "fit", 3)
    cut, fresh = refined(tmp_path / "fit", 1), refined(tmp_path / "fresh", 1)
    assert cut.values == fresh.values and len(cut.estimates) == 2
    assert cut.estimates == fresh.estimates
    x = np.random.default_rng(1).normal(scale=0.3, size=(5, 3))
    logs = [fit.log_posterior(given())(x) for fit in (cut, fresh)]
    assert logs[0] == pytest.approx(logs[1], abs=1e-9)


def test_fewer_generations_draw_from_their_own_samples_alone(tmp_path: Path) -> None:
    (tmp_path / "fit").mkdir()
    run(given(0, generations=3), MadeUp(), tmp_path / "fit")
    cut, fresh = refined(tmp_path / "fit", 1), refined(tmp_path / "fresh", 1)
    assert cut.values == fresh.values
    assert len(cut.searched) == len(fresh.searched) == 32


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"point": [1e9, 0.5, 0.5]}, "none of the unit cube"),
        ({"point": [None, 0.5, 0.5]}, "a point must be a finite number"),
        ({"point": ["0.5", 0.5, 0.5]}, "a point must be a finite number"),
        ({"point": [0.5]}, "none of the unit cube"),
        ({"loss": None}, "a loss must be a finite number"),
        ({"sample": {}}, "a sample from other heights"),
    ],
)
def test_damaged_estimates_are_refused(
    whole: str, tmp_path: Path, damage: object, message: str
) -> None:
    data = json.loads(whole)
    data["steps"]["estimate 1 after 1 generations, 40000 rolls"][0].update(damage)
    (tmp_path / FILE_NAME).write_text(json.dumps(data))
    with pytest.raises(DatasetError, match=f"no usable checkpoint .*{message}"):
        read_checkpoint(tmp_path)


def test_a_start_beyond_the_bounds_is_gone_on_from(tmp_path: Path) -> None:
    asked = replace(given(), start=START | {"lead": 2.5})
    run(asked, MadeUp(), tmp_path)
    rolls = MadeUp()
    run(asked, rolls, tmp_path)
    assert rolls.calls == 0

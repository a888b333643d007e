"""The rolls that are made for checks: datasets in a folder, each of one setup.

A run that was stopped goes on where it was; a setup that changed since is refused.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from physim.calibrate.priors import read_fit, read_origin
from physim.calibrate.target import heights_m, real_rows
from physim.config import ENGINES, FULL
from physim.dataset.parquet import read_columns
from physim.dataset.plan import BatchPlan
from physim.dataset.progress import ProgressLine
from physim.dataset.run import run_batch
from physim.errors import ConfigError
from physim.figures import need_plots
from physim.files import told, write_whole
from physim.physics.surfaces import surface_names
from physim.physics.surfaces import table as table_named
from physim.simulator import Setup
from physim.statistics.counts import COUNTED, Counts
from physim.statistics.tables import real_by_height
from physim.tosses.release import TossModel
from physim.tosses.release import toss as toss_named
from physim.types import ExactValue
from physim.validate import SEEDS

MAIN, HALF_STEP, SOLVER, SETTLE, HAND = "main", "half_step", "finer_solver", "full_settle", "hand"
OTHER_ENGINE = "other_engine"
_SURFACE = "surface_"
_TOLERANCE_FACTOR = 0.1
_NEAR_M = 1.5e-3  # 8 inches are 203.2 mm; the rig's height is known to no more than that


@dataclass(frozen=True)
class SetupPlan(BatchPlan):
    """A batch of a setup that need not have a name; it has a label, for readers of the manifest."""

    label: str = ""
    of: Setup | None = None

    @classmethod
    def make(cls, label: str, setup: Setup, *, seed: int, rolls: int) -> SetupPlan:
        """The rolls 0 to `rolls` - 1 of a seed."""
        return cls(n=rolls, seed=seed, settle=setup.settle, label=label, of=setup)

    def names(self) -> dict[str, Any]:
        setup = self.setup()
        return {
            "label": self.label,
            "model": setup.black.name,
            "black": setup.black.name,
            "pink": setup.pink.name,
            "toss": type(setup.toss).__name__.lower(),
            "surface": setup.table.surface.name,
            "settle": self.settle,
            "engine": setup.settings.engine,
        }

    def setup(self) -> Setup:
        assert self.of is not None
        return replace(self.of, settle=self.settle)

    @property
    def heights_m(self) -> tuple[float, ...]:
        """Of release, in the order in which they alternate."""
        return heights_m(self.setup().toss)


@dataclass(frozen=True, eq=False)
class Rolls(ExactValue):
    """The rolls of a sample, from index 0 on.

    Attributes:
        columns: name to (n,) array: `index` and those that are counted.
        heights_m: of release; a roll has the one at its index, in turn.
    """

    columns: Mapping[str, NDArray[Any]]
    heights_m: tuple[float, ...] = ()

    @property
    def n(self) -> int:
        return len(self.columns["index"])

    @cached_property
    def counts(self) -> Counts:
        """All of them."""
        return self._of(np.arange(self.n))

    def from_height(self, which: int) -> NDArray[np.intp]:
        """The rows of the rolls from `heights_m[which]`."""
        return np.flatnonzero(self.columns["index"] % len(self.heights_m) == which)

    def by_height(self) -> dict[float, Counts]:
        """By height of release [m], the lowest first."""
        return {
            height_m: self._of(self.from_height(which))
            for which, height_m in sorted(enumerate(self.heights_m), key=itemgetter(1))
        }

    def _of(self, rows: NDArray[np.intp]) -> Counts:
        return Counts.from_columns(**{name: self.columns[name][rows] for name in COUNTED})


Source = Callable[[SetupPlan], Rolls]
"""Makes the rolls of a plan, or finds them."""


@dataclass(frozen=True)
class Folder:
    """A source of rolls: datasets in the sub-folders of one folder, named by their labels.

    Attributes:
        out: the folder.
        workers: processes; None for one a core.
        stream: where progress is told.
    """

    out: Path
    workers: int | None
    stream: TextIO | None

    def __call__(self, plan: SetupPlan) -> Rolls:
        folder, line = self.out / plan.label, ProgressLine(self.stream)
        try:
            run_batch(plan, folder, workers=self.workers, progress=line)
        finally:
            line.close()
        return Rolls(read_columns(folder, ("index", *COUNTED)), plan.heights_m)


@dataclass(frozen=True)
class Request:
    """What is to be validated: `rolls` of the main sample and of those that converge to it.

    The seed is that of the main sample; others use the `SEEDS` that follow, independent of it.
    """

    setup: Setup
    seed: int
    rolls: int
    fewer_rolls: int


def surface_samples(request: Request) -> tuple[str, ...]:
    """A sample for each named surface but the one of the setup."""
    here = request.setup.table.surface.name
    return tuple(f"{_SURFACE}{name}" for name in surface_names() if name != here)


def plan(name: str, request: Request) -> SetupPlan:
    """The rolls of a sample."""
    setup, settings = request.setup, request.setup.settings
    rolls, after = request.fewer_rolls, 0
    if name in (MAIN, HALF_STEP, SOLVER):
        rolls, after = request.rolls, (MAIN, HALF_STEP, SOLVER).index(name)
    if name == OTHER_ENGINE:
        rolls, after = request.rolls, SEEDS - 1
        other = next(engine for engine in ENGINES if engine != settings.engine)
        setup = replace(setup, settings=replace(settings, engine=other))
    if name == HALF_STEP:  # looked at equally often
        steps = settings.steps_per_check * 2
        finer = replace(settings, time_step_s=settings.time_step_s / 2, steps_per_check=steps)
        setup = replace(setup, settings=finer)
    elif name == SOLVER:  # with the same tolerance most steps would end as early as before
        tolerance = settings.solver_tolerance_m_s * _TOLERANCE_FACTOR
        iterations = settings.solver_iterations * 2
        finer = replace(settings, solver_iterations=iterations, solver_tolerance_m_s=tolerance)
        setup = replace(setup, settings=finer)
    elif name == SETTLE:  # with the seed of the main sample: compared roll by roll
        setup = replace(setup, settle=FULL)
    elif name == HAND:
        setup, after = replace(setup, toss=toss_named("hand")), 3
    elif name.startswith(_SURFACE):
        surface = name.removeprefix(_SURFACE)
        table = replace(setup.table, surface=table_named(surface).surface)
        setup, after = replace(setup, table=table), 4 + list(surface_names()).index(surface)
    return SetupPlan.make(name, setup, seed=request.seed + after, rolls=rolls)


def check_heights(toss: TossModel, real: Mapping[float, Counts]) -> None:
    """Refuses a toss that is not released from the heights of the real rolls, in turn."""
    ours, theirs = sorted(heights_m(toss)), sorted(real)
    if len(ours) != len(theirs) or not np.allclose(ours, theirs, rtol=0.0, atol=_NEAR_M):
        found, wanted = (
            " and ".join(f"{1e3 * height:.0f}" for height in each) for each in (ours, theirs)
        )
        raise ConfigError(
            f"the toss is from {found} mm, the real rolls from {wanted} mm; take a toss with the "
            "same heights"
        )


class FitReview:
    """What `physim validate` and `physim sensitivity` have in common.

    Attributes:
        names: of the setup; model and toss that are not given are those that the fit set out from.
        values: parameters of the fit, in place of the model's and the toss's; none without one.
        real: the real rolls, by height of release [m].
        source: makes the rolls.
        request: all that was asked for, as plain values.
    """

    def __init__(
        self,
        out: Path,
        *,
        fit: Path | None,
        table: str,
        half: str | None,
        workers: int | None,
        no_plot: bool,
        **names: Any,
    ) -> None:
        """Writes nothing yet; raises `ConfigError` for what cannot be used."""
        if not no_plot:
            need_plots()
        origin, self.fit_seed, self.values = {"model": "standard", "toss": "trapdoor"}, None, {}
        if fit is not None:
            found, self.fit_seed = read_origin(fit)
            origin, self.values = origin | found, read_fit(fit)
        self.names = {**names, **{key: names.get(key) or name for key, name in origin.items()}}
        self.real = real_by_height(real_rows(table, None if half is None else int(half)))
        self.source = Folder(out / "rolls", workers, sys.stderr)
        self.request: dict[str, Any] = {
            **self.names,
            **{"fit": None if fit is None else str(fit), "table": table, "half": half},
        }
        self._out, self._no_plot = out, no_plot

    def write(self, name: str, plain: dict[str, Any], plot: Callable[[Path], None]) -> None:
        """Writes a result, each file whole or not at all, and its picture.

        Raises:
            ConfigError: one cannot be written.
        """
        path = self._out / f"{name}.json"
        with told(ConfigError, f"{path}: cannot be written", "choose another --out"):
            write_whole(path, (json.dumps(plain, indent=1, allow_nan=False) + "\n").encode())
        if not self._no_plot:
            plot(path.with_suffix(".png"))

"""The rolls that are made for checks: datasets in a folder, each of one setup.

A run that was stopped goes on where it was; a setup that changed since is refused.

The samples that a validation rolls: the shipped setup, and what is changed about it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from physim.dataset.folder import read_columns
from physim.dataset.plan import BatchPlan
from physim.dataset.progress import ProgressLine
from physim.dataset.rows import COUNTED
from physim.dataset.run import run_batch
from physim.errors import ConfigError
from physim.physics.surfaces import surface_names
from physim.physics.surfaces import table as table_named
from physim.simulator import FULL, Setup
from physim.statistics.joint import Joint
from physim.tosses.library import toss as toss_named
from physim.tosses.release import TossModel
from physim.types import PIG_NAMES, ExactValue

COLUMNS = ("index", *COUNTED)
_JOINT = ("status", "outcome", "touching", *(f"{pig}_pose" for pig in PIG_NAMES))


@dataclass(frozen=True)
class SetupPlan(BatchPlan):
    """A batch of a setup that need not have a name.

    Attributes:
        label: what the rolls are called; for readers of the manifest.
        of: the setup; `settle` of the plan counts, not its own. It must be given.
    """

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
        }

    def setup(self) -> Setup:
        if self.of is None:
            raise ValueError("a SetupPlan needs its setup")
        return replace(self.of, settle=self.settle)

    @property
    def heights_m(self) -> tuple[float, ...]:
        """Of release, in the order in which they alternate; empty where the toss has no such."""
        heights: tuple[float, ...] = getattr(self.setup().toss, "heights_m", ())
        return heights


@dataclass(frozen=True, eq=False)
class Rolls(ExactValue):
    """The rolls of a sample, from index 0 on.

    Attributes:
        columns: name to (n,) array, those of `COLUMNS`.
        heights_m: of release; a roll has the one at its index, in turn.
    """

    columns: Mapping[str, NDArray[Any]]
    heights_m: tuple[float, ...] = ()

    @property
    def n(self) -> int:
        return len(self.columns["index"])

    @cached_property
    def joint(self) -> Joint:
        """All of them."""
        return self._of(np.arange(self.n))

    def by_height(self) -> dict[float, Joint]:
        """By height of release [m], the lowest first."""
        turn = self.columns["index"] % max(1, len(self.heights_m))
        joints = {
            height_m: self._of(np.flatnonzero(turn == which))
            for which, height_m in enumerate(self.heights_m)
        }
        return dict(sorted(joints.items()))

    def blocks(self, count: int) -> list[Joint]:
        """So many blocks of consecutive indices. Each index has a random stream of its own."""
        return [self._of(block) for block in np.array_split(np.arange(self.n), count)]

    def first(self, count: int) -> Rolls:
        """The rolls up to that index."""
        columns = {name: column[:count] for name, column in self.columns.items()}
        return Rolls(columns, self.heights_m)

    def _of(self, rows: NDArray[np.intp]) -> Joint:
        return Joint.from_columns(**{name: self.columns[name][rows] for name in _JOINT})


Source = Callable[[SetupPlan], Rolls]
"""Makes the rolls of a plan, or finds them."""


class Folder:
    """Datasets in the sub-folders of one folder, named by their labels."""

    def __init__(self, out: Path, workers: int | None, stream: TextIO | None) -> None:
        """Writes nothing yet.

        Args:
            out: the folder.
            workers: processes; None for one a core. The rolls do not depend on it.
            stream: where progress is told.
        """
        self._out = out
        self._workers = workers
        self._stream = stream

    def __call__(self, plan: SetupPlan) -> Rolls:
        folder = self._out / plan.label
        line = ProgressLine(self._stream)
        try:
            run_batch(plan, folder, workers=self._workers, progress=line)
        finally:
            line.close()
        return Rolls(read_columns(folder, COLUMNS), plan.heights_m)


MAIN, HALF_STEP, SOLVER, SETTLE, HAND = "main", "half_step", "finer_solver", "full_settle", "hand"
_TOLERANCE_FACTOR = 0.1
_NEAR_M = 1.5e-3  # 8 inches are 203.2 mm; the rig's height is known to no more than that


@dataclass(frozen=True)
class Request:
    """What is to be validated.

    Attributes:
        setup: the pigs, the rig and the table.
        seed: of the main sample; the other ones use the `asked.SEEDS` that follow, so that they are
            independent of it.
        rolls: of the main sample and of the ones that converge to it.
        fewer_rolls: of the other ones.
    """

    setup: Setup
    seed: int
    rolls: int
    fewer_rolls: int


def surface_samples(request: Request) -> tuple[str, ...]:
    """A sample for each named surface but the one of the setup."""
    here = request.setup.table.surface.name
    return tuple(f"surface_{name}" for name in surface_names() if name != here)


def plan(name: str, request: Request) -> SetupPlan:
    """The rolls of a sample."""
    changes: dict[str, tuple[Callable[[Setup], Setup], int, int]] = {
        MAIN: (lambda setup: setup, 0, request.rolls),
        HALF_STEP: (_half_step, 1, request.rolls),
        SOLVER: (_finer_solver, 2, request.rolls),
        # With the seed of the main sample: compared roll by roll.
        SETTLE: (lambda setup: replace(setup, settle=FULL), 0, request.fewer_rolls),
        HAND: (lambda setup: replace(setup, toss=toss_named("hand")), 3, request.fewer_rolls),
    }
    for number, surface in enumerate(surface_names()):
        changes[f"surface_{surface}"] = (_on(surface), 4 + number, request.fewer_rolls)
    change, offset, rolls = changes[name]
    return SetupPlan.make(name, change(request.setup), seed=request.seed + offset, rolls=rolls)


def check_heights(toss: TossModel, real: Mapping[float, Joint]) -> None:
    """Refuses a toss that is not released from the heights of the real rolls, in turn.

    Raises:
        ConfigError: says which ones they are.
    """
    heights = sorted(getattr(toss, "heights_m", ()))
    if len(heights) != len(real) or any(
        abs(ours - theirs) > _NEAR_M for ours, theirs in zip(heights, sorted(real), strict=True)
    ):
        wanted = " and ".join(f"{1e3 * height:.0f}" for height in sorted(real))
        raise ConfigError(
            f"the toss must be from the heights of the real rolls in turn, {wanted} mm; trapdoor is"
        )


def _half_step(setup: Setup) -> Setup:
    settings = setup.settings
    finer = replace(
        settings,
        time_step_s=settings.time_step_s / 2,
        steps_per_check=settings.steps_per_check * 2,  # looked at equally often
    )
    return replace(setup, settings=finer)


def _finer_solver(setup: Setup) -> Setup:
    settings = setup.settings
    finer = replace(
        settings,
        solver_iterations=settings.solver_iterations * 2,
        # Otherwise most steps would end as early as before.
        solver_tolerance_m_s=settings.solver_tolerance_m_s * _TOLERANCE_FACTOR,
    )
    return replace(setup, settings=finer)


def _on(surface: str) -> Callable[[Setup], Setup]:
    def change(setup: Setup) -> Setup:
        table = table_named(surface)
        return replace(setup, table=replace(setup.table, surface=table.surface))

    return change

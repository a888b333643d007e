"""The rolls that are made for checks: datasets in a folder, each of one setup.

A run that was stopped goes on where it was; a setup that changed since is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from physim.batch.plan import BatchPlan
from physim.batch.progress import ProgressLine
from physim.batch.read import read_columns
from physim.batch.rows import COUNTED
from physim.batch.run import run_batch
from physim.roll import Setup
from physim.statistics.joint import Joint
from physim.values import PIG_NAMES, ExactValue

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

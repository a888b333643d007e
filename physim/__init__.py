"""A physics-based simulator of Pass the Pigs.

    import physim

    roll = physim.roll(seed=1)                     # one roll
    result = physim.batch(1000, seed=1)            # many: result.counts
    physim.score("trotter", "snouter").score       # 15; works without PyBullet

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from physim.dataset.run import BatchResult
    from physim.errors import PhysimError
    from physim.rules.score import Score, score
    from physim.simulator import Setup, Simulator
    from physim.statistics.counts import Counts
    from physim.types import Contact, Ended, Outcome, PigModel, PigResult, Pose, Roll, Status

__version__ = "0.1.0"

__all__ = [
    "BatchResult",
    "Contact",
    "Counts",
    "Ended",
    "Outcome",
    "PhysimError",
    "PigModel",
    "PigResult",
    "Pose",
    "Roll",
    "Score",
    "Setup",
    "Simulator",
    "Status",
    "batch",
    "roll",
    "score",
]

_HOMES = {
    "physim.dataset.run": ("BatchResult",),
    "physim.errors": ("PhysimError",),
    "physim.simulator": ("Setup", "Simulator"),
    "physim.rules.score": ("Score", "score"),
    "physim.statistics.counts": ("Counts",),
    "physim.types": (
        "Contact",
        "Ended",
        "Outcome",
        "PigModel",
        "PigResult",
        "Pose",
        "Roll",
        "Status",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def roll(
    seed: int,
    index: int = 0,
    *,
    model: str | Path = "standard",
    black: str | Path | None = None,
    pink: str | Path | None = None,
    toss: str = "trapdoor",
    height_mm: float | None = None,
    surface: str | None = None,
    time_step_s: float | None = None,
    settle: str = "fast",
) -> Roll:
    """One roll, end to end, on an engine of its own; for many, open a `Simulator`.

    Args:
        seed: 0 to 2^63 - 1.
        index: of the roll in its run, from 0; with the seed alone it fixes the roll.
        model: of both pigs: a name or a path to a model folder.
        black: model of the black pig, in place of `model`.
        pink: model of the pink pig, likewise.
        toss: `trapdoor`, `hand` or `drop`.
        height_mm: of release; None for the toss's own.
        surface: of the table; None for the default.
        time_step_s: of the engine: 1/256 s halved some times; None for the default.
        settle: `full` simulates until the pigs are still, `fast` until the outcome is certain.

    Raises:
        PhysimError: an unknown name, a number out of range, or a file that cannot be used.
    """
    from physim.dataset.plan import BatchPlan
    from physim.simulator import Simulator

    plan = BatchPlan(
        n=1,
        seed=seed,
        model=model,
        black=black,
        pink=pink,
        toss=toss,
        height_mm=height_mm,
        surface=surface,
        time_step_s=time_step_s,
        settle=settle,
    )
    with Simulator(plan.setup()) as simulator:
        return simulator.roll(plan.seed, index)


def batch(
    n: int,
    out: str | Path | None = None,
    seed: int = 0,
    workers: int | None = None,
    *,
    model: str | Path = "standard",
    black: str | Path | None = None,
    pink: str | Path | None = None,
    toss: str = "trapdoor",
    height_mm: float | None = None,
    surface: str | None = None,
    time_step_s: float | None = None,
    settle: str = "fast",
    chunk_size: int | None = None,
    counts_only: bool = False,
    dask: str | None = None,
    mixed_platforms: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> BatchResult:
    """The rolls 0 to n - 1 of a seed; the result does not depend on `workers`.

    Args:
        n: how many rolls.
        out: a dataset folder. If it holds some of the rolls, only the others are made. None
            keeps no rolls, only `counts`.
        seed: 0 to 2^63 - 1.
        workers: processes; None for one a core; 1 stays in this process.
        model: as for `roll`, like the seven that follow.
        black: model of the black pig.
        pink: model of the pink pig.
        toss: name of the toss.
        height_mm: of release.
        surface: of the table.
        time_step_s: of the engine.
        settle: `full` or `fast`.
        chunk_size: rolls a file.
        counts_only: keeps counts in the folder in place of rolls.
        dask: address of a Dask scheduler whose workers make the rolls, or `local`.
        mixed_platforms: goes on also where rolls come out with other bits than those in `out`.
        progress: called with the rolls done and all rolls.

    Returns:
        `counts`, `n`, `new_rolls` and `out`.

    Raises:
        PhysimError: an unusable argument, or a folder with something else in it.
    """
    from physim.dataset.plan import BatchPlan
    from physim.dataset.run import run_batch

    plan = BatchPlan(
        n=n,
        seed=seed,
        model=model,
        black=black,
        pink=pink,
        toss=toss,
        height_mm=height_mm,
        surface=surface,
        time_step_s=time_step_s,
        settle=settle,
        chunk_size=chunk_size,
    )
    return run_batch(
        plan,
        out,
        workers=workers,
        dask=dask,
        counts_only=counts_only,
        mixed_platforms=mixed_platforms,
        progress=progress,
    )


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module `physim` has no attribute `{name}`")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps `physim.roll` and `physim.batch` the functions.

    Importing the modules of the same names would put those in their place.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in ("roll", "batch") and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

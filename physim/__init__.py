"""A physics-based simulator of Pass the Pigs.

    import physim

    roll = physim.roll(seed=1)                     # one roll
    result = physim.batch(1000, seed=1)            # many: result.counts
    physim.score("trotter", "snouter").score       # 15; works without PyBullet

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from physim.config import SetupOptions
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
    "SetupOptions",
    "Simulator",
    "Status",
    "batch",
    "roll",
    "score",
]

_HOMES = {
    "physim.dataset.run": ("BatchResult",),
    "physim.errors": ("PhysimError",),
    "physim.config": ("SetupOptions",),
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


def roll(seed: int, index: int = 0, **options: Any) -> Roll:
    """One roll, end to end, on an engine of its own; for many, open a `Simulator`.

    Args:
        seed: 0 to 2^63 - 1.
        index: of the roll in its run, from 0; with the seed alone it fixes the roll.
        options: any of `SetupOptions`: `model`, `black`, `pink`, `toss`, `height_mm`, `surface`,
            `time_step_s`, `settle`.

    Raises:
        PhysimError: an unknown name, a number out of range, or a file that cannot be used.
    """
    from physim.simulator import Setup, Simulator

    with Simulator(Setup.named(**options)) as simulator:
        return simulator.roll(seed, index)


def batch(
    n: int,
    out: str | Path | None = None,
    seed: int = 0,
    workers: int | None = None,
    *,
    chunk_size: int | None = None,
    counts_only: bool = False,
    dask: str | None = None,
    mixed_platforms: bool = False,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> BatchResult:
    """The rolls 0 to n - 1 of a seed; the result does not depend on `workers`.

    Args:
        n: how many rolls.
        out: a dataset folder. If it holds some of the rolls, only the others are made. None
            keeps no rolls, only `counts`.
        seed: 0 to 2^63 - 1.
        workers: processes; None for one a core; 1 stays in this process.
        chunk_size: rolls a file.
        counts_only: keeps counts in the folder in place of rolls.
        dask: address of a Dask scheduler whose workers make the rolls.
        mixed_platforms: goes on also where rolls come out with other bits than those in `out`.
        progress: called with the rolls done and all rolls.
        options: as for `roll`.

    Returns:
        `counts`, `n`, `new_rolls` and `out`.

    Raises:
        PhysimError: an unusable argument, or a folder with something else in it.
    """
    from physim.dataset.plan import BatchPlan
    from physim.dataset.run import run_batch

    return run_batch(
        BatchPlan(n=n, seed=seed, chunk_size=chunk_size, **options),
        out,
        workers=workers,
        dask=dask,
        counts_only=counts_only,
        mixed_platforms=mixed_platforms,
        progress=progress,
    )


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module `physim` has no attribute `{name}`")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

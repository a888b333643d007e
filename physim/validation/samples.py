"""The samples that a validation rolls: the shipped setup, and what is changed about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from physim.errors import ConfigError
from physim.roll import FULL, Setup
from physim.statistics.joint import Joint
from physim.tosses.library import toss as toss_named
from physim.tosses.models import TossModel
from physim.validation.datasets import SetupPlan
from physim.world.scene import surface_names
from physim.world.scene import table as table_named

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
        steps_a_call=settings.steps_a_call * 2,  # looked at equally often
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

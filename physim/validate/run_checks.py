"""`physim validate`: rolls that no fit has seen, beside the real ones and beside each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from physim.statistics.joint import Joint, total
from physim.types import PIG_NAMES
from physim.validate import GROUPS, datasets
from physim.validate import checks as ask
from physim.validate.checks import Check, height_checks
from physim.validate.datasets import Request, Rolls, Source

BLOCKS = 10
_COMPARED = (
    "status",
    "outcome",
    "score",
    "touching",
    *(f"{pig}_{what}" for pig in PIG_NAMES for what in ("pose", "rest")),
)

Real = dict[float, Joint]
Said = Callable[[str], None]


@dataclass(frozen=True)
class Validation:
    """What came out.

    Attributes:
        request: what was validated.
        real: the real rolls, by height of release [m].
        checks: in the order of `GROUPS`.
        rolls: the samples that they used, by name.
    """

    request: Request
    real: Real
    checks: tuple[Check, ...]
    rolls: Mapping[str, Rolls]

    @property
    def passed(self) -> bool | None:
        """Whether every check with a limit passed; None if there is none."""
        answers = [check.ok for check in self.checks if check.ok is not None]
        return all(answers) if answers else None


def validate(
    request: Request,
    real: Real,
    source: Source,
    *,
    only: Sequence[str] = (),
    say: Said = lambda text: None,
) -> Validation:
    """Makes the rolls that the checks need, and checks them.

    Args:
        request: what to validate.
        real: the real rolls, by height of release [m].
        source: makes the rolls.
        only: groups of checks, of `GROUPS`; empty for all of them.
        say: told before each sample which one it is.

    Raises:
        ConfigError: a toss from other heights than the real one.
    """
    datasets.check_heights(request.setup.toss, real)
    groups = [group for group in GROUPS if not only or group in only]
    needed = [name for group in groups for name in _samples(group, request)]
    names = list(dict.fromkeys([datasets.MAIN, *needed]))
    rolls: dict[str, Rolls] = {}
    for number, name in enumerate(names, start=1):
        plan = datasets.plan(name, request)
        say(f"sample {number} of {len(names)}: {name}, {plan.n:,} rolls of seed {plan.seed}")
        rolls[name] = source(plan)
    found = [check for group in groups for check in _checks(group, request, real, rolls)]
    return Validation(request, real, tuple(found), rolls)


def _samples(group: str, request: Request) -> tuple[str, ...]:
    """What a group needs beside the main sample."""
    if group == "surfaces":
        return datasets.surface_samples(request)
    needed = {
        "step": datasets.HALF_STEP,
        "solver": datasets.SOLVER,
        "settle": datasets.SETTLE,
        "hand": datasets.HAND,
    }
    return (needed[group],) if group in needed else ()


def _checks(group: str, request: Request, real: Real, rolls: Mapping[str, Rolls]) -> list[Check]:
    main, seed = rolls[datasets.MAIN], request.seed
    others = [rolls[name] for name in _samples(group, request)]
    if group == "poses":
        return ask.pose_checks(main.joint, total(real), seed)
    if group == "pairs":
        return ask.pair_checks(main.joint, total(real), seed)
    if group == "height":
        return height_checks(main.by_height(), real, seed)
    if group == "pig":
        return ask.pig_checks(main.by_height(), real, seed)
    if group == "blocks":
        return ask.block_checks(main.blocks(BLOCKS), seed)
    if group == "settled":
        return ask.settled_checks(main.joint)
    if group == "rare":
        return ask.rare_checks(group, main.joint)
    if group in ("step", "solver"):
        return ask.convergence_checks(group, main.joint, others[0].joint, seed)
    if group == "settle":
        return settle_checks(main, others[0])
    return [
        check
        for name, sample in zip(_samples(group, request), others, strict=True)
        for check in ask.prediction_checks(
            name.replace("surface_", "surface."), sample.joint, main.joint, seed
        )
    ]


def settle_checks(fast: Rolls, full: Rolls) -> list[Check]:
    """Stopping once the outcome is certain against simulating to rest, roll by roll.

    The rolls that both samples have are compared, in all that is counted.
    """
    n = min(fast.n, full.n)
    fast, full = fast.first(n), full.first(n)
    unlike = {name: _unlike(fast.columns[name], full.columns[name]) for name in _COMPARED}
    differing = np.logical_or.reduce(list(unlike.values()))
    indices = fast.columns["index"][differing]
    return [
        ask.at_most(
            "settle.differing_rolls",
            int(differing.sum()),
            0,
            detail={
                "rolls": n,
                "columns": {name: int(rows.sum()) for name, rows in unlike.items()},
                "first_indices": indices[:10].tolist(),
            },
        )
    ]


def _unlike(one: Any, two: Any) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """(n,) where two columns differ; no score or rest (NaN) equals none."""
    both_missing = (one != one) & (two != two)  # noqa: PLR0124 - only NaN differs from itself
    return np.asarray((one != two) & ~both_missing, dtype=bool)

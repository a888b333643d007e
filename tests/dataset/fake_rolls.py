"""A plan whose rolls are drawn, not simulated: fast, and as reproducible as the real ones."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from physim.dataset.plan import BatchPlan, Roller
from physim.rules.score import outcome_of, score_of
from physim.seeding import stream
from physim.types import PIG_NAMES, TABLE, Contact, Ended, PigResult, Pose, Roll, Status


@dataclass(frozen=True)
class FakePlan(BatchPlan):
    """Draws rolls.

    Attributes:
        wait_s: how long a roll takes.
        heads: a parameter of the rolls, as the height is one of real ones.
        deadly_index: kills the worker that comes to this roll ...
        deaths: ... so many times, counted by files in `graves`.
        graves: a folder.
    """

    modules: ClassVar[tuple[str, ...]] = ("physim.dataset.rows",)

    wait_s: float = 0.0
    heads: float = 0.5
    deadly_index: int = -1
    deaths: int = 0
    graves: str = ""

    def configuration(self) -> dict[str, Any]:
        return {"seed": self.seed, "coin": {"heads": self.heads}, "black": 1, "pink": 1}

    def source(self) -> FakePlan:  # type: ignore[override]
        return self

    @contextmanager
    def open(self) -> Iterator[Roller]:  # type: ignore[override]
        yield _FakeRoller(self)


class _FakeRoller:
    def __init__(self, plan: FakePlan) -> None:
        self._plan = plan

    def roll(self, seed: int, index: int) -> Roll:
        plan = self._plan
        if index == plan.deadly_index and len(list(Path(plan.graves).iterdir())) < plan.deaths:
            Path(plan.graves, f"{os.getpid()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(plan.wait_s)
        rng = stream(seed, index)
        rng.random(len(os.environ.get("FAKE_OTHER_BITS", "")))  # as of another machine
        status = Status.UNSETTLED if rng.random() < 0.02 else Status.OK
        touching = rng.random() < 0.1
        pigs = []
        for name, other in zip(PIG_NAMES, PIG_NAMES[::-1], strict=True):
            rest = int(rng.integers(-1, len(Pose)))
            contacts = [Contact("snout", TABLE, "", 0.0, rng.random(3))]
            if touching:
                contacts.append(Contact("head", other, "trunk", 0.0, rng.random(3)))
            pigs.append(
                PigResult(
                    name=name,
                    pose=tuple(Pose)[rest],
                    rest=rest if rest >= 0 else None,
                    margin=float(rng.random() * plan.heads),
                    contacts=tuple(contacts),
                    position_m=rng.standard_normal(3),
                    quat_xyzw=rng.standard_normal(4),
                    time_s=float(rng.random()),
                )
            )
        outcome = outcome_of(pigs[0].pose, pigs[1].pose, status=status, touching=touching)
        return Roll(
            seed=seed,
            index=index,
            status=status,
            outcome=outcome,
            score=score_of(outcome, pigs[0].pose, pigs[1].pose),
            touching=touching,
            ended=Ended.REST,
            pigs=(pigs[0], pigs[1]),
            time_s=float(rng.random()),
        )

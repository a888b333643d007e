"""What a worker needs to make the rolls of a plan: content, not names.

Models, tosses and settings travel as what they are, so a worker on another machine needs none of
the files that they were read from, and none reads a mesh again.
"""

from __future__ import annotations

import hashlib
import pickle
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from physim.batch.configuration import differences
from physim.batch.plan import BatchPlan, Roller, RollSource
from physim.batch.platforms import BITS, these_versions, this_platform
from physim.batch.rows import Row, named, row_of
from physim.errors import WorkerError


@dataclass(frozen=True)
class Sample:
    """Roll 0 as a worker made it, and where.

    Attributes:
        row: the roll.
        platform: of the worker.
        versions: of the worker.
    """

    row: Row
    platform: dict[str, str]
    versions: dict[str, str]


@dataclass(frozen=True)
class Kit:
    """Goes to workers whole; they open it once and keep it open.

    Attributes:
        key: differs where the content differs.
        seed: of the rolls.
        content: a pickled `RollSource`.
        versions: what every worker must run; None where workers are of this machine.
        check_row: what roll 0 must come out as, to the last bit; None likewise.
        bits: what the functions of rolls must come to (`platforms`); None likewise.
    """

    key: str
    seed: int
    content: bytes
    versions: dict[str, str] | None = None
    check_row: Row | None = None
    bits: str | None = None

    @classmethod
    def of(cls, plan: BatchPlan, versions: dict[str, str] | None = None) -> Kit:
        """The kit of a plan.

        Raises:
            ConfigError, ModelError: an unknown name, or a file that cannot be used.
        """
        content = pickle.dumps(plan.source(), protocol=5)
        key = hashlib.sha256(content + str(plan.seed).encode()).hexdigest()
        return cls(key, plan.seed, content, versions)

    def open(self) -> AbstractContextManager[Roller]:
        """A simulator.

        Raises:
            WorkerError: this machine runs other versions.
        """
        self._check_versions()  # first: other versions may not read the content
        source: RollSource = pickle.loads(self.content)
        return source.open()

    def check_bits(self, roller: Roller) -> None:
        """Refuses a machine on which the same roll comes out otherwise.

        Raises:
            WorkerError: names the columns and the machine.
        """
        if self.check_row is None:
            return
        row, platform = row_of(roller.roll(self.seed, 0)), this_platform()
        unlike = differences(named(self.check_row), named(row))
        if self.bits is not None:
            unlike += differences({BITS: self.bits}, {BITS: platform[BITS]})
        if unlike:
            machine = ", ".join(text for name, text in platform.items() if name != BITS)
            raise WorkerError(
                f"a worker makes rolls of other bits ({'; '.join(unlike[:3])}; it runs on "
                f"{machine}); finished parts are kept: leave out such machines and run the same "
                "command again"
            )

    def _check_versions(self) -> None:
        if self.versions is None:
            return
        if unlike := differences(self.versions, these_versions()):
            told = "; ".join(unlike).replace(" there", " wanted").replace(" here", " on the worker")
            raise WorkerError(
                f"a worker runs other versions than this machine ({told}); install the same on "
                "all, start the workers again, and run the same command"
            )


def sample_of(kit: Kit, roller: Roller) -> Sample:
    """Roll 0 of a kit, on this machine."""
    return Sample(row_of(roller.roll(kit.seed, 0)), this_platform(), these_versions())


def unpacked(kit: Kit) -> Any:
    """The kit itself: as a task, it is held by the cluster and made again where it was lost."""
    return kit

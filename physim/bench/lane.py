"""A contestant in a process of its own, so that none lives in another's world.

Bullet keeps some settings and caches for a whole process, and memory fills differently.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType

from physim.batch.plan import BatchPlan
from physim.bench.contestants import contestant
from physim.errors import PhysicsError, PhysimError
from physim.statistics.counts import Counts


@dataclass(frozen=True)
class Timed:
    """Some rolls and what they cost.

    Attributes:
        processor_s: processor time of all threads, naming included [s].
        simulated_s: simulated time, flight included [s].
        counts: what the rolls were.
    """

    processor_s: float
    simulated_s: float
    counts: Counts


class Lane:
    """Rolls one contestant when asked. Use it with `with`."""

    def __init__(self, name: str, plan: BatchPlan) -> None:
        self.name = name
        self._plan = plan

    def __enter__(self) -> Lane:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, self.name, self._plan), daemon=True
        )
        self._process.start()
        theirs.close()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pipe.close()
        self._process.kill()
        self._process.join()

    def roll(self, indices: Sequence[int]) -> Timed:
        """The rolls of these indices.

        Raises:
            PhysimError: what the contestant raised, or its process died.
        """
        try:
            self._pipe.send(list(indices))
            answer = self._pipe.recv()
        except (EOFError, OSError):
            raise PhysicsError(
                f"{self.name}: its process died; try `physim bench --only {self.name}` alone, "
                "with more memory free"
            ) from None
        if isinstance(answer, Timed):
            return answer
        raise answer


def _serve(pipe: Connection, name: str, plan: BatchPlan) -> None:
    """What the process does: rolls until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says what Ctrl-C means
    try:
        with contestant(name, plan.setup()) as rolls:
            rolls.roll(plan.seed, 0)  # files are read, memory is taken
            while True:
                indices = pipe.recv()
                start = time.process_time()
                done = [rolls.roll(plan.seed, index) for index in indices]
                spent = time.process_time() - start
                pipe.send(Timed(spent, sum(roll.time_s for roll in done), Counts.from_rows(done)))
    except (EOFError, ConnectionError):  # the parent has ended meanwhile, by Ctrl-C
        return
    except PhysimError as error:
        pipe.recv()
        pipe.send(error)

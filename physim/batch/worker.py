"""What runs in a worker process: rolls of one plan on one simulator that stays open."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import ExitStack
from multiprocessing import connection, parent_process

from physim.batch.plan import BatchPlan, Roller
from physim.batch.rows import Row, row_of


class Bench:
    """The simulator of the plan that was asked for last. Close it when done."""

    def __init__(self) -> None:
        self._plan: BatchPlan | None = None
        self._roller: Roller | None = None
        self._open = ExitStack()

    def rolls(self, plan: BatchPlan, task: range) -> list[Row]:
        """The rows of these indices."""
        if self._roller is None or self._plan != plan:
            self.close()
            self._roller = self._open.enter_context(plan.open())
            self._plan = plan
        return [row_of(self._roller.roll(plan.seed, index)) for index in task]

    def close(self) -> None:
        self._roller = self._plan = None
        self._open.close()


_bench = Bench()  # one a process


def work(plan: BatchPlan, task: range) -> list[Row]:
    """The rows of these indices; plain values in and out."""
    return _bench.rolls(plan, task)


def close_bench() -> None:
    """Closes this process's simulator, if one is open."""
    _bench.close()


def start_worker() -> None:
    """Prepares a worker process.

    Ctrl-C is the parent's to handle; nothing that libraries print may reach its stdout; and a
    parent that was killed must not leave workers behind.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)

"""What runs in a worker: rolls of one kit on one simulator that stays open."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import connection, parent_process, util
from typing import Generic, NoReturn, TypeVar

from physim.batch.kit import Kit, Sample, sample_of
from physim.batch.plan import Roller
from physim.batch.rows import counts_of, row_of
from physim.statistics.counts import Counts

Content = TypeVar("Content")
_COUNTED_AT_ONCE = 1000  # rows; bounds the memory of a long task


@dataclass(frozen=True)
class Done(Generic[Content]):
    """A finished task.

    Attributes:
        content: its rows as an Arrow stream, or their counts.
        seconds: what rolling took.
    """

    content: Content
    seconds: float


class Bench:
    """The simulator of the kit that was asked for last; threads wait for each other."""

    def __init__(self) -> None:
        self._key: str | None = None
        self._roller: Roller | None = None
        self._open = ExitStack()
        self._lock = threading.Lock()

    def rows(self, kit: Kit, task: range) -> Done[bytes]:
        """The rows of these indices as an Arrow stream."""
        from physim.batch.table import encode

        with self._lock:
            roller = self._roller_of(kit)
            began_s = time.perf_counter()
            rows = [row_of(roller.roll(kit.seed, index)) for index in task]
            seconds = time.perf_counter() - began_s
        return Done(encode(rows), seconds)

    def counts(self, kit: Kit, task: range) -> Done[Counts]:
        """What these indices add up to."""
        counts = Counts()
        with self._lock:
            roller = self._roller_of(kit)
            began_s = time.perf_counter()
            for first in range(task.start, task.stop, _COUNTED_AT_ONCE):
                block = range(first, min(first + _COUNTED_AT_ONCE, task.stop))
                counts += counts_of([row_of(roller.roll(kit.seed, index)) for index in block])
            return Done(counts, time.perf_counter() - began_s)

    def sample(self, kit: Kit) -> Sample:
        """Roll 0."""
        with self._lock:
            return sample_of(kit, self._roller_of(kit))

    def close(self) -> None:
        """Closes the simulator, if one is open."""
        with self._lock:
            self._close()

    def _roller_of(self, kit: Kit) -> Roller:
        key = f"{kit.key} {kit.check_row} {kit.bits} {kit.versions}"
        if self._roller is None or self._key != key:
            self._close()
            self._roller = self._open.enter_context(kit.open())
            kit.check_bits(self._roller)
            self._key = key
        return self._roller

    def _close(self) -> None:
        self._roller = self._key = None
        self._open.close()


_bench = Bench()  # one a process


def make_rows(kit: Kit, task: range) -> Done[bytes]:
    """As `Bench.rows`."""
    return _bench.rows(kit, task)


def make_counts(kit: Kit, task: range) -> Done[Counts]:
    """As `Bench.counts`."""
    return _bench.counts(kit, task)


def make_sample(kit: Kit) -> Sample:
    """As `Bench.sample`."""
    return _bench.sample(kit)


def close_bench() -> None:
    """Closes this process's simulator, if one is open."""
    _bench.close()


def start_worker() -> None:
    """Prepares a worker process.

    Ctrl-C is the parent's to handle; nothing that libraries print may reach its stdout; a parent
    that was killed must not leave workers behind, nor a worker its files.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: _leave())
    util.Finalize(None, close_bench, exitpriority=0)  # a forked process runs no `atexit`
    os.dup2(2, 1)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def import_early(modules: tuple[str, ...]) -> None:
    """Loads what rolls will need, while the parent is still reading the models."""
    from importlib import import_module

    for module in modules:
        import_module(module)


def _leave_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        _leave()


def _leave() -> NoReturn:
    """Ends this process at once, also when asked again meanwhile.

    Nothing is loaded for it: that may be under way already, and to fail in it would be to stay.
    """
    try:
        if (engine := sys.modules.get("physim.world.bullet_pair")) is not None:
            engine.remove_files()
    finally:
        os._exit(1)

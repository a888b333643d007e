"""Chunks are what is kept as one file, tasks what is handed to a worker: a piece of a chunk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_SHARE = 4  # tasks a worker that the rest is cut into, at least, so that all end together
_MOST_ROLLS = 1_000_000  # a task, however fast the rolls


class Tasks:
    """Cuts chunks into tasks that take a while each, whatever a roll takes.

    The first ones are single rolls: something is seen at once, and how long a roll takes.
    """

    def __init__(self, chunks: Iterable[range], rolls: int) -> None:
        self._chunks = iter(chunks)
        self._chunk = self._rest = range(0)
        self._left = rolls
        self._rolled, self._seconds = 0, 0.0

    def take(self, workers: int, task_s: float) -> tuple[range, range] | None:
        """The next task, of about so many seconds, and its chunk; None after the last one."""
        if not self._rest:
            following = next(self._chunks, None)
            if following is None:
                return None
            self._chunk = self._rest = following
        first = self._rest.start
        task = range(first, min(first + self._size(workers, task_s), self._rest.stop))
        self._rest = range(task.stop, self._rest.stop)
        self._left -= len(task)
        return task, self._chunk

    def took(self, rolls: int, seconds: float) -> None:
        """Learns how long rolls take."""
        self._rolled += rolls
        self._seconds += seconds

    def _size(self, workers: int, task_s: float) -> int:
        if not self._rolled:
            return 1
        in_time = _MOST_ROLLS
        if self._seconds > 0:
            in_time = min(in_time, int(task_s * self._rolled / self._seconds))
        return max(1, min(in_time, -(-self._left // (_SHARE * workers))))


class Assembly:
    """Puts the rows of tasks together again, until a chunk is whole.

    So a file is always a whole chunk, however many workers share it.
    """

    def __init__(self) -> None:
        self._waiting: dict[range, dict[int, pa.Table]] = {}
        self._missing: dict[range, int] = {}

    def put(self, task: range, chunk: range, rows: pa.Table) -> pa.Table | None:
        """Takes a task's rows; returns all rows of the chunk if it is whole with them."""
        waiting = self._waiting.setdefault(chunk, {})
        waiting[task.start] = rows
        self._missing[chunk] = self._missing.get(chunk, len(chunk)) - len(task)
        if self._missing[chunk]:
            return None
        del self._waiting[chunk], self._missing[chunk]
        import pyarrow as pa

        return pa.concat_tables([waiting[first] for first in sorted(waiting)])

"""Chunks are what is kept as one file, tasks what is handed to a worker: a piece of a chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from physim.batch.rows import Row


class Assembly:
    """Cuts chunks into tasks, and puts the tasks' rows together again.

    Rows wait here until their chunk is whole, so a file is always a whole chunk, however many
    workers share it.
    """

    def __init__(self, chunks: Iterable[range], task_rolls: int) -> None:
        self._chunks = chunks
        self._task_rolls = task_rolls
        self._chunk_of: dict[int, range] = {}  # by first index of the task
        self._rows: dict[range, dict[int, list[Row]]] = {}

    def tasks(self) -> Iterator[range]:
        """The tasks in the order of the indices."""
        for chunk in self._chunks:
            self._rows[chunk] = {}
            for first in range(chunk.start, chunk.stop, self._task_rolls):
                self._chunk_of[first] = chunk
                yield range(first, min(first + self._task_rolls, chunk.stop))

    def put(self, task: range, rows: list[Row]) -> tuple[range, list[Row]] | None:
        """Takes a task's rows; returns the chunk and its rows if it is whole with them."""
        chunk = self._chunk_of.pop(task.start)
        waiting = self._rows[chunk]
        waiting[task.start] = rows
        if sum(map(len, waiting.values())) < len(chunk):
            return None
        del self._rows[chunk]
        return chunk, [row for first in sorted(waiting) for row in waiting[first]]

"""What handing out, merging and writing cost, with workers that only pretend to roll.

    python examples/many_workers.py [ROLLS_A_WORKER] [MS_A_ROLL] [CHUNK_SIZE] [WORKERS ...]

Each simulated worker is busy for as long as its rolls would take and then hands in rows that were
made before. So one sees how many of them one coordinator keeps busy; no physics runs. The rows
go through everything that real ones do, into a temporary folder. A CHUNK_SIZE of 0 is the default.
"""

from __future__ import annotations

import heapq
import sys
import tempfile
import threading
import time
from concurrent.futures import Future
from functools import cache
from typing import Any

import pyarrow

from physim.dataset.plan import BatchPlan
from physim.dataset.rows import Done, decode, make_counts, make_rows, make_sample
from physim.dataset.run import run_batch
from physim.dataset.workers import Workers
from physim.statistics.counts import Counts


class SimulatedWorkers(Workers):
    """Workers of `run_batch`."""

    prefetch = 2

    def __init__(self, workers: int, roll_s: float) -> None:
        self._roll_s = roll_s
        self._free_s = [time.monotonic()] * workers  # a heap: when each is free again
        self._coming: list[tuple[float, int, Future[Any], Any]] = []
        self._changed = threading.Condition()
        self._number = self.most_waiting = self.tasks = 0
        self._open = True
        self._table: Any = None
        self.pretending_s = 0.0  # CPU time that real workers would have spent
        threading.Thread(target=self._hand_in, daemon=True).start()

    def count(self) -> int:
        return len(self._free_s)

    def task_s(self) -> float:
        return max(2.0, self.count() / 50)  # as on a cluster

    def close(self) -> None:
        super().close()
        with self._changed:
            self._open = False
            self._changed.notify()

    def submit(self, fn: Any, *args: Any) -> Future[Any]:
        future: Future[Any] = Future()
        kit = args[0]
        if fn is make_sample:
            future.set_result(make_sample(kit))
            return future
        began_s = time.thread_time()
        if self._table is None:  # some real rolls, made once
            self._table = decode(make_rows(kit, range(40)).content)
        content = self._content(fn, len(args[1]))
        self.pretending_s += time.thread_time() - began_s
        seconds = len(args[1]) * self._roll_s
        with self._changed:
            end_s = max(time.monotonic(), heapq.heappop(self._free_s)) + seconds
            heapq.heappush(self._free_s, end_s)
            self._number += 1
            heapq.heappush(self._coming, (end_s, self._number, future, Done(content, seconds)))
            self.most_waiting = max(self.most_waiting, len(self._coming))
            self._changed.notify()
        return future

    @cache  # noqa: B019 (lives as long as the program)
    def _content(self, fn: Any, rolls: int) -> Any:
        if fn is make_counts:
            return Counts(rolls=rolls)
        table = pyarrow.concat_tables([self._table] * (rolls // self._table.num_rows + 1))
        sink = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(sink, table.schema) as stream:
            stream.write_batch(table[:rolls].combine_chunks().to_batches()[0])
        return sink.getvalue().to_pybytes()

    def _hand_in(self) -> None:
        with self._changed:
            while self._open:
                now = time.monotonic()
                while self._coming and self._coming[0][0] <= now:
                    _, _, future, made = heapq.heappop(self._coming)
                    self.tasks += 1
                    future.set_result(made)
                self._changed.wait(self._coming[0][0] - now if self._coming else None)


def main(rolls_each: int, roll_s: float, chunk_size: int, counts: list[int]) -> None:
    print("workers  kept   wanted rolls/s  got rolls/s  busy   tasks/s  coordinator's CPU")
    for workers in counts:
        for counts_only in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                crew = SimulatedWorkers(workers, roll_s)
                plan = BatchPlan(n=rolls_each * workers, chunk_size=chunk_size or None)
                began: list[float] = []  # once all is loaded

                def note(done: int, total: int, began: list[float] = began) -> None:
                    if not began:
                        began.extend((time.monotonic(), time.process_time()))

                run_batch(plan, folder, workers=crew, counts_only=counts_only, progress=note)
                took_s = time.monotonic() - began[0]
                cpu_s = time.process_time() - began[1] - crew.pretending_s
            wanted = workers / roll_s
            print(
                f"{workers:7}  {'counts' if counts_only else 'rolls ':6} {wanted:13,.0f}"
                f"  {plan.n / took_s:11,.0f}  {plan.n / took_s / wanted:4.0%}"
                f"  {crew.tasks / took_s:8,.0f}  {cpu_s / took_s:8.0%} of a core,"
                f" {cpu_s / plan.n * 1e6:.2f} us a roll",
                flush=True,
            )


if __name__ == "__main__":
    given = [float(text) for text in sys.argv[1:]]
    given += [4000.0, 5.0, 0.0][len(given) :]
    main(
        int(given[0]),
        given[1] / 1000,
        int(given[2]),
        [int(number) for number in given[3:]] or [16, 64, 256, 1000],
    )

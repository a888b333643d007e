"""Rolls as flat rows of plain values: made in a worker, sent as Arrow streams, kept in the files.

Contacts are kept as the names of the parts, joined by `|`: `snout` touches the table,
`snout>pink.trunk` the other pig. Their places follow from the positions, which are complete.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pyarrow as pa

from physim.dataset.plan import Job, Roller, Sample
from physim.statistics.counts import Counts
from physim.types import PIG_NAMES, TABLE, Contact, Roll

Row = tuple[Any, ...]
Content = TypeVar("Content")

_ROLL_COLUMNS = {
    "index": "int64",
    "status": "string",
    "outcome": "string",
    "score": "int16",
    "touching": "bool",
    "ended": "string",
    "time_s": "float64",
}
_PIG_COLUMNS = {
    "pose": "string",
    "rest": "int16",
    "margin": "float64",
    **dict.fromkeys(("x_m", "y_m", "z_m", "qx", "qy", "qz", "qw", "time_s"), "float64"),
    "contacts": "string",
}
COLUMNS = _ROLL_COLUMNS | {
    f"{pig}_{name}": kind for pig in PIG_NAMES for name, kind in _PIG_COLUMNS.items()
}
"""Name to type, in the order of a row."""
NULLABLE = ("score", *(f"{pig}_rest" for pig in PIG_NAMES))
COUNTED = (
    "status",
    "outcome",
    "score",
    "touching",
    *(f"{pig}_{name}" for pig in PIG_NAMES for name in ("pose", "rest")),
)
SCHEMA = pa.schema(
    [
        pa.field(name, pa.type_for_alias(kind), nullable=name in NULLABLE)
        for name, kind in COLUMNS.items()
    ]
)
_COUNTED_AT_ONCE = 1000  # rows; bounds the memory of a long task


def row_of(roll: Roll) -> Row:
    """The row of a roll, in the order of `COLUMNS`; floats keep every bit."""
    row = [
        roll.index,
        roll.status.value,
        roll.outcome.value,
        roll.score,
        roll.touching,
        roll.ended.value,
        float(roll.time_s),
    ]
    for pig in roll.pigs:
        row += [pig.pose.value, pig.rest, float(pig.margin)]
        row += [*pig.position_m.tolist(), *pig.quat_xyzw.tolist(), float(pig.time_s)]
        row.append("|".join(map(_contact, pig.contacts)))
    return tuple(row)


def _contact(contact: Contact) -> str:
    if contact.other == TABLE:
        return contact.part
    return f"{contact.part}>{contact.other}.{contact.other_part}"


def named(row: Row) -> dict[str, Any]:
    """The row as a mapping from column to value."""
    return dict(zip(COLUMNS, row, strict=True))


def counts_of(rows: Sequence[Row]) -> Counts:
    """What these rows add up to."""
    if not rows:
        return Counts()
    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    return Counts.from_columns(**{name: columns[name] for name in COUNTED})


def encode(rows: Sequence[Row]) -> bytes:
    """Rows as an Arrow stream: the slow half of writing them, done where they are made."""
    columns = zip(*rows, strict=True) if rows else [()] * len(SCHEMA)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, SCHEMA) as stream:
        stream.write_batch(pa.record_batch(arrays, schema=SCHEMA))
    content: bytes = sink.getvalue().to_pybytes()
    return content


def decode(content: bytes) -> pa.Table:
    """The table that `encode` made, without copying it."""
    with pa.ipc.open_stream(content) as stream:
        return stream.read_all()


@dataclass(frozen=True)
class Done(Generic[Content]):
    """A finished task: its rows as an Arrow stream or their counts, and what rolling took [s]."""

    content: Content
    seconds: float


class WorkerState:
    """The simulator of the job that was asked for last; threads wait for each other."""

    def __init__(self) -> None:
        self._job: Job | None = None
        self._roller: Roller | None = None
        self._open = ExitStack()
        self._lock = threading.Lock()

    @contextmanager
    def roller(self, job: Job) -> Iterator[Roller]:
        """Opens the simulator of a job if need be."""
        with self._lock:
            if self._roller is None or self._job != job:
                self._close()
                self._roller, self._job = job.open(self._open), job
            yield self._roller

    def close(self) -> None:
        """Closes the simulator, if one is open."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        self._job = self._roller = None
        self._open.close()


_state = WorkerState()  # one a process
close_simulator = _state.close


def make_rows(kit: Job, task: range) -> Done[bytes]:
    """In a worker: the rows of these indices."""
    with _state.roller(kit) as roller:
        began_s = time.perf_counter()
        rows = [row_of(roller.roll(kit.seed, index)) for index in task]
        seconds = time.perf_counter() - began_s
    return Done(encode(rows), seconds)


def make_counts(kit: Job, task: range) -> Done[Counts]:
    """In a worker: what these indices add up to."""
    counts = Counts()
    with _state.roller(kit) as roller:
        began_s = time.perf_counter()
        for first in range(task.start, task.stop, _COUNTED_AT_ONCE):
            block = range(first, min(first + _COUNTED_AT_ONCE, task.stop))
            counts += counts_of([row_of(roller.roll(kit.seed, index)) for index in block])
        return Done(counts, time.perf_counter() - began_s)


def make_sample(kit: Job) -> Sample:
    """In a worker: roll 0, by which one sees whether two machines come to the same bits."""
    with _state.roller(kit) as roller:
        return Sample.of(roller, kit.seed)

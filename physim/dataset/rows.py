"""Rolls as flat rows of plain values: made in a worker, sent as Arrow streams, kept in the files.

Contacts are kept as the names of the parts, joined by `|`: `snout` touches the table,
`snout>pink.trunk` the other pig. Their places follow from the positions, which are complete.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pyarrow as pa

from physim.dataset.plan import Job, Json, sample_roll
from physim.dataset.workers import state
from physim.statistics.counts import COUNTED, Counts
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
SCHEMA = pa.schema(
    [
        pa.field(name, pa.type_for_alias(kind), nullable=name in NULLABLE)
        for name, kind in COLUMNS.items()
    ]
)


def row_of(roll: Roll) -> Row:
    """The row of a roll, in the order of `COLUMNS`; floats keep every bit."""
    row: list[Any] = [roll.index, roll.status.value, roll.outcome.value, roll.score, roll.touching]
    row += [roll.ended.value, float(roll.time_s)]
    for pig in roll.pigs:
        row += [pig.pose.value, pig.rest, float(pig.margin)]
        row += [*pig.position_m.tolist(), *pig.quat_xyzw.tolist(), float(pig.time_s)]
        row.append("|".join(map(_contact, pig.contacts)))
    return tuple(row)


def _contact(contact: Contact) -> str:
    other = "" if contact.other == TABLE else f">{contact.other}.{contact.other_part}"
    return contact.part + other


def named(row: Row) -> dict[str, Any]:
    """The row as a mapping from column to value."""
    return dict(zip(COLUMNS, row, strict=True))


def counts_of(rows: Sequence[Row]) -> Counts:
    """What these rows, at least one, add up to."""
    columns = named(tuple(zip(*rows, strict=True)))
    return Counts.from_columns(**{name: columns[name] for name in COUNTED})


def encode(rows: Sequence[Row]) -> bytes:
    """Rows, at least one, as an Arrow stream: the slow half of writing them."""
    columns = zip(*rows, strict=True)
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


def make_rows(job: Job, task: range) -> Done[bytes]:
    """In a worker: the rows of these indices."""
    return _made(job, task, encode)


def make_counts(job: Job, task: range) -> Done[Counts]:
    """In a worker: what these indices add up to."""
    return _made(job, task, counts_of)


def make_sample(job: Job) -> Json:
    """In a worker: roll 0, by which one sees whether two machines come to the same bits."""
    with state.roller(job) as roller:
        return sample_roll(roller, job.seed)


def _made(job: Job, task: range, make: Callable[[list[Row]], Content]) -> Done[Content]:
    with state.roller(job) as roller:
        began_s = time.perf_counter()
        rows = [row_of(roller.roll(job.seed, index)) for index in task]
        seconds = time.perf_counter() - began_s
    return Done(make(rows), seconds)

"""A roll as one flat row of plain values: what goes between processes and into the files.

Contacts are kept as the names of the parts, joined by `|`: `snout` touches the table,
`snout>pink.trunk` the other pig. Their places follow from the positions, which are complete.

Rows as Arrow tables: what workers send, and what the parts hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from physim.statistics.counts import Counts
from physim.types import PIG_NAMES, TABLE, Contact, PigResult, Roll

Row = tuple[Any, ...]

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
    "x_m": "float64",
    "y_m": "float64",
    "z_m": "float64",
    "qx": "float64",
    "qy": "float64",
    "qz": "float64",
    "qw": "float64",
    "time_s": "float64",
    "contacts": "string",
}
# Name to type, in the order of a row. `score` and `rest` may be null.
COLUMNS = _ROLL_COLUMNS | {
    f"{pig}_{name}": kind for pig in PIG_NAMES for name, kind in _PIG_COLUMNS.items()
}
NULLABLE = ("score", *(f"{pig}_rest" for pig in PIG_NAMES))
COUNTED = (
    "status",
    "outcome",
    "score",
    "touching",
    *(f"{pig}_{name}" for pig in PIG_NAMES for name in ("pose", "rest")),
)


def row_of(roll: Roll) -> Row:
    """The row of a roll, in the order of `COLUMNS`; floats keep every bit."""
    return (
        roll.index,
        roll.status.value,
        roll.outcome.value,
        roll.score,
        roll.touching,
        roll.ended.value,
        float(roll.time_s),
        *(value for pig in roll.pigs for value in _pig_values(pig)),
    )


def counts_of(rows: Sequence[Row]) -> Counts:
    """What these rows add up to."""
    if not rows:
        return Counts()
    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    return Counts.from_columns(**{name: columns[name] for name in COUNTED})


def named(row: Row) -> dict[str, Any]:
    """The row as a mapping from column to value."""
    return dict(zip(COLUMNS, row, strict=True))


def _pig_values(pig: PigResult) -> Row:
    return (
        pig.pose.value,
        pig.rest,
        float(pig.margin),
        *pig.position_m.tolist(),
        *pig.quat_xyzw.tolist(),
        float(pig.time_s),
        "|".join(map(_contact, pig.contacts)),
    )


def _contact(contact: Contact) -> str:
    if contact.other == TABLE:
        return contact.part
    return f"{contact.part}>{contact.other}.{contact.other_part}"


_TYPES = {
    "int64": pa.int64(),
    "int16": pa.int16(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
}
SCHEMA = pa.schema(
    [pa.field(name, _TYPES[kind], nullable=name in NULLABLE) for name, kind in COLUMNS.items()]
)


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

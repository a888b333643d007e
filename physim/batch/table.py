"""Rows as Arrow tables: what workers send, and what the parts hold."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from physim.batch.rows import COLUMNS, NULLABLE, Row

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

"""Rolls that come one by one, as columns: `Roll` values or rows of `physim roll --json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from physim.errors import DatasetError
from physim.values import PIG_NAMES, Roll

_BLOCK_ROLLS = 50_000  # bounds the memory; the counts do not depend on it
_ROLL_FIELDS = ("status", "outcome", "score", "touching")
_PIG_FIELDS = ("pose", "rest")


def column_blocks(rows: Iterable[Roll | Mapping[str, Any]]) -> Iterator[dict[str, list[Any]]]:
    """The columns that `Counts.from_columns` takes, some thousand rolls at a time.

    Raises:
        DatasetError: a mapping without a field, or a roll without its two pigs.
    """
    iterator = iter(rows)
    while block := list(islice(iterator, _BLOCK_ROLLS)):
        yield _columns(block)


def _columns(rows: list[Roll | Mapping[str, Any]]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in _ROLL_FIELDS}
    columns.update({f"{pig}_{name}": [] for pig in PIG_NAMES for name in _PIG_FIELDS})
    for row in rows:
        for name in _ROLL_FIELDS:
            columns[name].append(_field(row, name))
        pigs = {_field(pig, "name"): pig for pig in _field(row, "pigs")}
        if set(pigs) != set(PIG_NAMES):
            raise DatasetError(f"a roll needs the pigs {' and '.join(PIG_NAMES)}")
        for pig in PIG_NAMES:
            for name in _PIG_FIELDS:
                columns[f"{pig}_{name}"].append(_field(pigs[pig], name))
    return columns


def _field(row: object, name: str) -> Any:
    if isinstance(row, Mapping):
        if name not in row:
            raise DatasetError(f"a roll without the field `{name}`")
        value = row[name]
    else:
        value = getattr(row, name)
    return getattr(value, "value", value)  # an enum's name as it stands in JSON

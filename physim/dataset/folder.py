"""Opens the dataset folder of a plan: begun anew, resumed or extended.

Reads a dataset folder back: columns as arrays, or what the rolls add up to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from physim.dataset import manifest as manifests
from physim.dataset.counts_only import Tally, read_tally
from physim.dataset.job import Sample
from physim.dataset.manifest import Json, Manifest, read_manifest, usable
from physim.dataset.parquet import part_paths, read_part
from physim.dataset.plan import BatchPlan
from physim.dataset.rows import COLUMNS, COUNTED, NULLABLE
from physim.errors import DatasetError
from physim.statistics.counts import Counts
from physim.types import PIG_NAMES, Outcome, Pose, Status


class Store(Protocol):
    """Where finished chunks go."""

    @property
    def done(self) -> int:
        """Rolls that need not be made."""
        ...

    def missing(self) -> Iterator[range]:
        """The chunks still to do."""
        ...

    def add(self, chunk: range, content: Any) -> None:
        """Keeps one chunk: a table of its rows, or its counts."""
        ...

    def close(self) -> None:
        """Writes what is not written yet."""
        ...


def open_store(
    plan: BatchPlan,
    configuration: Json,
    folder: Path,
    counts_only: bool,
    sample: Callable[[], Sample],
    *,
    mixed: bool = False,
) -> Store:
    """The store of a plan; the folder must be locked.

    Args:
        plan: what to roll. Its `chunk_size` gives way to that of the folder.
        configuration: the plan's.
        folder: empty, or with a dataset of the same configuration and no more rolls.
        counts_only: keep counts in place of rolls.
        sample: makes roll 0, to compare its bits before rolls are added.
        mixed: whether rolls of other bits may be added.

    Raises:
        DatasetError: the folder holds something else, or a damaged part.
    """
    kind = manifests.COUNTS if counts_only else manifests.ROLLS
    if not (folder / manifests.NAME).exists():
        refuse_foreign(folder)
        manifest = Manifest.of(plan, configuration, kind, sample())
        manifest.write(folder)
        return _open(manifest, folder)
    there = read_manifest(folder)
    there.check_configuration(configuration, kind, folder)
    if plan.n < there.n:
        raise DatasetError(
            f"{folder}: holds a dataset of {there.n} rolls; ask for {there.n} or more, or choose "
            "another folder"
        )
    manifest = replace(there, n=plan.n)
    store = _open(manifest, folder)
    if store.done < plan.n:
        manifest = manifest.joined(sample(), folder, mixed=mixed)
    if manifest != there:
        manifest.write(folder)
    return store


def _open(manifest: Manifest, folder: Path) -> Store:
    if manifest.kind == manifests.COUNTS:
        return Tally(manifest.n, manifest.chunk_size, folder, manifest.configuration_sha256)
    from physim.dataset.parquet import PartStore

    return PartStore(folder, manifest)


def refuse_foreign(folder: Path) -> None:
    """Refuses a folder that holds something, but no dataset; leaves it untouched.

    Raises:
        DatasetError: names something that is there.
    """
    with usable(folder):
        if (folder / manifests.NAME).exists() or not folder.is_dir():
            return
        found = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    if found:
        raise DatasetError(
            f"{folder}: not empty, and no dataset (no {manifests.NAME}, but {found[0]}); choose "
            "another folder"
        )


_PARTS_A_BLOCK = 500  # bounds the memory of `read_counts`
_THREADS = 4
_KINDS: dict[str, type[Enum]] = {
    "status": Status,
    "outcome": Outcome,
    **{f"{pig}_pose": Pose for pig in PIG_NAMES},
}


def read_columns(
    folder: Path | str, columns: Sequence[str] | None = None
) -> dict[str, NDArray[Any]]:
    """The rolls of a dataset, one array a column, in the order of the indices.

    Args:
        folder: the dataset.
        columns: names from `manifest.json`; None for all.

    Returns:
        Name to (n,) array: float64 (NaN for no score, no rest), int64, bool, or object for
        names. Rolls that were not made yet are absent.

    Raises:
        DatasetError: no dataset of rolls, a damaged part, or an unknown column.
    """
    wanted = list(COLUMNS) if columns is None else list(columns)
    if unknown := [name for name in wanted if name not in COLUMNS]:
        raise DatasetError(f"{folder}: no column `{unknown[0]}` (valid: {', '.join(COLUMNS)})")
    tables = list(_blocks(Path(folder), read_manifest(folder), wanted))
    table = pa.concat_tables(tables) if tables else None
    if table is None:
        return {name: np.empty(0) for name in wanted}
    return {name: _array(table[name], name) for name in wanted}


def read_counts(folder: Path | str) -> Counts:
    """What the rolls of a dataset add up to, those that are there.

    Raises:
        DatasetError: no dataset, or a damaged part.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    if manifest.kind == manifests.COUNTS:
        return read_tally(folder, manifest)
    counts = Counts()
    for table in _blocks(folder, manifest, COUNTED):
        counts += Counts.from_columns(**{name: _plain(table, name) for name in COUNTED})
    return counts


def _array(column: pa.ChunkedArray, name: str) -> NDArray[Any]:
    array: NDArray[Any] = column.to_numpy()
    return array.astype(float) if name in NULLABLE else array  # the same type without any null


def _plain(table: pa.Table, name: str) -> NDArray[Any]:
    """A column as `Counts.from_columns` takes it; names as codes, which is much faster."""
    column = table[name]
    if name in _KINDS:
        names = pa.array([member.value for member in _KINDS[name]])
        codes = compute.index_in(column, value_set=names)
        if codes.null_count:
            raise DatasetError(f"the column `{name}` holds an unknown name; is a part damaged?")
        column = codes
    plain: NDArray[Any] = column.to_numpy()
    return plain


def _blocks(folder: Path, manifest: Manifest, columns: Sequence[str]) -> Iterator[pa.Table]:
    """The parts in order, some hundred at a time."""
    if manifest.kind != manifests.ROLLS:
        raise DatasetError(f"{folder}: holds counts only, no rolls")

    def read(part: tuple[int, Path]) -> pa.Table:
        first, path = part
        return read_part(path, first, manifest, columns)

    parts = iter(part_paths(folder))
    with ThreadPoolExecutor(_THREADS) as threads:
        while block := list(islice(parts, _PARTS_A_BLOCK)):
            tables = [table.replace_schema_metadata() for table in threads.map(read, block)]
            yield pa.concat_tables(tables)

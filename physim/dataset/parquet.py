"""Parquet parts: one file a chunk of consecutive rolls, named by its first index.

They have a folder of their own, `rolls`, so that other programs can open it as one table.
A part's bytes depend on its rows and on the versions of the Parquet library alone. Every page
carries a checksum, and every part the hash of its configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from physim.dataset.manifest import (
    COUNTS,
    NAME,
    ROLLS,
    CountStore,
    Manifest,
    make_folder,
    read_manifest,
    write_whole,
)
from physim.dataset.rows import COLUMNS, NULLABLE, SCHEMA, decode
from physim.errors import DatasetError
from physim.files import told
from physim.statistics.counts import COUNTED, Counts

FOLDER = "rolls"
_NAME = re.compile("part-([0-9]{12})\\.parquet")  # names sort as their rolls do
# Floats repeat too rarely for a dictionary: without one, files are a fifth smaller.
_DICTIONARY = [name for name, kind in COLUMNS.items() if kind == "string"]
_AGAIN = "and run the same `physim batch` command again"


class PartStore:
    """Writes the parts of one dataset folder; `only_writer` must hold the folder."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self._manifest = manifest
        self._parts = folder / FOLDER
        # Of chunks that are not whole: rows by their first index.
        self._waiting: dict[range, dict[int, pa.Table]] = {}
        make_folder(self._parts)
        # First index to rows, of every part that is there and whole.
        self._there = {first: table.num_rows for first, table in _tables(folder, manifest, COLUMNS)}

    @property
    def done(self) -> int:
        """Rolls that need not be made."""
        return sum(self._there.values())

    def missing(self) -> Iterator[range]:
        """The rolls that are not there yet, at most a chunk at a time."""
        n, step = self._manifest.n, self._manifest.chunk_size
        for first in range(0, n, step):
            begin, end = first + self._there.get(first, 0), min(first + step, n)
            if begin < end:
                yield range(begin, end)

    def add(self, task: range, chunk: range, content: bytes) -> None:
        """Takes the rows of a task, and writes its chunk once that is whole.

        So a file is always a whole chunk, however many workers share it.
        """
        waiting = self._waiting.setdefault(chunk, {})
        waiting[task.start] = decode(content)
        if sum(table.num_rows for table in waiting.values()) == len(chunk):
            del self._waiting[chunk]
            self._write(chunk, [waiting[first] for first in sorted(waiting)])

    def close(self) -> None:
        """Writes nothing: a part is kept as it comes."""

    def _write(self, chunk: range, tables: list[pa.Table]) -> None:
        """Writes the part of a chunk, after the rows that it has had before the batch grew."""
        first = chunk.start - chunk.start % self._manifest.chunk_size
        path = self._parts / f"part-{first:012d}.parquet"
        if first < chunk.start:
            tables = [read_part(path, first, self._manifest, COLUMNS), *tables]
        metadata = _metadata(first, self._manifest)
        sink = pa.BufferOutputStream()
        parquet.write_table(
            pa.concat_tables(tables).combine_chunks().replace_schema_metadata(metadata),
            sink,
            compression="zstd",
            use_dictionary=_DICTIONARY,
            write_page_checksum=True,
        )
        write_whole(path, sink.getvalue().to_pybytes())


def part_paths(folder: Path) -> list[tuple[int, Path]]:
    """First index and path of every part, in the order of the indices.

    What only systems see (`.DS_Store`) may be there too; other programs would stumble over all
    else, which is refused.
    """
    found = []
    parts = folder / FOLDER
    with told(DatasetError, f"{parts}: cannot be read", "see to its permissions"):
        there = sorted(parts.iterdir()) if parts.is_dir() else []
    for path in there:
        name, plain = _NAME.fullmatch(path.name), path.is_file()  # a pipe would let one wait
        if name and plain:
            found.append((int(name[1]), path))
        elif not (plain and path.name.startswith(".") and path.suffix.lower() != ".parquet"):
            raise _stray(path)
    return found


def _stray(path: Path) -> DatasetError:
    return DatasetError(f"{path}: not a part of this dataset; move that file away {_AGAIN}")


def _metadata(first: int, manifest: Manifest) -> dict[bytes, bytes]:
    """What the part of that first index carries beside its rows."""
    return {
        b"physim.configuration_sha256": manifest.configuration_sha256.encode(),
        b"physim.first_index": str(first).encode(),
    }


def read_part(path: Path, first: int, manifest: Manifest, columns: Iterable[str]) -> pa.Table:
    """These columns of a part, checked against their checksums and the manifest."""
    with told(DatasetError, f"{path}: cannot be read", "see to its permissions"):
        content = path.open("rb")  # by name, the library reads none that is no UTF-8
    try:
        with content, parquet.ParquetFile(content, page_checksum_verification=True) as file:
            schema, kept = file.schema_arrow, file.schema_arrow.metadata or {}
            if not (schema.equals(SCHEMA) and _metadata(first, manifest).items() <= kept.items()):
                raise _stray(path)
            last = min(manifest.chunk_size, manifest.n - first)
            if first % manifest.chunk_size or not 0 < file.metadata.num_rows <= last:
                raise DatasetError(
                    f"{path}: `n` or `chunk_size` in {NAME} do not fit this part; one of the two "
                    "was changed: restore the manifest or begin another folder"
                )
            table = file.read(columns=list(columns), use_threads=False)
            return table.replace_schema_metadata()
    except (pa.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DatasetError(
            f"{path}: damaged or cut off ({reason}); delete that file {_AGAIN}"
        ) from error


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
    tables = [table for _, table in _tables(Path(folder), read_manifest(folder), wanted)]
    table = pa.concat_tables(tables or [SCHEMA.empty_table()])
    arrays = {name: table[name].to_numpy() for name in wanted}
    # The same type without any null.
    return {name: a.astype(float) if name in NULLABLE else a for name, a in arrays.items()}


def read_counts(folder: Path | str) -> Counts:
    """What the rolls of a dataset add up to, those that are there."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    if manifest.kind == COUNTS:
        return CountStore(manifest.n, 1, folder, manifest.configuration_sha256).counts
    counts = Counts()
    for _, table in _tables(folder, manifest, COUNTED):
        counts += Counts.from_columns(**{name: table[name].to_numpy() for name in COUNTED})
    return counts


def _tables(
    folder: Path, manifest: Manifest, columns: Iterable[str]
) -> Iterator[tuple[int, pa.Table]]:
    """First index and rows of every part, in order."""
    if manifest.kind != ROLLS:
        raise DatasetError(f"{folder}: holds counts only, no rolls")
    for first, path in part_paths(folder):
        yield first, read_part(path, first, manifest, columns)

"""Parquet parts: one file a chunk of consecutive rolls, named by its first index.

They have a folder of their own, `rolls`, so that other programs can open it as one table.

A part's bytes depend on its rows and on the versions of the Parquet library alone. Every page
carries a checksum, and every part the hash of its configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from physim.dataset.manifest import NAME, Manifest, make_folder, write_whole
from physim.dataset.rows import COLUMNS, SCHEMA
from physim.errors import DatasetError
from physim.files import told

FOLDER = "rolls"
_THREADS = 4
_DIGITS = 12  # of the last index that a batch can have: names sort as their rolls do
_SHA_KEY = b"physim.configuration_sha256"
_FIRST_KEY = b"physim.first_index"
# Floats repeat too rarely for a dictionary: without one, files are a fifth smaller.
_DICTIONARY = [name for name, kind in COLUMNS.items() if kind == "string"]
_UNREADABLE = (pa.ArrowException, OSError)


class PartStore:
    """Writes the parts of one dataset folder; `only_writer` must hold the folder."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self._manifest = manifest
        self._parts = folder / FOLDER
        make_folder(self._parts)
        # First index to rows, of every part that is there and whole.
        with ThreadPoolExecutor(_THREADS) as threads:
            there = threads.map(lambda at: check_part(at[1], at[0], manifest), part_paths(folder))
            self._there = dict(there)

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

    def add(self, chunk: range, rows: pa.Table) -> None:
        """Writes the part of one chunk, after the rows that it has had before the batch grew."""
        first = chunk.start - chunk.start % self._manifest.chunk_size
        path = self._parts / _part_name(first)
        if first < chunk.start:
            kept = read_part(path, first, self._manifest, list(COLUMNS))
            rows = pa.concat_tables([kept.replace_schema_metadata(), rows])
        metadata = {
            _SHA_KEY: self._manifest.configuration_sha256.encode(),
            _FIRST_KEY: str(first).encode(),
        }
        sink = pa.BufferOutputStream()
        parquet.write_table(
            rows.combine_chunks().replace_schema_metadata(metadata),
            sink,
            compression="zstd",
            use_dictionary=_DICTIONARY,
            write_page_checksum=True,
        )
        write_whole(path, sink.getvalue().to_pybytes())

    def close(self) -> None:
        """Nothing is left to write: a part is kept as it comes."""


def part_paths(folder: Path) -> list[tuple[int, Path]]:
    """First index and path of every part, in the order of the indices.

    Raises:
        DatasetError: something else is there, which other programs would read as a part of the
            table or stumble over. What only systems see (`.DS_Store`) may stay.
    """
    found = []
    parts = folder / FOLDER
    with told(DatasetError, f"{parts}: cannot be read", "see to its permissions"):
        there = sorted(parts.iterdir()) if parts.is_dir() else []
    for path in there:
        plain = path.is_file()  # reading a pipe would wait for ever
        if path.name.startswith(".") and plain and path.suffix.lower() != ".parquet":
            continue
        digits = path.stem.removeprefix("part-")
        first = int(digits) if digits.isdecimal() else 0
        if path.name != _part_name(first) or not plain:
            raise DatasetError(f"{path}: not a part of this dataset; {_MOVE_IT}")
        found.append((first, path))
    return sorted(found)


def _part_name(first: int) -> str:
    return f"part-{first:0{_DIGITS}d}.parquet"


def check_part(path: Path, first: int, manifest: Manifest) -> tuple[int, int]:
    """First index and number of rolls of a part, all of it checked against its checksums.

    Raises:
        DatasetError: damaged, or not a part of this dataset.
    """
    return first, read_part(path, first, manifest, list(COLUMNS)).num_rows


def read_part(path: Path, first: int, manifest: Manifest, columns: Sequence[str]) -> pa.Table:
    """These columns of a part, checked against their checksums.

    Raises:
        DatasetError: damaged, or not a part of this dataset.
    """
    with _opened(path, first, manifest) as file:
        return file.read(columns=list(columns), use_threads=False)


@contextmanager
def _opened(path: Path, first: int, manifest: Manifest) -> Iterator[parquet.ParquetFile]:
    with told(DatasetError, f"{path}: cannot be read", "see to its permissions"):
        content = path.open("rb")  # by name, the library reads none that is no UTF-8
    try:
        with content, parquet.ParquetFile(content, page_checksum_verification=True) as file:
            kept = file.schema_arrow.metadata or {}
            rows = file.metadata.num_rows
            if not file.schema_arrow.equals(SCHEMA) or kept.get(_FIRST_KEY) != str(first).encode():
                raise DatasetError(f"{path}: not a part of this dataset; {_MOVE_IT}")
            if kept.get(_SHA_KEY) != manifest.configuration_sha256.encode():
                raise DatasetError(
                    f"{path}: not a part of this dataset, but of another configuration; {_MOVE_IT}"
                )
            last = min(manifest.chunk_size, manifest.n - first)
            if first % manifest.chunk_size or not 0 < rows <= last:
                raise DatasetError(
                    f"{path}: `n` or `chunk_size` in {NAME} do not fit this part; one of the two "
                    "was changed: restore the manifest or begin another folder"
                )
            yield file
    except _UNREADABLE as error:
        raise _damaged(path, error) from error


_MOVE_IT = "move that file away and run the same `physim batch` command again"
_REMEDY = "delete that file and run the same `physim batch` command again"


def _damaged(path: Path, error: Exception) -> DatasetError:
    """The error for a part that cannot be read."""
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return DatasetError(f"{path}: damaged or cut off ({reason}); {_REMEDY}")

"""Reference tables: counts of real rolls, with where they come from.

They lie in `calibration/tables/`: a YAML file a table and, where a table is
long, a CSV file beside it.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from physim import yamlfile
from physim.arguments import hint, shown_name
from physim.errors import ConfigError
from physim.files import read_plain
from physim.resources import data_folder
from physim.statistics.counts import Counts
from physim.statistics.pairs import NAMED_POSES, PAIR_CELLS, POSE_CELLS, TOUCHING, pair_name
from physim.values import Pose

_CELLS = {"pose": POSE_CELLS, "pair": PAIR_CELLS}
_KEYS = ("title", "source", "cell", "sample_size", "method", "notes")
_MOST_INCHES, _MOST_ROLLS = 120.0, 10**9
_CSV_COLUMNS = ("height_in", "start_code", "black", "pink", "rolls")
_OWN_COLUMNS = ("height_in", "black", "pink", "rolls")  # of one's own rolls: one block


@dataclass(frozen=True)
class PairRow:
    """One row of a table of two-pig rolls.

    Attributes:
        height_in: height of release above the surface [inch].
        start_code: label of the block.
        black: pose of the marked pig; None where the pigs touched.
        pink: the other pig's.
        rolls: how many.
    """

    height_in: float
    start_code: int
    black: Pose | None
    pink: Pose | None
    rolls: int

    @property
    def cell(self) -> str:
        """Name of the row's cell in `ReferenceTable.counts`."""
        if self.black is None or self.pink is None:
            return TOUCHING
        return pair_name(self.black, self.pink)


@dataclass(frozen=True)
class ReferenceTable:
    """Counts of real rolls.

    Attributes:
        name: as in `--against`.
        title, source, method: one text each.
        cell: "pose" (a count a pig) or "pair" (a count a roll).
        sample_size: the sum of the counts: pigs or rolls.
        notes: what a user of the numbers must know.
        counts: every cell in a fixed order: the poses, or the unordered pairs
            ("trotter+razorback") and "touching".
        rows: a pair table's rows as counted; empty for a table of poses.
    """

    name: str
    title: str
    source: str
    method: str
    cell: str
    sample_size: int
    notes: tuple[str, ...]
    counts: Mapping[str, int]
    rows: tuple[PairRow, ...] = ()


def table_names() -> list[str]:
    """Names of the reference tables that are there."""
    return sorted(path.stem for path in table_folder().glob("*.yaml"))


def load_table(name: str) -> ReferenceTable:
    """Reads a reference table.

    Raises:
        ConfigError: no such table, or a damaged one.
    """
    if name not in table_names():
        raise ConfigError(
            f"unknown table `{shown_name(name)}`{hint(name, table_names())} "
            f"(valid: {', '.join(table_names())}, or the folder of a dataset)"
        )
    path = table_folder() / f"{name}.yaml"
    where = str(path)
    data = yamlfile.load(path)
    yamlfile.check_keys(data, (*_KEYS, "counts", "counts_csv"), where, required=_KEYS)
    cell = data["cell"]
    if cell not in _CELLS:
        raise ConfigError(f"{where}: `cell` must be one of {', '.join(_CELLS)}, found {cell!r}")
    rows: tuple[PairRow, ...] = ()
    if "counts_csv" in data:
        rows = read_pair_rows(path.with_name(str(data["counts_csv"])))
        counts = _pair_counts(rows)
    else:
        counts = _listed_counts(data, _CELLS[cell], where)
    sample_size = int(yamlfile.number(data, "sample_size", where, low=1))
    if set(counts) != set(_CELLS[cell]) or sum(counts.values()) != sample_size:
        raise ConfigError(f"{where}: the counts are no `{cell}` counts that add up to sample_size")
    return ReferenceTable(
        name=name,
        title=str(data["title"]),
        source=str(data["source"]),
        method=str(data["method"]),
        cell=cell,
        sample_size=sample_size,
        notes=tuple(str(note) for note in data["notes"]),
        counts=counts,
        rows=rows,
    )


def pool_poses(table: ReferenceTable) -> dict[Pose, int]:
    """Pigs by pose: the counts of a pose table, or a pair table's pigs that did not touch."""
    pigs = {Pose(name): 0 for name in POSE_CELLS}
    for cell, count in table.counts.items():
        if cell != TOUCHING:
            for name in cell.split("+"):
                pigs[Pose(name)] += count
    return pigs


def table_folder() -> Path:
    """Where the tables are."""
    return data_folder("calibration") / "tables"


def _listed_counts(data: Mapping[str, Any], cells: tuple[str, ...], where: str) -> dict[str, int]:
    listed, where = data.get("counts"), f"{where}: counts"
    if not isinstance(listed, dict):
        raise ConfigError(f"{where}: expected one line a cell ({', '.join(cells)})")
    yamlfile.check_keys(listed, cells, where, required=cells)
    return {cell: int(yamlfile.number(listed, cell, where, low=0)) for cell in cells}


def _pair_counts(rows: tuple[PairRow, ...]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row.cell] += row.rolls
    return {cell: counts[cell] for cell in PAIR_CELLS}


def read_pair_rows(path: Path) -> tuple[PairRow, ...]:
    """Reads a CSV file of two-pig rolls, one line a height, start code and ordered pair.

    Raises:
        ConfigError: a missing file, other columns, or a line that is no count.
    """
    content = read_plain(path, ConfigError, "name a CSV file of rolls")
    try:
        reader = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        columns = tuple(reader.fieldnames or ())
        if columns not in (_CSV_COLUMNS, _OWN_COLUMNS):
            raise ConfigError(
                f"{path}: the columns must be {','.join(_OWN_COLUMNS)} or {','.join(_CSV_COLUMNS)}"
            )
        rows: list[PairRow] = []
        for row in reader:
            rows.append(_row(row, f"{path}: line {reader.line_num}"))
    except (csv.Error, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not a CSV file in UTF-8 ({error})") from error
    if not sum(row.rolls for row in rows):
        raise ConfigError(f"{path}: counts no rolls")
    return tuple(rows)


def _row(row: Mapping[Any, Any], where: str) -> PairRow:
    if None in row or None in row.values():
        raise ConfigError(f"{where}: other than one entry a column")
    try:
        black, pink = (
            None if row[pig] == TOUCHING else Pose(row[pig]) for pig in ("black", "pink")
        )
        height_in, rolls = float(row["height_in"]), int(row["rolls"])
        start_code = int(row.get("start_code", 0))
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from error
    if (black is None) != (pink is None):
        raise ConfigError(f"{where}: `touching` must stand for both pigs of a row")
    if not 0.0 < height_in <= _MOST_INCHES:
        raise ConfigError(f"{where}: `height_in` must lie above 0 and not above {_MOST_INCHES:g}")
    if not 0 <= rolls <= _MOST_ROLLS:
        raise ConfigError(f"{where}: `rolls` must lie in [0, {_MOST_ROLLS:,}]")
    return PairRow(height_in, start_code, black, pink, rolls)


def table_of(counts: Counts, name: str) -> ReferenceTable:
    """The single pigs of a sample as a reference table, to compare another sample with."""
    poses = {pose.value: counts.poses[pose] for pose in NAMED_POSES}
    return ReferenceTable(
        name=name,
        title=f"the rolls in {name}",
        source="simulated",
        method="physim batch",
        cell="pose",
        sample_size=sum(poses.values()),
        notes=(),
        counts=poses,
        rows=(),
    )

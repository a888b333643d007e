"""Reference tables: counts of real rolls, with where they come from.

They lie in `calibration/tables/`: a YAML file a table and, where a table is
long, a CSV file beside it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from physim import config
from physim.errors import ConfigError, hint, shown, shown_name
from physim.files import data_folder, read_plain
from physim.statistics.counts import POSE_CELLS, TOUCHING, Counts, total
from physim.types import Outcome, Pose

_MOST_INCHES, _MOST_ROLLS = 120.0, 10**9
_M_PER_INCH = 0.0254
_CSV_COLUMNS = ("height_in", "start_code", "black", "pink", "rolls")
_OWN_COLUMNS = ("height_in", "black", "pink", "rolls")  # of one's own rolls: one block
_DIGITS = re.compile(r"[0-9]{1,19}")
_DECIMAL = re.compile(r"[0-9]+([.][0-9]*)?|[.][0-9]+")


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

    def counts(self) -> Counts:
        """The rolls as counts; those of pigs that touch are oinkers, since no table tells more."""
        if self.black is None or self.pink is None:
            outcomes = {**Counts().outcomes, Outcome.OINKER: self.rolls}
            return Counts(rolls=self.rolls, outcomes=outcomes)
        return Counts(rolls=self.rolls, joint={(self.black, self.pink): self.rolls})


@dataclass(frozen=True)
class ReferenceTable:
    """Counts of real rolls, or of a sample that another one is compared with.

    Attributes:
        name: as in `--against`.
        counts: every cell in a fixed order: `POSE_CELLS` (a count a pig) or `PAIR_CELLS` (a count
            a roll).
        rows: a pair table's rows as counted; empty for a table of poses.
    """

    name: str
    counts: Mapping[str, int]
    rows: tuple[PairRow, ...] = ()

    @property
    def of_pairs(self) -> bool:
        """Whether it counts rolls by pairs of poses, not pigs by poses."""
        return TOUCHING in self.counts

    @property
    def sample_size(self) -> int:
        """Pigs or rolls."""
        return sum(self.counts.values())


def table_names() -> list[str]:
    """Names of the reference tables that are there."""
    return sorted(path.stem for path in table_folder().glob("*.yaml"))


def load_table(name: str, also: str = "") -> ReferenceTable:
    """Reads a reference table, or one's own counts.

    Args:
        name: of a table, or the path of a CSV file as `read_pair_rows` reads it.
        also: what else may be given, for the message.

    Raises:
        ConfigError: no such table, or a damaged one.
    """
    if name.endswith(".csv"):
        return _table_of_pairs(name, Path(name))
    if name not in table_names():
        raise ConfigError(
            f"unknown table `{shown_name(name)}`{hint(name, table_names())} (valid: "
            f"{', '.join(table_names())}, or the path of a .csv file of two-pig rolls{also})"
        )
    path = table_folder() / f"{name}.yaml"
    data = config.load(path)
    if "counts_csv" in data:
        return _table_of_pairs(name, path.with_name(str(data["counts_csv"])))
    listed, where = data.get("counts") or {}, f"{path}: counts"
    config.check_keys(listed, POSE_CELLS, where, required=POSE_CELLS)
    counts = {
        cell: config.whole(f"{where}: `{cell}`", listed[cell], 0, _MOST_ROLLS)
        for cell in POSE_CELLS
    }
    return ReferenceTable(name, counts)


def _table_of_pairs(name: str, path: Path) -> ReferenceTable:
    rows = read_pair_rows(path)
    return ReferenceTable(name, total(real_by_height(rows)).pair_cells(), rows)


def real_by_height(rows: Iterable[PairRow]) -> dict[float, Counts]:
    """The rows of a table of pairs, by the height of release [m], the lowest first."""
    by_height: dict[float, Counts] = {}
    for row in sorted(rows, key=lambda row: row.height_in):
        height_m = row.height_in * _M_PER_INCH
        by_height[height_m] = by_height.get(height_m, Counts()) + row.counts()
    return by_height


def pool_poses(table: ReferenceTable) -> dict[Pose, int]:
    """Pigs by pose: the counts of a pose table, or a pair table's pigs that did not touch."""
    pigs = dict.fromkeys(map(Pose, POSE_CELLS), 0)
    for cell, count in table.counts.items():
        if cell != TOUCHING:
            for name in cell.split("+"):
                pigs[Pose(name)] += count
    return pigs


def table_folder() -> Path:
    """Where the tables are."""
    return data_folder("calibration") / "tables"


def read_pair_rows(path: Path) -> tuple[PairRow, ...]:
    """Reads a CSV file of two-pig rolls, one line a height, start code and ordered pair.

    Fields are parted by commas, semicolons or tabs; blanks around them, empty lines and a byte
    order mark are passed over, and columns may stand in any order.

    Raises:
        ConfigError: a missing file, other columns, a line that is no count, or one that counts the
            same rolls as an earlier one.
    """
    content = read_plain(path, ConfigError, "name a CSV file of rolls")
    try:
        file = io.StringIO(content.decode("utf-8-sig"), newline="")
        head = file.readline()
        separator = next((sign for sign in ";\t" if sign in head), ",")
        names = next(csv.reader([head], delimiter=separator), [])
        columns = tuple(name.strip() for name in names)
        if sorted(columns) not in (sorted(_OWN_COLUMNS), sorted(_CSV_COLUMNS)):
            raise ConfigError(
                f"{path}: line 1: the columns must be {','.join(_OWN_COLUMNS)} or "
                f"{','.join(_CSV_COLUMNS)}, found {shown_name(head.strip())}"
            )
        rows = _rows(csv.reader(file, delimiter=separator), columns, path)
    except (csv.Error, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is no CSV file in UTF-8; save it as one") from error
    if not sum(row.rolls for row in rows):
        raise ConfigError(f"{path}: counts no rolls; give at least one line with `rolls` above 0")
    return tuple(rows)


def _rows(records: Iterable[list[str]], columns: tuple[str, ...], path: Path) -> list[PairRow]:
    """The rows after the head; lines are counted from 2."""
    rows: dict[tuple[float, int, Pose | None, Pose | None], tuple[int, PairRow]] = {}
    for line, record in enumerate(records, start=2):
        where = f"{path}: line {line}"
        cells = [cell.strip() for cell in record]
        if not any(cells):
            continue
        if len(cells) != len(columns):
            raise ConfigError(
                f"{where}: has {len(cells)} fields where the head has {len(columns)} "
                f"({', '.join(columns)})"
            )
        row = _row(dict(zip(columns, cells, strict=True)), where)
        before, _ = rows.setdefault(
            (row.height_in, row.start_code, row.black, row.pink), (line, row)
        )
        if before != line:
            raise ConfigError(
                f"{where}: counts the same rolls as line {before}: add the two up, or correct one"
            )
    return [row for _, row in rows.values()]


def _row(row: Mapping[str, str], where: str) -> PairRow:
    black, pink = (_pose(row[pig], f"{where}: `{pig}`") for pig in ("black", "pink"))
    if (black is None) != (pink is None):
        raise ConfigError(f"{where}: `{TOUCHING}` must stand for both pigs of a row")
    height = row["height_in"]
    if not _DECIMAL.fullmatch(height) or not 0.0 < float(height) <= _MOST_INCHES:
        raise ConfigError(
            f"{where}: `height_in` must be a number of inches above 0 and at most "
            f"{_MOST_INCHES:g}, such as 5 or 7.5, found {shown(height)}"
        )
    start_code = _whole(row.get("start_code", "0"), f"{where}: `start_code`")
    return PairRow(
        float(height), start_code, black, pink, _whole(row["rolls"], f"{where}: `rolls`")
    )


def _pose(text: str, where: str) -> Pose | None:
    """None for pigs that touch."""
    valid = [*(pose.value for pose in Pose), TOUCHING]
    if text not in valid:
        raise ConfigError(
            f"{where} must be one of {', '.join(valid)}, found {shown(text)}{hint(text, valid)}"
        )
    return None if text == TOUCHING else Pose(text)


def _whole(text: str, where: str) -> int:
    if not _DIGITS.fullmatch(text) or int(text) > _MOST_ROLLS:
        raise ConfigError(
            f"{where} must be a whole number from 0 to {_MOST_ROLLS:,}, written in digits alone, "
            f"found {shown(text)}"
        )
    return int(text)

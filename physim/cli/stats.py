"""`physim stats`: what a dataset adds up to, alone or beside a table of real rolls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from physim.cli.options import file_path, printed
from physim.cli.output import say
from physim.config import text
from physim.errors import ConfigError, DatasetError

if TYPE_CHECKING:
    from physim.statistics.counts import Counts
    from physim.statistics.tables import ReferenceTable


@click.command()
@click.argument("folder", metavar="DIR", type=file_path)
@click.argument("other", metavar="[DIR2]", type=file_path, required=False)
@click.option(
    "--against",
    metavar="TABLE|CSV|DIR",
    help="A table of real rolls (kern2006, kern2006_pairs), your own counts as `physim calibrate "
    "--table` takes them, or another dataset.",
)
@printed
def stats(folder: Path, other: Path | None, against: str | None) -> tuple[Any, str]:
    """Count the rolls of the dataset in DIR, or set those of two datasets side by side.

    Frequencies have exact 95 % intervals. With --against, the distance to a table of real rolls,
    or to another dataset's poses, and whether chance explains it. With DIR2, the points that each
    pose's rarity would deserve. With both, each difference, its 95 % interval and p, adjusted for
    the poses, and for the pairs (a star where chance hardly explains it). With --against, shares
    are of the poses that the rules name, on both sides; with DIR2, `other` counts on both.
    """
    if other is not None and against is not None:
        raise ConfigError("give a second dataset or --against, not both")
    import numpy as np

    from physim.dataset.manifest import read_manifest
    from physim.statistics import report
    from physim.statistics.tables import table_folder, table_names
    from physim.statistics.tests import compare

    counts = _counts(folder)
    if other is not None:
        two, names = _counts(other), (str(folder), str(other))
        return report.two_to_json(counts, two, names), report.two_to_text(counts, two, names)
    manifest, comparison, source = read_manifest(folder), None, ""
    if against is not None:
        rng = np.random.default_rng(manifest.seed)
        comparison = compare(counts, _table(against), rng=rng)
        if against in table_names():
            source = f"\n  the table: {table_folder() / against}.yaml"
    plain = report.to_json(counts, comparison, same_model=manifest.same_model)
    return plain, report.to_text(counts, comparison, manifest.same_model) + source


def _counts(folder: Path) -> Counts:
    """The counts of a dataset; says so if it does not hold all of its rolls."""
    from physim.dataset.manifest import read_manifest
    from physim.dataset.parquet import read_counts

    manifest, counts = read_manifest(folder), read_counts(folder)
    if counts.rolls < manifest.n:
        say(
            f"physim: {folder} holds {counts.rolls} of {manifest.n} rolls; run its "
            "`physim batch` command again for the others"
        )
    return counts


def _table(against: str) -> ReferenceTable:
    """A table of real rolls by its name or CSV file, or the poses of another dataset."""
    from physim.statistics.tables import ReferenceTable, load_table, table_names

    if text("--against", against) in table_names() or not Path(against).is_dir():
        table = load_table(against, ", or the folder of a dataset")
        if not table.sample_size:
            raise ConfigError(
                f"{against}: counts no roll in which both pigs lie as the rules say or touch, so "
                "there is nothing to compare with"
            )
        return table
    poses = _counts(Path(against)).pose_cells()
    if not any(poses.values()):
        raise DatasetError(
            f"{against}: holds no pig in a pose of the rules, so there is nothing to compare with; "
            "run its `physim batch` command again, or with a larger N"
        )
    return ReferenceTable(against, poses)

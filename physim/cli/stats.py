"""`physim stats`: what a dataset adds up to, alone or beside a table of real rolls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from physim.cli.options import file_path, json_option
from physim.cli.output import clean_stdout, print_json, say
from physim.config import text
from physim.errors import ConfigError, DatasetError

if TYPE_CHECKING:
    from physim.statistics.compare import Comparison
    from physim.statistics.counts import Counts
    from physim.statistics.tables import ReferenceTable


@click.command()
@click.argument("folder", metavar="DIR", type=file_path)
@click.argument("other", metavar="[DIR2]", type=file_path, required=False)
@click.option(
    "--against",
    metavar="TABLE|DIR",
    help="A table of real rolls (kern2006, kern2006_pairs), or another dataset.",
)
@json_option
def stats(folder: Path, other: Path | None, against: str | None, as_json: bool) -> None:
    """Count the rolls of the dataset in DIR, or set those of two datasets side by side.

    Frequencies have exact 95 % intervals. With --against, the distance to a table of real rolls,
    or to another dataset's poses, and whether chance explains it. With DIR2, the points that each
    pose's rarity would deserve. With both, each difference, its 95 % interval and p, adjusted for
    the poses, and for the pairs (a star where chance hardly explains it). With --against, shares
    are of the poses that the rules name, on both sides; with DIR2, `other` counts on both.
    """
    if other is not None:
        if against is not None:
            raise ConfigError("give a second dataset or --against, not both")
        _two(folder, other, as_json)
        return
    from physim.dataset.manifest import read_manifest
    from physim.statistics.report import format_stats, summarize

    manifest = read_manifest(folder)
    comparison = None
    counts = _counts(folder)
    if against is not None:
        comparison = compare_with(counts, against, manifest.seed)
    with clean_stdout() as stdout:
        if as_json:
            print_json(summarize(counts, comparison, same_model=manifest.same_model), stdout)
            return
        stdout.write(format_stats(counts, comparison, manifest.same_model) + "\n")
        if comparison is not None:
            from physim.statistics.tables import table_folder, table_names

            if against in table_names():
                stdout.write(f"  the table: {table_folder() / against}.yaml\n")


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


def _two(folder: Path, other: Path, as_json: bool) -> None:
    from physim.statistics.compare import format_two, two_to_json

    one, two, names = _counts(folder), _counts(other), (str(folder), str(other))
    with clean_stdout() as stdout:
        if as_json:
            print_json(two_to_json(one, two, names), stdout)
        else:
            stdout.write(format_two(one, two, names) + "\n")


def compare_with(counts: Counts, against: str, seed: int) -> Comparison:
    """The counts beside a table; where cells are thin, p comes from tables drawn with `seed`.

    Args:
        counts: of the dataset.
        against: name of a reference table, or the folder of another dataset.
        seed: of the drawn tables.
    """
    import numpy as np

    from physim.statistics.compare import compare
    from physim.statistics.tables import load_table, table_names

    against = text("--against", against)
    is_dataset = against not in table_names() and Path(against).is_dir()
    table = _table_of_dataset(Path(against)) if is_dataset else load_table(against)
    comparison = compare(counts, table)
    if comparison.test is not None and comparison.test.smallest_expected < 5:
        return compare(counts, table, rng=np.random.default_rng(seed))
    return comparison


def _table_of_dataset(folder: Path) -> ReferenceTable:
    from physim.statistics.tables import table_of

    table = table_of(_counts(folder), str(folder))
    if not table.sample_size:
        raise DatasetError(
            f"{folder}: holds no pig in a pose of the rules, so there is nothing to compare with; "
            "run its `physim batch` command again, or with a larger N"
        )
    return table

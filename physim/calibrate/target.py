"""The real rolls that a fit is to agree with: all of a table, or half of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from physim.arguments import hint, shown_name
from physim.calibrate.sample import ROLLS, TOUCHING, Sample
from physim.errors import ConfigError
from physim.names import PIG_NAMES, Pose
from physim.statistics.tables import PairRow, load_table, read_pair_rows, table_names

TABLE = "kern2006_pairs"
HALF_SEED = 2006  # of the one way in which the rolls are split
_MM_PER_INCH = 25.4


@dataclass(frozen=True)
class Target:
    """Counts of real rolls by height.

    Attributes:
        name: of the table, or the path of the file.
        half: 1 or 2; None for all rolls.
        sample: the counts.
    """

    name: str
    half: int | None
    sample: Sample


def load_target(name: str | Path = TABLE, half: int | None = None) -> Target:
    """As `real_rows`, counted as a fit counts them."""
    sample = _sample(real_rows(name, half))
    for height in sample.heights_mm:
        poses = sample.poses(height)
        if sum(poses.values()) == poses[Pose.OTHER]:
            raise ConfigError(
                f"{shown_name(name)}: counts no pigs from {height} mm that came to rest apart and "
                "in a pose of the rules, so there are no poses to fit"
            )
    return Target(str(name), half, sample)


def real_rows(name: str | Path = TABLE, half: int | None = None) -> tuple[PairRow, ...]:
    """Reads real rolls, or one of two halves that have no roll in common.

    Args:
        name: a reference table of two-pig rolls, or a CSV file with the columns of
            `calibration/tables/kern2006_pairs.csv`.
        half: 1 or 2. Within each height the rolls are dealt out at random, with a fixed seed.

    Raises:
        ConfigError: no such table or file, or a table without heights.
    """
    is_file = str(name).endswith(".csv")
    if not is_file and name not in table_names():
        raise ConfigError(
            f"unknown table `{shown_name(name)}`{hint(name, table_names())} (valid: {TABLE}, or "
            "the path of a .csv file)"
        )
    rows = read_pair_rows(Path(name)) if is_file else load_table(str(name)).rows
    if not rows:
        raise ConfigError(
            f"the table `{name}` counts single pigs; a fit needs two-pig rolls by height, such as "
            f"{TABLE}"
        )
    return rows if half is None else _half(rows, half)


def _half(rows: tuple[PairRow, ...], half: int) -> tuple[PairRow, ...]:
    if half not in (1, 2):
        raise ConfigError(f"half must be 1 or 2, found {half}")
    rng = np.random.Generator(np.random.PCG64(HALF_SEED))
    kept = []
    for height in sorted({row.height_in for row in rows}):
        here = [row for row in rows if row.height_in == height]
        counts = np.array([row.rolls for row in here])
        if counts.sum() < 2:
            raise ConfigError(
                f"fewer than two real rolls from {height:g} inches; leave out the half"
            )
        first = rng.multivariate_hypergeometric(counts, int(counts.sum()) // 2)
        chosen = first if half == 1 else counts - first
        kept += [
            replace(row, rolls=n) for row, n in zip(here, chosen.tolist(), strict=True) if n > 0
        ]
    return tuple(kept)


def _sample(rows: tuple[PairRow, ...]) -> Sample:
    pigs: Counter[tuple[int, str, Pose]] = Counter()
    fates: Counter[tuple[int, str]] = Counter()
    for row in rows:
        if not row.rolls:
            continue
        height = round(row.height_in * _MM_PER_INCH)
        fates[height, ROLLS] += row.rolls
        if row.black is None or row.pink is None:
            fates[height, TOUCHING] += row.rolls
            continue
        for pig, pose in zip(PIG_NAMES, (row.black, row.pink), strict=True):
            pigs[height, pig, pose] += row.rolls
    return Sample(dict(pigs), dict(fates))

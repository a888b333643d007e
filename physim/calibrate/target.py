"""The real rolls that a fit is to agree with: all of a table, or half of them.

How far simulated rolls are from the real ones, as one number to be made small.

For each height of release two tables of counts are compared, real beside simulated:

* the pigs by named pose (six cells), both pigs of a roll together or each apart;
* the rolls by what became of them: touching, without a named pose (unsettled or ambiguous), and
  all others. No real roll was without a pose, so this is the penalty for such rolls: about two for
  each that would be expected among as many rolls as there are real ones. What left the table is
  left out, since the table of real rolls would not hold it.

The distance is the two-sample G statistic, 2 sum O ln(O / E) over both rows, and not the deviance
of the real counts under the simulated frequencies: that one takes the frequencies of a few
hundred rolls as exact, is infinite where a rare pose did not come up among them, and so sends a
search after lucky samples. G counts the noise of both samples: in the mean it is the degrees of
freedom where both have one distribution, for any number of rolls, and it tends to the deviance as
the simulated rolls become many. With few of them it tells less, and the prior weighs more: as it
should.

Counts of samples and of the real rolls, a kind of table at a time, as regressions take them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from physim.calibrate.priors import Space, Values
from physim.calibrate.sample import ROLLS, TOUCHING, Json, Sample
from physim.errors import ConfigError, hint, shown_name
from physim.statistics.counts import NAMED_POSES
from physim.statistics.tables import PairRow, load_table, read_pair_rows, table_names
from physim.statistics.tests import g_test, total_variation
from physim.types import PIG_NAMES, ExactValue, FloatArray, Pose

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


_NOTHING = 1e6  # the distance of a sample in which no pig came to a named pose


@dataclass(frozen=True)
class Term:
    """One table of counts, real beside simulated.

    Attributes:
        name: such as `poses at 127 mm`.
        g: two-sample G.
        df: its degrees of freedom.
    """

    name: str
    g: float
    df: int


@dataclass(frozen=True)
class Table:
    """Counts of one kind at one height.

    Attributes:
        kind: `poses` of both pigs or of one, or `rolls` by how they ended.
        height_mm: of release.
        counts: by cell.
    """

    kind: str
    height_mm: int
    counts: list[int]


@dataclass(frozen=True)
class Distance:
    """Of one sample from the real rolls.

    Attributes:
        terms: one a table of counts.
        penalty: of the parameters, by the prior.
        tv: total variation distance of the six poses, heights and pigs pooled.
    """

    terms: tuple[Term, ...]
    penalty: float
    tv: float

    @property
    def g(self) -> float:
        return sum(term.g for term in self.terms)

    @property
    def df(self) -> int:
        return sum(term.df for term in self.terms)

    @property
    def p(self) -> float:
        """Of a `g` as large if both came from one distribution.

        Not reduced for the parameters that were fitted to the same rolls.
        """
        return float(chi2.sf(self.g, self.df))

    @property
    def loss(self) -> float:
        """What a fit makes small."""
        return self.g + self.penalty

    def to_json(self) -> Json:
        return {
            "g": self.g,
            "df": self.df,
            "p": self.p,
            "tv": self.tv,
            "penalty": self.penalty,
            "terms": [{"name": term.name, "g": term.g, "df": term.df} for term in self.terms],
        }


@dataclass(frozen=True)
class Objective:
    """The distance from real rolls.

    Attributes:
        target: the real rolls.
        space: the parameters, with their prior.
        by_pig: compares each pig apart; needed where the two pigs are to differ.
    """

    target: Target
    space: Space
    by_pig: bool = False

    def __call__(self, sample: Sample, values: Values) -> Distance:
        """The distance of simulated rolls at these values.

        Raises:
            ConfigError: they are not from the heights of the real rolls.
        """
        real = self.target.sample
        if sample.heights_mm != real.heights_mm:
            raise ConfigError(
                f"the real rolls are from {_listed(real)}, the simulated ones from "
                f"{_listed(sample)}; take a toss with the same heights"
            )
        terms = tuple(
            _term(one, two) for one, two in zip(self.tables(sample), self.tables(real), strict=True)
        )
        one, two = (_named(counts, None, None) for counts in (sample, real))
        tv = total_variation(one, two) if sum(one) else 1.0
        return Distance(terms, self.space.penalty(values), tv)

    def tables(self, sample: Sample) -> Iterator[Table]:
        """The tables of counts that are compared."""
        for height in self.target.sample.heights_mm:
            for pig in PIG_NAMES if self.by_pig else (None,):
                kind = f"poses of {pig}" if pig else "poses"
                yield Table(kind, height, _named(sample, height, pig))
            touching = sample.fate(TOUCHING, height)
            unnamed = sample.fate("unsettled", height) + sample.fate("ambiguous", height)
            on_table = sample.fate(ROLLS, height) - sample.fate("off_table", height)
            yield Table("rolls", height, [touching, unnamed, on_table - touching - unnamed])


def _named(sample: Sample, height_mm: int | None, pig: str | None) -> list[int]:
    poses = sample.poses(height_mm, pig)
    return [poses[pose] for pose in NAMED_POSES]


def _term(one: Table, two: Table) -> Term:
    name = f"{one.kind} at {one.height_mm} mm"
    if not sum(one.counts) or not sum(two.counts):
        return Term(name, _NOTHING, len(one.counts) - 1)
    test = g_test(one.counts, two.counts)
    return Term(name, test.g, test.df)


def _listed(sample: Sample) -> str:
    return " and ".join(f"{height} mm" for height in sample.heights_mm) or "nowhere"


_BARELY = 1e-3  # pigs a sample in a cell that no sample has any in

Point = tuple[FloatArray, Sample]


@dataclass(frozen=True, eq=False)
class Kind(ExactValue):
    """Counts of one kind; the cell with the most simulated pigs comes first.

    Attributes:
        simulated: (n, d) points, (n,) heights as `surface.features` has them, (n, k) counts.
        heights: (m,) of the real counts, likewise.
        real: (m, k) counts.
    """

    simulated: tuple[FloatArray, FloatArray, FloatArray]
    heights: FloatArray
    real: NDArray[np.int64]


def kinds(points: Sequence[Point], objective: Objective) -> Iterator[Kind]:
    """The kinds of tables that are compared.

    Args:
        points: (d,) parameters on any scale, and the rolls there.
        objective: with the real rolls.
    """
    real = list(objective.tables(objective.target.sample))
    simulated = [list(objective.tables(sample)) for _, sample in points]
    x = np.array([point for point, _ in points])
    for kind in dict.fromkeys(table.kind for table in real):
        yield _of_kind(
            [table for table in real if table.kind == kind],
            [[table for table in tables if table.kind == kind] for tables in simulated],
            x,
        )


def _of_kind(real: Sequence[Table], simulated: Sequence[Sequence[Table]], x: FloatArray) -> Kind:
    mm = np.array([table.height_mm for table in real], dtype=float)
    heights = (mm - mm.mean()) / max(np.ptp(mm), 1.0)
    counts = np.array([table.counts for tables in simulated for table in tables], dtype=float)
    target = np.array([table.counts for table in real])
    there = (counts.sum(axis=0) > 0) | (target.sum(axis=0) > 0)
    counts, target = counts[:, there], target[:, there]
    counts[:, counts.sum(axis=0) == 0] = _BARELY
    first = np.argsort(-counts.sum(axis=0), kind="stable")  # the log-odds are against the first
    counts, target = counts[:, first], target[:, first]
    some = counts.sum(axis=1) > 0
    return Kind(
        (
            np.repeat(x, len(real), axis=0)[some],
            np.tile(heights, len(x))[some],
            counts[some],
        ),
        heights,
        target,
    )

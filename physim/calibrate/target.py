"""Real rolls that a fit is to agree with, and how far simulated rolls are from them.

For each height of release two contingency tables are compared, real beside simulated:

* the pigs by named pose (six cells);
* the rolls by outcome: touching, without a named pose (unsettled or ambiguous), and all others. No
  real roll was without a pose, so this is the penalty for such rolls: about two for each that
  would be expected among as many rolls as there are real ones. What left the table is left out,
  since the table of real rolls would not hold it.

The distance is the two-sample G statistic, 2 sum O ln(O / E) over both rows. The deviance of the
real counts under the simulated frequencies would take the frequencies of a few hundred rolls as
exact, be infinite where a rare pose did not come up among them, and send a search after lucky
samples. G counts the noise of both samples: its mean is the degrees of freedom where both have one
distribution, for any number of rolls, and it tends to the deviance as simulated rolls become many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from physim import config
from physim.calibrate.priors import Space, Values
from physim.errors import ConfigError, DatasetError, shown_name
from physim.statistics.counts import NAMED_POSES
from physim.statistics.tables import PairRow, load_table
from physim.statistics.tests import g_test, total_variation
from physim.tosses.release import TossModel, Trapdoor
from physim.types import PIG_NAMES, ExactValue, FloatArray, Outcome, Pose

Json = dict[str, Any]
Progress = Callable[[int, int, str], None]  # done, to be done, and of what
TABLE = "kern2006_pairs"
ROLLS, TOUCHING = "rolls", "touching"
OUTCOMES = (ROLLS, TOUCHING, "piggyback", "unsettled", "ambiguous", "off_table")
"""What is counted a roll: all of them, and those without two named poses by why. A piggyback is
touching too."""

_MOST = 10**12  # rolls: no fit counts that far
_HALF_SEED = 2006  # of the one way in which the rolls are split
_MM_PER_INCH = 25.4
_NO_POSES = 1e6  # the distance of a sample in which no pig came to a named pose
_BARELY = 1e-3  # pigs a sample in a cell that no sample has any in


@dataclass(frozen=True)
class HeightCounts:
    """Counts of rolls; `a + b` counts the rolls of both, and `HeightCounts()` is zero.

    Attributes:
        counts: by height of release [mm], then `rolls` and one of `OUTCOMES`, or a pig's name and
            its pose, of pigs that came to rest untouched and on the table.
    """

    counts: Counter[tuple[int, str, str]] = field(default_factory=Counter)

    def __add__(self, other: HeightCounts) -> HeightCounts:
        return HeightCounts(self.counts + other.counts)

    @property
    def heights_mm(self) -> tuple[int, ...]:
        """The heights that came up."""
        return tuple(sorted({height for height, _, name in self.counts if name == ROLLS}))

    @property
    def rolls(self) -> int:
        """All of them."""
        return self.outcome(ROLLS)

    def outcome(self, name: str, height_mm: int | None = None) -> int:
        """Rolls of that outcome, at one height or at all."""
        heights = self.heights_mm if height_mm is None else (height_mm,)
        return sum(self.counts[height, ROLLS, name] for height in heights)

    def poses(self, height_mm: int | None = None, pig: str | None = None) -> dict[Pose, int]:
        """Pigs by pose, `other` included, at one height or at all, of one pig or of both."""
        heights = self.heights_mm if height_mm is None else (height_mm,)
        pigs = PIG_NAMES if pig is None else (pig,)
        return {
            pose: sum(self.counts[height, name, pose.value] for height in heights for name in pigs)
            for pose in Pose
        }

    def to_json(self) -> Json:
        """For each height the outcomes, and `black` and `pink` by pose."""
        return {
            str(height): {
                **{name: self.outcome(name, height) for name in OUTCOMES},
                **{
                    pig: {pose.value: n for pose, n in self.poses(height, pig).items()}
                    for pig in PIG_NAMES
                },
            }
            for height in self.heights_mm
        }

    @classmethod
    def from_json(cls, data: Json) -> HeightCounts:
        """Reads what `to_json` gave.

        Raises:
            DatasetError: anything else.
        """
        counts: Counter[tuple[int, str, str]] = Counter()
        try:
            for height, entries in data.items():
                rolls = config.whole(ROLLS, entries[ROLLS], 0, _MOST)
                for name in OUTCOMES:
                    counts[int(height), ROLLS, name] = config.whole(name, entries[name], 0, rolls)
                for pig in PIG_NAMES:
                    for pose in Pose:
                        count = config.whole(pose.value, entries[pig][pose.value], 0, rolls)
                        counts[int(height), pig, pose.value] = count
                    if sum(entries[pig].values()) > rolls:
                        raise ValueError(f"more pigs from {height} mm than rolls")
        except (KeyError, TypeError, ValueError, AttributeError, ConfigError) as error:
            raise DatasetError(f"no counts of rolls: {error}") from error
        return cls(counts)


def sample_of(rows: Iterable[tuple[int, str, str, str]], heights: Sequence[int]) -> HeightCounts:
    """Counts rolls.

    Args:
        rows: index, outcome and the two pigs' poses of each.
        heights: of release [mm], that of index 0 first.
    """
    counts: Counter[tuple[int, str, str]] = Counter()
    for index, outcome, *poses in rows:
        height = heights[index % len(heights)]
        counts[height, ROLLS, ROLLS] += 1
        if outcome in (Outcome.OINKER, Outcome.PIGGYBACK):
            counts[height, ROLLS, TOUCHING] += 1
        without_pose = outcome in OUTCOMES
        if without_pose:
            counts[height, ROLLS, Outcome(outcome).value] += 1
        if outcome == Outcome.AMBIGUOUS or not (without_pose or outcome == Outcome.OINKER):
            for pig, pose in zip(PIG_NAMES, poses, strict=True):
                counts[height, pig, Pose(pose).value] += 1
    return HeightCounts(counts)


def heights_m(toss: TossModel) -> tuple[float, ...]:
    """The heights of release, in the order in which they alternate, that of index 0 first [m]."""
    return toss.heights_m if isinstance(toss, Trapdoor) else (getattr(toss, "height_m", 0.0),)


def heights_mm(toss: TossModel) -> tuple[int, ...]:
    """The same, rounded [mm]."""
    return tuple(round(1000 * height) for height in heights_m(toss))


def load_target(name: str | Path = TABLE, half: int | None = None) -> HeightCounts:
    """Counts of real rolls; arguments and errors as of `real_rows`."""
    counts: Counter[tuple[int, str, str]] = Counter()
    for row in real_rows(name, half):
        if not row.rolls:
            continue
        height = round(row.height_in * _MM_PER_INCH)
        counts[height, ROLLS, ROLLS] += row.rolls
        if row.black is None or row.pink is None:
            counts[height, ROLLS, TOUCHING] += row.rolls
            continue
        for pig, pose in zip(PIG_NAMES, (row.black, row.pink), strict=True):
            counts[height, pig, pose.value] += row.rolls
    sample = HeightCounts(counts)
    for height in sample.heights_mm:
        if not sum(_named(sample, height)):
            raise ConfigError(
                f"{shown_name(name)}: counts no pigs from {height} mm that came to rest apart and "
                "in a pose of the rules, so there are no poses to fit"
            )
    return sample


def real_rows(name: str | Path = TABLE, half: int | None = None) -> tuple[PairRow, ...]:
    """Reads real rolls, or one of two halves that have no roll in common.

    Args:
        name: a reference table of two-pig rolls, or a CSV file with the columns of
            `calibration/tables/kern2006_pairs.csv`.
        half: 1 or 2. Within each height the rolls are dealt out at random, with a fixed seed.

    Raises:
        ConfigError: no such table or file, or a table without heights.
    """
    rows = load_table(str(name)).rows
    if not rows:
        raise ConfigError(
            f"the table `{name}` counts single pigs; a fit needs two-pig rolls by height, such as "
            f"{TABLE}"
        )
    return rows if half is None else tuple(_half(rows, half))


def _half(rows: Sequence[PairRow], half: int) -> Iterator[PairRow]:
    rng = np.random.Generator(np.random.PCG64(_HALF_SEED))
    for height in sorted({row.height_in for row in rows}):
        here = [row for row in rows if row.height_in == height]
        counts = np.array([row.rolls for row in here])
        if counts.sum() < 2:
            raise ConfigError(
                f"fewer than two real rolls from {height:g} inches; leave out the half"
            )
        first = rng.multivariate_hypergeometric(counts, int(counts.sum()) // 2)
        for row, n in zip(here, (first if half == 1 else counts - first).tolist(), strict=True):
            if n:
                yield PairRow(row.height_in, row.start_code, row.black, row.pink, n)


@dataclass(frozen=True)
class Discrepancy:
    """The distance of one sample from the real rolls.

    Attributes:
        terms: two-sample G and its degrees of freedom, by the contingency table's name.
        penalty: of the parameters, by the prior.
        tv: total variation distance of the six poses, heights pooled.
    """

    terms: Mapping[str, tuple[float, int]]
    penalty: float
    tv: float

    @property
    def g(self) -> float:
        return sum(g for g, _ in self.terms.values())

    @property
    def df(self) -> int:
        return sum(df for _, df in self.terms.values())

    @property
    def p(self) -> float:
        """Probability of such a `g` under one distribution, not reduced for fitted parameters."""
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
            "terms": [{"name": name, "g": g, "df": df} for name, (g, df) in self.terms.items()],
        }


@dataclass(frozen=True)
class Objective:
    """The distance from real rolls.

    Attributes:
        real: counts of the real rolls.
        space: the parameters, with their prior.
        name: of the table of real rolls.
    """

    real: HeightCounts
    space: Space
    name: str = ""

    def __call__(self, sample: HeightCounts, values: Values) -> Discrepancy:
        """Gives the distance of simulated rolls, from the same heights, at these values."""
        real, simulated = self.tables(self.real), self.tables(sample)
        terms = {
            f"{kind} at {height} mm": _g(one, two)
            for kind in real
            for height, one, two in zip(
                self.real.heights_mm, simulated[kind], real[kind], strict=True
            )
        }
        one, two = _named(sample), _named(self.real)
        tv = total_variation(one, two) if sum(one) else 1.0
        return Discrepancy(terms, self.space.penalty(values), tv)

    def tables(self, sample: HeightCounts) -> dict[str, list[list[int]]]:
        """The contingency tables that are compared: for each kind a row of counts a height."""
        tables: dict[str, list[list[int]]] = {"poses": [], "rolls": []}
        for height in self.real.heights_mm:
            tables["poses"].append(_named(sample, height))
            touching = sample.outcome(TOUCHING, height)
            unnamed = sample.outcome("unsettled", height) + sample.outcome("ambiguous", height)
            on_table = sample.outcome(ROLLS, height) - sample.outcome("off_table", height)
            tables["rolls"].append([touching, unnamed, on_table - touching - unnamed])
        return tables


def _named(sample: HeightCounts, height_mm: int | None = None) -> list[int]:
    poses = sample.poses(height_mm)
    return [poses[pose] for pose in NAMED_POSES]


def _g(one: Sequence[int], two: Sequence[int]) -> tuple[float, int]:
    if not sum(one) or not sum(two):
        return _NO_POSES, len(one) - 1
    test = g_test(one, two)
    return test.g, test.df


Point = tuple[FloatArray, HeightCounts]
"""Parameters on any scale, (d,), and the rolls there."""


@dataclass(frozen=True, eq=False)
class ContingencyTables(ExactValue):
    """Counts of one kind, as regressions take them; the cell with the most pigs comes first.

    Attributes:
        simulated: (n, d) points, (n,) heights from -1/2 to 1/2, (n, k) counts.
        heights: (m,) of the real counts.
        real: (m, k) counts.
    """

    simulated: tuple[FloatArray, FloatArray, FloatArray]
    heights: FloatArray
    real: NDArray[np.int64]


def contingency_tables(
    points: Sequence[Point], objective: Objective
) -> Iterator[ContingencyTables]:
    """The kinds of tables that an objective compares, of all samples at once."""
    tables = [objective.tables(sample) for _, sample in points]
    mm = np.array(objective.real.heights_mm, dtype=float)
    heights = (mm - mm.mean()) / max(np.ptp(mm), 1.0)
    x = np.repeat(np.array([point for point, _ in points]), len(heights), axis=0)
    for kind, rows in objective.tables(objective.real).items():
        real = np.array(rows)
        counts = np.array([table[kind] for table in tables], dtype=float).reshape(-1, real.shape[1])
        there = (counts.sum(axis=0) > 0) | (real.sum(axis=0) > 0)
        counts, real = counts[:, there], real[:, there]
        counts[:, counts.sum(axis=0) == 0] = _BARELY
        first = np.argsort(-counts.sum(axis=0), kind="stable")
        some = counts.sum(axis=1) > 0
        at = np.tile(heights, len(points))
        yield ContingencyTables(
            (x[some], at[some], counts[some][:, first]), heights, real[:, first]
        )

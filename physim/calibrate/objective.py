"""How far simulated rolls are from the real ones, as one number to be made small.

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
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scipy.stats import chi2

from physim.calibrate.parameters import Space, Values
from physim.calibrate.sample import ROLLS, TOUCHING, Json, Sample
from physim.calibrate.target import Target
from physim.errors import ConfigError
from physim.names import PIG_NAMES
from physim.statistics.compare import g_test, total_variation
from physim.statistics.pairs import NAMED_POSES

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

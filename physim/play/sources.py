"""Distributions of throws from what has been counted: a batch, or a table of real rolls."""

from __future__ import annotations

from collections import Counter

from physim.errors import ConfigError
from physim.game.distribution import Distribution
from physim.names import Outcome, Pose
from physim.rules.score import SCORING_POSES
from physim.rules.throws import combo_label, labelled_throws, throw_of
from physim.statistics.counts import Counts
from physim.statistics.pairs import TOUCHING
from physim.statistics.tables import ReferenceTable, load_table

KERN = "kern2006"
"""The 6,000 counted rolls of two pigs, table `kern2006_pairs`: the study's single pigs tell of
no oinker."""

_TABLES = {KERN: "kern2006_pairs", "kern2006_pairs": "kern2006_pairs"}


def table_names() -> list[str]:
    """Names of the tables of real rolls that a game can be played from."""
    return list(_TABLES)


def from_table(name: str) -> Distribution:
    """The throws of a table of real two-pig rolls; pigs that touch are an oinker.

    Raises:
        ConfigError: no such table.
    """
    if name not in _TABLES:
        raise ConfigError(f"no table `{name}` of two-pig rolls (valid: {', '.join(_TABLES)})")
    return _from_pairs(name, load_table(_TABLES[name]))


def from_counts(name: str, counts: Counts) -> Distribution:
    """The throws of a batch.

    Raises:
        ConfigError: it holds no rolls.
    """
    if not counts.rolls:
        raise ConfigError(f"{name}: holds no rolls; make some with `physim batch`")
    labels: Counter[str] = Counter()
    for outcome, count in counts.outcomes.items():
        if outcome is not Outcome.MIXED_COMBO:
            labels[outcome.value] += count
    for (one, two), count in counts.pairs.items():
        if one is not two and one in SCORING_POSES and two in SCORING_POSES:
            labels[combo_label((one, two))] += count
    return _sample(name, labels)


def _from_pairs(name: str, table: ReferenceTable) -> Distribution:
    labels: Counter[str] = Counter()
    for cell, count in table.counts.items():
        if cell == TOUCHING:
            labels[Outcome.OINKER.value] += count
        else:
            one, two = (Pose(pose) for pose in cell.split("+"))
            labels[throw_of(one, two).label] += count
    return _sample(name, labels)


def _sample(name: str, labels: Counter[str]) -> Distribution:
    throws = {label: throw for label, throw in labelled_throws().items() if labels[label]}
    weights = tuple(float(labels[label]) for label in throws)
    return Distribution(name, tuple(throws.values()), weights, sum(labels.values()))

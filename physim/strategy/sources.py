"""Distributions of throws from what was counted: a batch, or a table of real rolls."""

from __future__ import annotations

from collections import Counter

from physim.errors import ConfigError
from physim.game.outcomes import Distribution
from physim.rules.score import SCORING_POSES
from physim.rules.throws import combo_label, labelled_throws, throw_of
from physim.statistics.counts import TOUCHING, Counts
from physim.statistics.tables import load_table
from physim.types import Outcome, Pose

# The 6,000 counted rolls of two pigs; the study's single pigs tell of no oinker.
TABLES = {"kern2006": "kern2006_pairs", "kern2006_pairs": "kern2006_pairs"}


def from_table(name: str) -> Distribution:
    """The throws of a table of real two-pig rolls; pigs that touch are an oinker.

    Raises:
        ConfigError: no such table.
    """
    if name not in TABLES:
        raise ConfigError(f"no table `{name}` of two-pig rolls (valid: {', '.join(TABLES)})")
    labels: Counter[str] = Counter()
    for cell, count in load_table(TABLES[name]).counts.items():
        if cell == TOUCHING:
            labels[Outcome.OINKER.value] += count
        else:
            labels[throw_of(*map(Pose, cell.split("+"))).label] += count
    return _sample(name, labels)


def from_counts(name: str, counts: Counts) -> Distribution:
    """The throws of a batch.

    Raises:
        ConfigError: it holds no rolls.
    """
    if not counts.rolls:
        raise ConfigError(f"{name}: holds no rolls; make some with `physim batch`")
    labels = Counter({outcome.value: count for outcome, count in counts.outcomes.items()})
    del labels[Outcome.MIXED_COMBO.value]
    for pair, count in counts.pairs.items():
        if len({*pair} & {*SCORING_POSES}) == 2:
            labels[combo_label(pair)] += count
    return _sample(name, labels)


def _sample(name: str, labels: Counter[str]) -> Distribution:
    throws = {label: throw for label, throw in labelled_throws().items() if labels[label]}
    weights = tuple(float(labels[label]) for label in throws)
    return Distribution(name, tuple(throws.values()), weights, sum(labels.values()))

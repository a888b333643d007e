"""What `physim validate` asks of simulated rolls, each question one `Check`.

All are functions of counts alone: where the rolls come from does not matter.

The effect of the height of release: is the one that is predicted in the real rolls?
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from physim.statistics.compare import GTest, g_test, homogeneity, total_variation
from physim.statistics.counts import PAIR_CELLS, POSE_CELLS
from physim.statistics.joint import Joint
from physim.statistics.tests import LikelihoodRatio, clopper_pearson, log_likelihood_ratio, smoothed
from physim.types import PIG_NAMES

MOST_TV = 0.010  # to the pooled table of single pigs
MOST_TV_HEIGHT = 0.035  # the real heights themselves lie .026 apart from their pooled table
MOST_TV_CONVERGENCE = 0.006  # two perfect runs of 100,000 differ by .0059 at 99.9 %
MOST_UNNAMED = 0.005  # unsettled and ambiguous, of all rolls
LEAST_P = 0.05
_FEW_EXPECTED = 5  # below it p is taken from drawn tables

AT_MOST, WITHIN, P_AT_LEAST = "value <= limit", "limit[0] <= value <= limit[1]", "p >= limit"


@dataclass(frozen=True)
class Check:
    """One question and its answer.

    Attributes:
        name: `group.what`, or `group.which.what`.
        value: what was measured; None where there was nothing to measure.
        limit: of the value or of `p`, as `rule` says; None for what is only reported.
        p: of a test, if there is one.
        ok: None for what is only reported.
        rule: how value, p and limit are compared; empty for what is only reported.
        note: what a reader needs to know.
        detail: further plain values.
    """

    name: str
    value: float | None
    limit: float | tuple[float, float] | None = None
    p: float | None = None
    ok: bool | None = None
    rule: str = ""
    note: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


def at_most(name: str, value: float | None, limit: float, **more: Any) -> Check:
    """A check of `value <= limit`; what could not be measured fails."""
    return Check(name, value, limit, ok=value is not None and value <= limit, rule=AT_MOST, **more)


def within(name: str, value: float | None, limit: tuple[float, float], **more: Any) -> Check:
    """A check of `limit[0] <= value <= limit[1]`."""
    ok = value is not None and limit[0] <= value <= limit[1]
    return Check(name, value, limit, ok=ok, rule=WITHIN, **more)


def tested(name: str, test: GTest | None, limit: float | None = None) -> Check:
    """A G-test; with a limit, a check of `p >= limit`."""
    if test is None:
        return Check(name, None, limit, ok=None if limit is None else False, note=_NOTHING)
    return Check(
        name,
        test.g,
        limit,
        test.p,
        None if limit is None else test.p >= limit,
        "" if limit is None else P_AT_LEAST,
        detail={
            "df": test.df,
            "p_method": test.method,
            "smallest_expected": test.smallest_expected,
        },
    )


def pose_checks(simulated: Joint, real: Joint, seed: int) -> list[Check]:
    """The pooled table of single pigs."""
    size, real_size = int(simulated.pigs.sum()), int(real.pigs.sum())
    checks = [at_most("poses.tv", distance(simulated.pigs, real.pigs), MOST_TV)]
    for pose, count, real_count in zip(POSE_CELLS, simulated.pigs, real.pigs, strict=True):
        interval = clopper_pearson(int(real_count), real_size)
        checks.append(
            within(
                f"poses.{pose}",
                int(count) / size if size else None,
                (interval.low, interval.high),
                note="95 % interval of the real frequency",
                detail={"real": int(real_count) / real_size},
            )
        )
    test = compared(simulated.pigs, real.pigs, f"poses {seed}")
    return [*checks, tested("poses.g", test, LEAST_P)]


def pair_checks(simulated: Joint, real: Joint, seed: int) -> list[Check]:
    """The table of two-pig rolls: unordered pairs and touching."""
    test = compared(simulated.pairs, real.pairs, f"pairs {seed}", always_drawn=True)
    touching = simulated.touching / simulated.rolls if simulated.rolls else None
    left_out = simulated.rolls - int(simulated.pairs.sum())
    interval = clopper_pearson(real.touching, real.rolls)
    return [
        tested("pairs.g", test, LEAST_P),
        Check("pairs.tv", distance(simulated.pairs, real.pairs)),
        within(
            "pairs.touching",
            touching,
            (interval.low, interval.high),
            note="95 % interval of the real frequency",
            detail={
                "real": real.touching / real.rolls,
                "cells": dict(zip(PAIR_CELLS, simulated.pairs.tolist(), strict=True)),
                "rolls_in_no_cell": left_out,
            },
        ),
    ]


def pig_checks(
    simulated: Mapping[float, Joint], real: Mapping[float, Joint], seed: int
) -> list[Check]:
    """Each pig from each height. The simulated pigs may be equal; the real ones are not quite."""
    checks = []
    for (height_m, one), two in zip(simulated.items(), real.values(), strict=True):
        for pig in PIG_NAMES:
            name = f"pig.{pig}.{mm(height_m)}"
            ours, theirs = one.pig(pig), two.pig(pig)
            checks.append(Check(f"{name}.tv", distance(ours, theirs)))
            checks.append(tested(f"{name}.g", compared(ours, theirs, f"{name} {seed}")))
    for height_m, two in real.items():
        black, pink = (two.pig(pig) for pig in PIG_NAMES)
        test = compared(black, pink, f"real pigs {mm(height_m)} {seed}")
        checks.append(tested(f"pig.real_black_against_pink.{mm(height_m)}.g", test))
    return checks


def settled_checks(simulated: Joint) -> list[Check]:
    """What the rules have no name for."""
    rolls = simulated.rolls
    count = simulated.unsettled + simulated.ambiguous
    detail = {"unsettled": simulated.unsettled, "ambiguous": simulated.ambiguous}
    value = count / rolls if rolls else None
    return [at_most("settled.unsettled_or_ambiguous", value, MOST_UNNAMED, detail=detail)]


def block_checks(blocks: Sequence[Joint], seed: int) -> list[Check]:
    """Whether blocks of one sample are alike, as independent rolls of one distribution are."""
    table = [block.pigs.tolist() for block in blocks]
    test = None
    if all(map(sum, table)):
        test = homogeneity(table)
        if test.smallest_expected < _FEW_EXPECTED:
            test = homogeneity(table, rng=rng_of(f"blocks {seed}"), draws=999)
    checks = [tested("blocks.g", test)]
    pooled = sum(blocks, Joint())
    distances = [distance(block.pigs, pooled.pigs) for block in blocks]
    most = max((far for far in distances if far is not None), default=None)
    return [*checks, Check("blocks.largest_tv", most, note="of a block to all of them")]


def convergence_checks(group: str, sample: Joint, finer: Joint, seed: int) -> list[Check]:
    """The same rolls simulated more finely, with another seed."""
    pairs = compared(sample.pairs, finer.pairs, f"{group} {seed}", always_drawn=True)
    touching = [joint.touching / joint.rolls if joint.rolls else None for joint in (sample, finer)]
    return [
        at_most(f"{group}.tv", distance(sample.pigs, finer.pigs), MOST_TV_CONVERGENCE),
        tested(f"{group}.g", compared(sample.pigs, finer.pigs, f"{group} poses {seed}")),
        tested(f"{group}.pairs.g", pairs),
        Check(f"{group}.touching", touching[1], detail={"default": touching[0]}),
    ]


def prediction_checks(group: str, predicted: Joint, trapdoor: Joint, seed: int) -> list[Check]:
    """What was never fitted, beside the rolls of the rig; frequencies stand with the samples."""
    test = compared(predicted.pigs, trapdoor.pigs, f"{group} {seed}")
    note = "distance to the rolls of the rig"
    return [
        Check(f"{group}.tv", distance(predicted.pigs, trapdoor.pigs), note=note),
        tested(f"{group}.g", test),
        *rare_checks(group, predicted),
    ]


def rare_checks(group: str, sample: Joint) -> list[Check]:
    """Frequencies of rolls that no table of real rolls has, with their exact intervals."""
    checks = []
    for what in ("touching", "piggyback", "off_table"):
        count = int(getattr(sample, what))
        interval = clopper_pearson(count, sample.rolls)
        checks.append(
            Check(
                f"{group}.{what}",
                count / sample.rolls if sample.rolls else None,
                detail={"count": count, "low": interval.low, "high": interval.high},
            )
        )
    return checks


def compared(one: Any, two: Any, stream_name: str, *, always_drawn: bool = False) -> GTest | None:
    """The G-test of two samples; p from drawn tables where cells are thin. None without counts."""
    first, second = np.asarray(one).tolist(), np.asarray(two).tolist()
    if not sum(first) or not sum(second):
        return None
    test = g_test(first, second)
    if always_drawn or test.smallest_expected < _FEW_EXPECTED:
        return g_test(first, second, rng=rng_of(stream_name))
    return test


def distance(one: Any, two: Any) -> float | None:
    """Total variation distance; None without counts."""
    first, second = np.asarray(one).tolist(), np.asarray(two).tolist()
    return total_variation(first, second) if sum(first) and sum(second) else None


def rng_of(stream_name: str) -> np.random.Generator:
    """The random numbers of one test: the same whatever else is checked."""
    return np.random.default_rng(zlib.crc32(stream_name.encode()))


def mm(height_m: float) -> str:
    """A height as names have it: `127`."""
    return f"{1e3 * height_m:.0f}"


_NOTHING = "nothing to compare: no counted pigs"


CLEAR = math.log(20.0)  # twenty times as likely: what is usually called strong


def height_checks(
    simulated: Mapping[float, Joint], real: Mapping[float, Joint], seed: int
) -> list[Check]:
    """Each height with the same parameters, and the predicted effect of height against none.

    Args:
        simulated: by height of release.
        real: likewise, in the same order; the heights themselves may differ a little.
        seed: of the drawn tables.
    """
    checks = []
    for (height_m, one), two in zip(simulated.items(), real.values(), strict=True):
        name = f"height.{mm(height_m)}"
        far = distance(one.pigs, two.pigs)
        checks.append(at_most(f"{name}.tv", far, MOST_TV_HEIGHT))
        checks.append(tested(f"{name}.g", compared(one.pigs, two.pigs, f"{name} {seed}")))
    if len(simulated) > 1:
        checks.append(_effect(simulated, real, seed))
    return checks


def _effect(simulated: Mapping[float, Joint], real: Mapping[float, Joint], seed: int) -> Check:
    """The real counts' likelihood, each height with its own prediction or all with the mean."""
    by_height = smoothed([joint.pigs for joint in simulated.values()])
    pooled = np.broadcast_to(by_height.mean(axis=0), by_height.shape)
    counts = np.array([joint.pigs for joint in real.values()])
    ratio = log_likelihood_ratio(counts, by_height, pooled, rng_of(f"height {seed}"))
    frequencies = counts / counts.sum(axis=1, keepdims=True)
    return Check(
        "height.log_likelihood_ratio",
        ratio.value,
        p=ratio.p_prediction,
        note=meaning(ratio),
        detail={
            "if_prediction": ratio.if_prediction,
            "if_no_effect": ratio.if_other,
            "p_prediction": ratio.p_prediction,
            "p_no_effect": ratio.p_other,
            "predicted_change": _change(by_height),
            "real_change": _change(frequencies),
        },
    )


def _change(frequencies: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> dict[str, float]:
    """From the lowest height to the highest one, by pose."""
    return dict(zip(POSE_CELLS, (frequencies[-1] - frequencies[0]).tolist(), strict=True))


def meaning(ratio: LikelihoodRatio) -> str:
    """One sentence for a reader who does not know likelihood ratios."""
    times = math.exp(min(abs(ratio.value), 50.0))
    odds = f"{times:.3g} times as likely"
    said = "with the predicted effect of height as with none"
    if ratio.value < 0:
        said = "with no effect of height as with the predicted one"
    verdict = "too little to tell them apart"
    if ratio.value >= CLEAR:
        verdict = "they speak for the predicted effect"
    elif ratio.value <= -CLEAR:
        verdict = "they speak against the predicted effect"
    return (
        f"the real counts are {odds} {said}: {verdict}; "
        f"on average it would be {ratio.if_prediction:+.1f} if the prediction were true and "
        f"{ratio.if_other:+.1f} if height had no effect"
    )

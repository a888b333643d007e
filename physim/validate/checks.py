"""What `physim validate` asks of simulated rolls, each question one `Check`.

All are functions of counts alone: where the rolls come from does not matter.

The pictures of a validation and of a sensitivity analysis.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from physim.figures import drawn
from physim.statistics.counts import POSE_CELLS, TOUCHING, Counts, total
from physim.statistics.report import cell, share
from physim.statistics.tests import (
    GTest,
    LikelihoodRatio,
    clopper_pearson,
    g_test,
    log_likelihood_ratio,
    smoothed,
    total_variation,
)
from physim.types import FloatArray, Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TV = 0.010  # to the pooled table of single pigs
MOST_TV_HEIGHT = 0.035  # the real heights themselves lie .026 apart from their pooled table
MOST_TV_CONVERGENCE = 0.006  # two perfect runs of 100,000 differ by .0059 at 99.9 %
MOST_UNNAMED = 0.005  # unsettled and ambiguous, of all rolls
LEAST_P = 0.05
CLEAR = math.log(20.0)  # twenty times as likely: what is usually called strong

HEADS = tuple(
    head if len(head) <= 8 else f"{head[:6]}."
    for head in (name.split("_", 1)[-1] for name in (*POSE_CELLS, TOUCHING))
)
"""Heads of the columns of tables, such as `dot_up` and `razorb.`."""
AT_MOST, WITHIN, P_AT_LEAST = "value <= limit", "limit[0] <= value <= limit[1]", "p >= limit"
_NOTHING = "nothing to compare: no counted pigs"

Cells = Mapping[str, int]
ByHeight = Mapping[float, Counts]


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
        note, detail: what a reader needs to know, and further plain values.
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


def in_real_interval(
    name: str, value: float | None, count: int, size: int, detail: Mapping[str, Any] | None = None
) -> Check:
    """A check of a frequency inside the exact 95 % interval of the real one, `count` of `size`."""
    interval = clopper_pearson(count, size)
    return Check(
        name,
        value,
        (interval.low, interval.high),
        ok=value is not None and interval.low <= value <= interval.high,
        rule=WITHIN,
        note="95 % interval of the real frequency",
        detail={"real": count / size, **(detail or {})},
    )


def tested(name: str, test: GTest | None, limit: float | None = None) -> Check:
    """A G-test; with a limit, a check of `p >= limit`."""
    if test is None:
        return Check(name, None, limit, ok=None if limit is None else False, note=_NOTHING)
    ok, rule = (None, "") if limit is None else (test.p >= limit, P_AT_LEAST)
    detail = {
        "df": test.df,
        "p_method": test.method,
        "smallest_expected": test.smallest_expected,
    }
    return Check(name, test.g, limit, test.p, ok, rule, detail=detail)


def pose_checks(simulated: Counts, real: Counts, seed: int) -> list[Check]:
    """The pooled table of single pigs."""
    ours, theirs = simulated.pose_cells(), real.pose_cells()
    size, real_size = sum(ours.values()), sum(theirs.values())
    return [
        at_most("poses.tv", distance(ours, theirs), MOST_TV),
        *(
            in_real_interval(f"poses.{pose}", share(ours[pose], size), theirs[pose], real_size)
            for pose in POSE_CELLS
        ),
        tested("poses.g", compared(ours, theirs, f"poses {seed}"), LEAST_P),
    ]


def pair_checks(simulated: Counts, real: Counts, seed: int) -> list[Check]:
    """The table of two-pig rolls: unordered pairs and touching."""
    ours, theirs = simulated.pair_cells(), real.pair_cells()
    test = compared(ours, theirs, f"pairs {seed}", always_drawn=True)
    touching = share(simulated.touching, simulated.rolls)
    detail = {"cells": ours, "rolls_in_no_cell": simulated.rolls - sum(ours.values())}
    return [
        tested("pairs.g", test, LEAST_P),
        Check("pairs.tv", distance(ours, theirs)),
        in_real_interval("pairs.touching", touching, real.touching, real.rolls, detail),
    ]


def settled_checks(simulated: Counts) -> list[Check]:
    """What the rules have no name for."""
    detail = {
        outcome.value: simulated.outcomes[outcome]
        for outcome in (Outcome.UNSETTLED, Outcome.AMBIGUOUS)
    }
    value = share(sum(detail.values()), simulated.rolls)
    return [at_most("settled.unsettled_or_ambiguous", value, MOST_UNNAMED, detail=detail)]


def convergence_checks(group: str, sample: Counts, finer: Counts, seed: int) -> list[Check]:
    """The same rolls simulated more finely or by the other engine, with another seed."""
    ours, theirs = sample.pose_cells(), finer.pose_cells()
    pairs = sample.pair_cells(), finer.pair_cells()
    by_pair = compared(*pairs, f"{group} {seed}", always_drawn=True)
    touching = [share(counts.touching, counts.rolls) for counts in (sample, finer)]
    return [
        at_most(f"{group}.tv", distance(ours, theirs), MOST_TV_CONVERGENCE),
        tested(f"{group}.g", compared(ours, theirs, f"{group} poses {seed}")),
        tested(f"{group}.pairs.g", by_pair),
        Check(f"{group}.touching", touching[1], detail={"default": touching[0]}),
    ]


def prediction_checks(group: str, predicted: Counts, trapdoor: Counts, seed: int) -> list[Check]:
    """What was never fitted, beside the rolls of the rig; frequencies stand with the samples."""
    ours, theirs = predicted.pose_cells(), trapdoor.pose_cells()
    return [
        Check(f"{group}.tv", distance(ours, theirs), note="distance to the rolls of the rig"),
        tested(f"{group}.g", compared(ours, theirs, f"{group} {seed}")),
        *rare_checks(group, predicted),
    ]


def rare_checks(group: str, sample: Counts) -> list[Check]:
    """Frequencies of rolls that no table of real rolls has, with their exact intervals."""
    checks = []
    for what, count in (
        ("touching", sample.touching),
        ("piggyback", sample.outcomes[Outcome.PIGGYBACK]),
        ("off_table", sample.outcomes[Outcome.OFF_TABLE]),
    ):
        shown = cell(count, sample.rolls)
        checks.append(Check(f"{group}.{what}", shown.pop("frequency"), detail=shown))
    return checks


def height_checks(simulated: ByHeight, real: ByHeight, seed: int) -> list[Check]:
    """Each height with the same parameters, and the predicted effect of height against none."""
    checks = []
    for (height_m, one), two in zip(simulated.items(), real.values(), strict=True):
        name = f"height.{mm(height_m)}"
        ours, theirs = one.pose_cells(), two.pose_cells()
        checks.append(at_most(f"{name}.tv", distance(ours, theirs), MOST_TV_HEIGHT))
        checks.append(tested(f"{name}.g", compared(ours, theirs, f"{name} {seed}")))
    if len(simulated) > 1:
        checks.append(_effect(simulated, real, seed))
    return checks


def _effect(simulated: ByHeight, real: ByHeight, seed: int) -> Check:
    """The real counts' likelihood, each height with its own prediction or all with the mean."""
    by_height = smoothed(_pose_table(simulated))
    pooled = np.broadcast_to(by_height.mean(axis=0), by_height.shape)
    counts = _pose_table(real)
    ratio = log_likelihood_ratio(counts, by_height, pooled, rng_of(f"height {seed}"))
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
            "real_change": _change(counts / counts.sum(axis=1, keepdims=True)),
        },
    )


def _pose_table(by_height: ByHeight) -> FloatArray:
    """(heights, 6) counts of the named poses."""
    return np.array([list(counts.pose_cells().values()) for counts in by_height.values()], float)


def _change(frequencies: FloatArray) -> dict[str, float]:
    """From the lowest height to the highest one, by pose."""
    return dict(zip(POSE_CELLS, (frequencies[-1] - frequencies[0]).tolist(), strict=True))


def meaning(ratio: LikelihoodRatio) -> str:
    """One sentence for a reader who does not know likelihood ratios."""
    times = math.exp(min(abs(ratio.value), 50.0))
    said = "with the predicted effect of height as with none"
    if ratio.value < 0:
        said = "with no effect of height as with the predicted one"
    verdict = "too little to tell them apart"
    if abs(ratio.value) >= CLEAR:
        verdict = f"they speak {'for' if ratio.value > 0 else 'against'} the predicted effect"
    return (
        f"the real counts are {times:.3g} times as likely {said}: {verdict}; "
        f"on average it would be {ratio.if_prediction:+.1f} if the prediction were true and "
        f"{ratio.if_other:+.1f} if height had no effect"
    )


def compared(
    one: Cells, two: Cells, stream_name: str, *, always_drawn: bool = False
) -> GTest | None:
    """The G-test of two samples; p from drawn tables where cells are thin. None without counts."""
    first, second = list(one.values()), list(two.values())
    if not sum(first) or not sum(second):
        return None
    return g_test(first, second, rng=rng_of(stream_name), only_if_few=not always_drawn)


def distance(one: Cells, two: Cells) -> float | None:
    """Total variation distance; None without counts."""
    first, second = list(one.values()), list(two.values())
    return total_variation(first, second) if sum(first) and sum(second) else None


def rng_of(stream_name: str) -> np.random.Generator:
    """The random numbers of one test: the same whatever else is checked."""
    return np.random.default_rng(zlib.crc32(stream_name.encode()))


def mm(height_m: float) -> str:
    """A height as names have it: `127`."""
    return f"{1e3 * height_m:.0f}"


_REAL, _SIMULATED = "#c9c9c9", "#c2185b"


def plot_validation(
    simulated: Mapping[float, Counts], real: Mapping[float, Counts], path: Path
) -> None:
    """Each pose's simulated frequency on the real one's 95 % interval, pooled and by height."""
    panels = [("both heights", total(simulated), total(real))]
    for (height_m, one), two in zip(simulated.items(), real.values(), strict=True):
        panels.append((f"{mm(height_m)} mm", one, two))
    with drawn(path, 4.2 * len(panels), 3.8) as figure:
        row = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (title, one, two) in zip(row, panels, strict=True):
            _pose_panel(axes, one.pose_cells(), two.pose_cells())
            axes.set_title(title)


def _pose_panel(axes: Axes, simulated: Mapping[str, int], real: Mapping[str, int]) -> None:
    """Differences to the real frequency: at one scale, all poses can be read."""
    size, real_size = sum(simulated.values()), sum(real.values())
    shares = []
    for row, pose in enumerate(POSE_CELLS):
        truth = real[pose] / real_size
        shares.append(f"{pose}\n{100 * truth:.2f} %")
        interval = clopper_pearson(real[pose], real_size)
        low, high = 100 * (interval.low - truth), 100 * (interval.high - truth)
        axes.barh(row, high - low, left=low, height=0.55, color=_REAL)
        if size:
            interval = clopper_pearson(simulated[pose], size)
            ends = [100 * (end - truth) for end in (interval.low, interval.high)]
            axes.plot(ends, [row, row], color=_SIMULATED, linewidth=1.5)
            point = 100 * (simulated[pose] / size - truth)
            axes.plot([point], [row], "o", color=_SIMULATED, markersize=5)
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(shares)), shares, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("simulated - real, percentage points\n(grey: real 95 % interval)", fontsize=8)


def plot_sensitivity(
    names: Sequence[str], change: FloatArray, error: FloatArray, path: Path
) -> None:
    """A heat map: percentage points that a pose gains for one scale of a parameter.

    `change` of the frequencies and its standard `error` are of shape (parameters, 7).
    """
    points, columns = 100 * change, (*POSE_CELLS, TOUCHING)
    most = max(float(np.abs(points).max()), 1e-6)
    with drawn(path, 8.5, 1.6 + 0.36 * len(names)) as figure:
        axes = figure.subplots()
        image = axes.imshow(points, cmap="RdBu_r", vmin=-most, vmax=most, aspect="auto")
        for (row, column), value in np.ndenumerate(points):
            noise = 100 * error[row, column]
            axes.text(
                column,
                row,
                f"{value:+.2f}\n±{noise:.2f}",
                ha="center",
                va="center",
                fontsize=6.5,
                color="white" if abs(value) > 0.6 * most else "black",
                alpha=1.0 if abs(value) > 2 * noise else 0.45,
            )
        axes.set_xticks(range(len(columns)), columns, rotation=20, fontsize=8)
        axes.set_yticks(range(len(names)), list(names), fontsize=8)
        title = "percentage points for the change in brackets (pale: less than two standard errors)"
        axes.set_title(title, fontsize=9)
        figure.colorbar(image, ax=axes)

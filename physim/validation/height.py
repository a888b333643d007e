"""The effect of the height of release: is the one that is predicted in the real rolls?"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from physim.statistics.joint import Joint
from physim.statistics.likelihood import LikelihoodRatio, log_likelihood_ratio, smoothed
from physim.statistics.pairs import POSE_CELLS
from physim.validation.checks import (
    MOST_TV_HEIGHT,
    Check,
    at_most,
    compared,
    distance,
    mm,
    rng_of,
    tested,
)

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

"""Which combinations of parameters a table of real rolls tells apart, and which it cannot.

The Fisher information of the table about the parameters, from the slopes of the predicted
frequencies. Parameters are measured in their scales (prior standard deviations), so that an
eigenvalue of 1 means: the table alone knows this combination as well as the prior does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from physim.statistics.joint import Joint
from physim.validation.sensitivity import Sensitivity, Slopes
from physim.values import ExactValue, FloatArray

TOLD, NOT_TOLD, UNRESOLVED = "told", "not told", "unresolved"


@dataclass(frozen=True, eq=False)
class Combination(ExactValue):
    """One direction of parameter space.

    Attributes:
        weights: (parameters,) a unit vector, in scales.
        eigenvalue: information about it, the noise's share taken off; may come out below 0.
        noise: what the noise of the slopes alone gave; taken off.
        error: standard error of the eigenvalue, or more: 2 sqrt(eigenvalue x noise) of slopes that
            are there, and sqrt(2) noise of the noise itself, as if it were all in one cell.
        verdict: `told`: to better than one scale (eigenvalue above 1); `not told`: the prior
            knows more; `unresolved`: within two errors of 1, roll more.
    """

    weights: FloatArray
    eigenvalue: float
    noise: float
    error: float
    verdict: str


@dataclass(frozen=True, eq=False)
class Information(ExactValue):
    """What a table knows.

    Attributes:
        matrix: (parameters, parameters) Fisher information in scales, noise taken off.
        noise: likewise, of the noise alone.
        combinations: the best known first.
        posterior_sd: (parameters,) with a prior of one scale each, in scales: 1 where the table
            adds nothing.
        correlation: (parameters, parameters) of that posterior.
    """

    matrix: FloatArray
    noise: FloatArray
    combinations: tuple[Combination, ...]
    posterior_sd: FloatArray
    correlation: FloatArray


def information(found: Sensitivity, real: Mapping[float, Joint]) -> Information:
    """The information of real rolls about the parameters.

    Args:
        found: the slopes, by height.
        real: the real rolls, by height, in the same order; only their numbers matter.
    """
    slopes = list(found.heights.values())
    sizes = [(int(joint.pigs.sum()), joint.rolls) for joint in real.values()]
    parts = [_of_height(one, *size) for one, size in zip(slopes, sizes, strict=True)]
    raw = np.sum([part[0] for part in parts], axis=0)
    noise = np.sum([part[1] for part in parts], axis=0)
    matrix = raw - noise
    values, vectors = np.linalg.eigh(matrix)
    combinations = tuple(
        _combination(vectors[:, i], float(values[i]), noise) for i in np.argsort(values)[::-1]
    )
    known = (vectors * np.maximum(values, 0.0)) @ vectors.T
    posterior = np.linalg.inv(known + np.eye(len(known)))
    sd = np.sqrt(np.diag(posterior))
    return Information(matrix, noise, combinations, sd, posterior / np.outer(sd, sd))


def _of_height(slopes: Slopes, pigs: int, rolls: int) -> tuple[FloatArray, FloatArray]:
    """Of a multinomial of poses and a binomial of touching; and what noise adds to it."""
    poses, touching = slopes.frequency[:-1], float(slopes.frequency[-1])
    # A frequency of 0 would weigh infinitely: half a real roll is the least that counts.
    poses = np.maximum(poses, 0.5 / pigs)
    touching = min(max(touching, 0.5 / rolls), 1.0 - 0.5 / rolls)
    weights = np.append(pigs / poses, rolls / (touching * (1.0 - touching)))
    return (
        np.einsum("pk,qk,k->pq", slopes.slope, slopes.slope, weights),
        np.einsum("pqk,k->pq", slopes.noise, weights),
    )


def _combination(weights: FloatArray, eigenvalue: float, noise: FloatArray) -> Combination:
    share = float(weights @ noise @ weights)
    error = math.sqrt(4.0 * max(eigenvalue, 0.0) * share + 2.0 * share**2)
    verdict = UNRESOLVED
    if eigenvalue - 2.0 * error >= 1.0:
        verdict = TOLD
    elif eigenvalue + 2.0 * error < 1.0:
        verdict = NOT_TOLD
    sign = 1.0 if weights[np.argmax(np.abs(weights))] >= 0 else -1.0
    return Combination(sign * weights, eigenvalue, share, error, verdict)

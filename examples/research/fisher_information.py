"""What a table of real rolls tells of parameters, from the slopes of `physim sensitivity`.

The Fisher information follows from the slopes. Parameters are measured in their scales (prior
standard deviations): an eigenvalue of 1 means that the table alone knows this combination of
parameters as well as the prior does. The noise of the slopes looks like information too; it is
estimated and taken off.

    python examples/research/fisher_information.py DIR [ROLLS] [PARAMETER ...]

takes the rolls of `physim sensitivity --out DIR` or makes them (2,500 a setup by default).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from physim.types import ExactValue, FloatArray
from physim.validate.checks import ByHeight
from physim.validate.datasets import FitReview
from physim.validate.sensitivity import Sensitivity, of_study

IDENTIFIED, WEAKLY_IDENTIFIED, UNRESOLVED = "identified", "weakly identified", "unresolved"
LEAST_WEIGHT = 0.2  # smaller ones are not printed


@dataclass(frozen=True, eq=False)
class Combination(ExactValue):
    """One direction of parameter space.

    Attributes:
        weights: (parameters,) a unit vector, in scales.
        eigenvalue: information about it, without `noise`; may come out below 0.
        noise: what the noise of the slopes alone gave.
        error: standard error of the eigenvalue, or more: 2 sqrt(eigenvalue x noise) of slopes that
            are there, and sqrt(2) noise of the noise itself, as if it were all in one cell.
    """

    weights: FloatArray
    eigenvalue: float
    noise: float
    error: float

    @property
    def verdict(self) -> str:
        """Whether the table knows it better than the prior; within two errors, roll more."""
        if self.eigenvalue - 2.0 * self.error >= 1.0:
            return IDENTIFIED
        return WEAKLY_IDENTIFIED if self.eigenvalue + 2.0 * self.error < 1.0 else UNRESOLVED


@dataclass(frozen=True, eq=False)
class Information(ExactValue):
    """What a table knows, in scales.

    Attributes:
        matrix: (parameters, parameters) Fisher information, without `noise`.
        noise: (parameters, parameters) of the noise of the slopes alone.
        combinations: the best known first.
        posterior_sd: (parameters,) with a prior of one scale each; 1: the table adds nothing.
        correlation: (parameters, parameters) of that posterior.
    """

    matrix: FloatArray
    noise: FloatArray
    combinations: tuple[Combination, ...]
    posterior_sd: FloatArray
    correlation: FloatArray


def fisher_information(found: Sensitivity, real: ByHeight) -> Information:
    """The information of real rolls about the parameters; only the numbers of rolls matter."""
    matrix, noise = np.zeros((2, len(found.parameters), len(found.parameters)))
    for slopes, counts in zip(found.heights.values(), real.values(), strict=True):
        weights = _weights(slopes.frequency, sum(counts.pose_cells().values()), counts.rolls)
        matrix += np.einsum("pk,qk,k->pq", slopes.slope, slopes.slope, weights)
        noise += np.einsum("pqk,k->pq", slopes.noise, weights)
    matrix -= noise
    values, vectors = np.linalg.eigh(matrix)
    combinations = tuple(
        _combination(vectors[:, i], float(values[i]), noise) for i in np.argsort(values)[::-1]
    )
    known = (vectors * np.maximum(values, 0.0)) @ vectors.T
    posterior = np.linalg.inv(known + np.eye(len(known)))
    sd = np.sqrt(np.diag(posterior))
    return Information(matrix, noise, combinations, sd, posterior / np.outer(sd, sd))


def _weights(frequency: FloatArray, pigs: int, rolls: int) -> FloatArray:
    """(7,) of a multinomial of poses and a binomial of touching, for a slope squared."""
    # A frequency of 0 would weigh infinitely: half a real roll is the least that counts.
    poses = np.maximum(frequency[:-1], 0.5 / pigs)
    touching = min(max(float(frequency[-1]), 0.5 / rolls), 1.0 - 0.5 / rolls)
    return np.append(pigs / poses, rolls / (touching * (1.0 - touching)))


def _combination(weights: FloatArray, eigenvalue: float, noise: FloatArray) -> Combination:
    share = float(weights @ noise @ weights)
    error = math.sqrt(4.0 * max(eigenvalue, 0.0) * share + 2.0 * share**2)
    sign = 1.0 if weights[np.argmax(np.abs(weights))] >= 0 else -1.0
    return Combination(sign * weights, eigenvalue, share, error)


def lines(known: Information, names: Sequence[str]) -> Iterator[str]:
    """What the real rolls know, as text."""
    yield "what the real rolls know, the clearest first (1: as much as the prior)"
    for one in known.combinations:
        order = np.argsort(-np.abs(one.weights), kind="stable").tolist()
        shown = [i for i in order if abs(one.weights[i]) >= LEAST_WEIGHT] or order[:1]
        total = " ".join(f"{one.weights[i]:+.2f} {names[i]}" for i in shown)
        yield f"{one.eigenvalue:>10.3g} ± {one.error:<8.3g} {one.verdict:17} {total}"
    yield "standard deviation with the table, in prior ones"
    for name, sd in zip(names, known.posterior_sd.tolist(), strict=True):
        yield f"{name:32}{sd:.2f}"


if __name__ == "__main__":
    folder, rolls, *parameters = [*sys.argv[1:2], *(sys.argv[2:] or ["2500"])]
    table = "kern2006_pairs"
    review = FitReview(Path(folder), fit=None, table=table, half=None, workers=None, no_plot=True)
    found = of_study(
        review, seed=0, rolls=int(rolls), parameters=parameters or None, step=0.5, say=print
    )
    for line in lines(fisher_information(found, review.real), [p.name for p in found.parameters]):
        print(line)

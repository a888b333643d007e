"""How the frequencies move with each parameter: central differences on common random numbers.

Each parameter is moved down and up, everything else stays, and all setups roll the same seeds and
indices: the same tosses, as far as the parameter leaves them alone. The two sides are compared
roll by roll, so the standard error needs no assumption about how alike they are: where most rolls
end as before it is much smaller than for independent samples, where none do it is the same.

Which combinations of parameters a table of real rolls tells apart, and which it cannot.

The Fisher information of the table about the parameters, from the slopes of the predicted
frequencies. Parameters are measured in their scales (prior standard deviations), so that an
eigenvalue of 1 means: the table alone knows this combination as well as the prior does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from physim.errors import ConfigError
from physim.simulator import Setup
from physim.statistics.counts import NAMED_POSES, POSE_CELLS, codes_of, counted_rolls
from physim.statistics.counts import TOUCHING as TOUCHING_CELL
from physim.statistics.joint import Joint
from physim.types import PIG_NAMES, ExactValue, FloatArray, Outcome, Pose, Status
from physim.validate.datasets import Rolls, SetupPlan, Source

RESPONSES = (*POSE_CELLS, TOUCHING_CELL)  # six frequencies of pigs, and one of rolls
_TOUCHING = (tuple(Outcome).index(Outcome.OINKER), tuple(Outcome).index(Outcome.PIGGYBACK))

Change = Callable[[Setup, Mapping[str, float]], Setup]
Said = Callable[[str], None]


class Plausible(Protocol):
    """What a parameter of `physim.calibrate.priors` says of itself."""

    @property
    def name(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def prior_sd(self) -> float: ...


@dataclass(frozen=True)
class Varied:
    """One parameter and how far it is moved.

    Attributes:
        name: of the parameter.
        unit: of all its numbers.
        value: where the derivative is taken.
        low, high: the two values that are rolled.
        scale: what a plausible change is, such as the prior standard deviation: effects are
            shown for one such, and parameters of different units compared by it.
    """

    name: str
    unit: str
    value: float
    low: float
    high: float
    scale: float

    @classmethod
    def of(cls, parameter: Plausible, value: float, step: float) -> Varied:
        """Moves a parameter by so many prior standard deviations each way, within its bounds.

        At a bound the difference is one-sided.

        Raises:
            ConfigError: a value outside the bounds.
        """
        if not parameter.low <= value <= parameter.high:
            raise ConfigError(
                f"{parameter.name} is {value:g} {parameter.unit}, outside its bounds "
                f"{parameter.low:g} to {parameter.high:g}"
            )
        by = step * parameter.prior_sd
        low, high = max(parameter.low, value - by), min(parameter.high, value + by)
        return cls(parameter.name, parameter.unit, value, low, high, parameter.prior_sd)


@dataclass(frozen=True, eq=False)
class Slopes(ExactValue):
    """Derivatives at one height of release, or at all of them, each for one `scale`.

    Attributes:
        frequency: (7,) at the unchanged setup, in the order of `RESPONSES`.
        slope: (parameters, 7) change of the frequency.
        error: (parameters, 7) standard error of `slope`.
        noise: (parameters, parameters, 7) covariance of the slopes' errors: of two parameters,
            one response.
        curvature: (parameters, 7) mean of both sides less the unchanged setup: how far from
            linear; zero where nothing was rolled between them.
    """

    frequency: FloatArray
    slope: FloatArray
    error: FloatArray
    noise: FloatArray
    curvature: FloatArray


@dataclass(frozen=True)
class Sensitivity:
    """What came out.

    Attributes:
        parameters: in the order of all arrays.
        rolls: of each setup.
        seed: of all of them.
        pooled: over the heights.
        heights: by height of release [m], the lowest first.
    """

    parameters: tuple[Varied, ...]
    rolls: int
    seed: int
    pooled: Slopes
    heights: Mapping[float, Slopes]


def sensitivity(
    base: Setup,
    parameters: Sequence[Varied],
    change: Change,
    source: Source,
    *,
    seed: int,
    rolls: int,
    say: Said = lambda text: None,
) -> Sensitivity:
    """Rolls the base and two setups a parameter, and compares them.

    Args:
        base: what `change` sets out from.
        parameters: what is moved, one at a time.
        change: makes the setup with these values of parameters, without any the unchanged one.
        source: makes the rolls.
        seed: of all samples.
        rolls: of each sample.
        say: told before each sample which one it is.
    """
    count = 2 * len(parameters) + 1
    say(f"sample 1 of {count}: base, {rolls:,} rolls of seed {seed}")
    middle = source(SetupPlan.make("base", change(base, {}), seed=seed, rolls=rolls))
    groups = [_Group(middle, None), *(_Group(middle, turn) for turn in range(_heights(middle)))]
    for number, parameter in enumerate(parameters):
        sides = []
        for offset, side, value in ((2, "low", parameter.low), (3, "high", parameter.high)):
            label = f"{parameter.name}.{side}"
            which = f"sample {2 * number + offset} of {count}: {label}"
            say(f"{which}, {value:g} {parameter.unit}".rstrip())
            setup = change(base, {parameter.name: value})
            sides.append(source(SetupPlan.make(label, setup, seed=seed, rolls=rolls)))
        for group in groups:
            group.add(parameter, *sides)
    pooled, *by_height = (group.slopes() for group in groups)
    heights = dict(sorted(zip(middle.heights_m, by_height, strict=True)))
    return Sensitivity(tuple(parameters), rolls, seed, pooled, heights)


def after(fitted: Mapping[str, float], change: Change) -> Change:
    """The change of a setup that has the values of a fit first.

    Both are made from the models' files at once: a fitted pig does not know its own parameters.
    """
    return lambda base, moved: change(base, {**fitted, **moved})


def _heights(rolls: Rolls) -> int:
    return len(rolls.heights_m)


class _Group:
    """The rolls from one height, or all of them: collects a parameter after the other."""

    def __init__(self, base: Rolls, turn: int | None) -> None:
        self._turn = turn
        self._frequency, _ = self._responses(base)
        self._slopes: list[FloatArray] = []
        self._curvatures: list[FloatArray] = []
        self._differences: list[FloatArray] = []

    def add(self, parameter: Varied, low: Rolls, high: Rolls) -> None:
        """Takes the two sides of a parameter."""
        per_scale = parameter.scale / (parameter.high - parameter.low)
        (below, below_each), (above, above_each) = map(self._responses, (low, high))
        self._slopes.append(per_scale * (above - below))
        self._curvatures.append(0.5 * (above + below) - self._frequency)
        self._differences.append(per_scale * (above_each - below_each))

    def slopes(self) -> Slopes:
        """All parameters together."""
        each = np.array(self._differences)  # (parameters, rolls, 7), of mean 0
        rolls = each.shape[1]
        noise = np.stack(
            [each[:, :, k] @ each[:, :, k].T for k in range(len(RESPONSES))], axis=2
        ) / (rolls * max(rolls - 1, 1))
        error = np.sqrt(np.diagonal(noise).T)
        return Slopes(
            self._frequency, np.array(self._slopes), error, noise, np.array(self._curvatures)
        )

    def _responses(self, rolls: Rolls) -> tuple[FloatArray, FloatArray]:
        rows = np.arange(rolls.n)
        if self._turn is not None:
            rows = rows[rolls.columns["index"] % len(rolls.heights_m) == self._turn]
        return responses(rolls, rows)


def responses(rolls: Rolls, rows: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    """Frequencies, and what each roll does to them.

    Args:
        rolls: of one setup.
        rows: which of them.

    Returns:
        (7,) frequencies in the order of `RESPONSES`: of the pigs in a named pose, and touching of
        the rolls; (n, 7) each roll's influence, whose mean is 0: the frequency of a few rolls more
        or less differs by the mean of theirs. The two pigs of a roll count as one.
    """
    columns = {name: column[rows] for name, column in rolls.columns.items()}
    outcomes = codes_of(columns["outcome"], Outcome)
    counted = counted_rolls(
        codes_of(columns["status"], Status), outcomes, np.asarray(columns["touching"], dtype=bool)
    )
    poses = [codes_of(columns[f"{pig}_pose"], Pose) for pig in PIG_NAMES]
    named = range(len(NAMED_POSES))
    shown = sum(np.stack([(pose == k) & counted for k in named], axis=1) * 1.0 for pose in poses)
    pigs = np.asarray(shown)  # (n, 6): 0, 1 or 2 of a roll's pigs
    touching = np.isin(outcomes, _TOUCHING) * 1.0
    if not pigs.sum():
        raise ConfigError("no pig lies in a pose of the rules; ask for more rolls")
    frequency = pigs.sum(axis=0) / pigs.sum()
    influence = (pigs - frequency * pigs.sum(axis=1, keepdims=True)) * (len(pigs) / pigs.sum())
    return (
        np.append(frequency, touching.mean()),
        np.column_stack([influence, touching - touching.mean()]),
    )


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
